//! The statistics against known truth: simulated campaigns whose answer is
//! known, published figures, and full enumeration.
//!
//! Every row has its own stream of the seed, so that a row's result does not
//! depend on which others ran. Rows marked "contrast" show what goes wrong
//! without the method, and that the simulation would notice.

mod coverage;
mod design;
mod exactness;
mod looks;
mod null;
mod published;
mod run_noise;

use serde::{Deserialize, Serialize};

use super::error::StatsError;

/// Simulated rates may miss their bounds by this many standard errors.
const STANDARD_ERRORS: f64 = 3.0;

/// One line of the self-test table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfTestRow {
    pub name: String,
    pub measured: f64,
    /// Bounds of the truth.
    pub low: f64,
    pub high: f64,
    /// What simulation error may add on each side; zero for exact figures.
    pub tolerance: f64,
    pub passed: bool,
}

impl SelfTestRow {
    fn new(name: impl Into<String>, measured: f64, low: f64, high: f64, tolerance: f64) -> Self {
        let passed = measured >= low - tolerance && measured <= high + tolerance;
        SelfTestRow { name: name.into(), measured, low, high, tolerance, passed }
    }

    /// A share of simulated campaigns, held against bounds of the true share.
    fn rate(name: impl Into<String>, hits: usize, simulations: usize, (low, high): (f64, f64)) -> Self {
        let measured = hits as f64 / simulations as f64;
        // The error that the nearest allowed rate would have.
        let nearest = measured.clamp(low, high);
        let tolerance = STANDARD_ERRORS * (nearest * (1.0 - nearest) / simulations as f64).sqrt();
        SelfTestRow::new(name, measured, low, high, tolerance)
    }
}

/// How long to simulate, and from which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelfTest {
    /// Simulated campaigns for each row: 100,000 take about half a minute in an optimised build.
    pub simulations: usize,
    pub seed: u64,
}

impl SelfTest {
    /// Every row, in the order of the table.
    pub fn run(&self) -> Result<Vec<SelfTestRow>, StatsError> {
        if self.simulations == 0 {
            return Err(StatsError::Empty);
        }
        let mut rows = published::rows()?;
        rows.extend(exactness::rows(self)?);
        rows.extend(coverage::rows(self)?);
        rows.extend(null::rows(self)?);
        rows.extend(looks::rows(self)?);
        Ok(rows)
    }
}

#[cfg(test)]
mod tests;
