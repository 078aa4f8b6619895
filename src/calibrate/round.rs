//! What a benchmark answers in one round.

use super::error::CalibrateError;
use super::parameter::Parameter;
use super::timing::Budget;

/// Benchmarks that share memory. Rounds of all groups alternate, so that a slow
/// spell of the host falls on all of them.
pub trait Group {
    fn round(&mut self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError>;
}
