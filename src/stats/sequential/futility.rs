//! Whether going on within the budget can still decide anything.

use serde::{Deserialize, Serialize};

use crate::stats::error::{StatsError, check_above_zero, check_share};
use crate::stats::interval::Interval;
use crate::stats::one_sample::OneSample;
use crate::stats::quantile::t_critical;

/// How plausible an outcome must be to count as possible.
const PLAUSIBLE: f64 = 0.95;

/// What the campaign's end may still look like. Stopping for futility means
/// "unresolved", never "no change".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outlook {
    /// Where the final estimate will lie with 95% chance.
    pub final_mean: Interval,
    /// The half-width of the final interval, at today's spread.
    pub final_half_width: f64,
    pub change_possible: bool,
    pub equivalence_possible: bool,
}

impl Outlook {
    /// From what is known now, the blocks the budget allows in all, the margin,
    /// and the two-sided level of the final test.
    pub fn new(now: &OneSample, budget: usize, margin: f64, alpha: f64) -> Result<Self, StatsError> {
        check_above_zero("the margin", margin)?;
        check_share("alpha", alpha)?;
        let n = now.n as f64;
        let last = n.max(budget as f64);
        // The final mean differs from today's by what is still to come.
        let to_come = now.standard_deviation * (1.0 / n - 1.0 / last).max(0.0).sqrt();
        let final_mean = Interval::around(now.mean, t_critical(1.0 - PLAUSIBLE, now.df) * to_come);
        let final_error = now.standard_deviation / last.sqrt();
        let final_half_width = t_critical(alpha, last - 1.0) * final_error;
        let farthest = final_mean.low.abs().max(final_mean.high.abs());
        let nearest =
            if final_mean.contains(0.0) { 0.0 } else { final_mean.low.abs().min(final_mean.high.abs()) };
        let equivalence_half_width = t_critical(2.0 * alpha.min(0.49), last - 1.0) * final_error;
        Ok(Outlook {
            final_mean,
            final_half_width,
            change_possible: farthest > margin && farthest > final_half_width,
            equivalence_possible: nearest + equivalence_half_width < margin,
        })
    }

    /// Nothing but "unresolved" is left within the budget.
    pub fn futile(&self) -> bool {
        !self.change_possible && !self.equivalence_possible
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(mean: f64, deviation: f64, n: usize) -> OneSample {
        OneSample {
            n,
            mean,
            standard_deviation: deviation,
            standard_error: deviation / (n as f64).sqrt(),
            df: (n - 1) as f64,
        }
    }

    #[test]
    fn early_noise_leaves_everything_open() {
        let outlook = Outlook::new(&sample(0.002, 0.02, 6), 60, 0.01, 0.05).expect("valid");
        assert!(outlook.change_possible && outlook.equivalence_possible && !outlook.futile());
    }

    #[test]
    fn a_small_estimate_in_wide_noise_near_the_end_is_futile() {
        let outlook = Outlook::new(&sample(0.001, 0.05, 16), 18, 0.01, 0.05).expect("valid");
        assert!(outlook.futile(), "{outlook:?}");
        assert!(outlook.final_half_width > 0.02);
    }

    #[test]
    fn a_clear_change_or_a_clear_null_is_not_futile() {
        let change = Outlook::new(&sample(0.05, 0.01, 12), 18, 0.01, 0.05).expect("valid");
        assert!(change.change_possible && !change.equivalence_possible);
        let null = Outlook::new(&sample(0.0, 0.005, 12), 18, 0.01, 0.05).expect("valid");
        assert!(!null.change_possible && null.equivalence_possible);
    }

    #[test]
    fn at_the_end_of_the_budget_the_estimate_is_final() {
        let outlook = Outlook::new(&sample(0.02, 0.01, 18), 18, 0.01, 0.05).expect("valid");
        assert_eq!(outlook.final_mean, Interval::around(0.02, 0.0));
        let beyond = Outlook::new(&sample(0.02, 0.01, 20), 18, 0.01, 0.05).expect("valid");
        assert_eq!(beyond.final_mean, Interval::around(0.02, 0.0));
        assert!(Outlook::new(&sample(0.02, 0.01, 18), 18, 0.0, 0.05).is_err());
    }
}
