//! Equivalence by two one-sided tests (TOST).
//!
//! "Equivalent" needs evidence of its own: both "worse than -margin" and
//! "better than +margin" must be rejected at `alpha`, which is the same as the
//! `1 - 2 alpha` interval lying inside the margins.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_above_zero, check_share};
use super::interval::Interval;
use super::one_sample::OneSample;
use super::quantile::{t_cdf, t_critical};
use super::welch::Welch;

/// Whether an effect lies inside plus and minus the margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalence {
    /// On the scale of the estimate; for log ratios, a log ratio.
    pub margin: f64,
    pub alpha: f64,
    /// The larger of the two one-sided p.
    pub p: f64,
    /// Of level `1 - 2 alpha`.
    pub interval: Interval,
    pub equivalent: bool,
}

impl Equivalence {
    /// From an estimate, its standard error and degrees of freedom.
    pub fn new(
        estimate: f64,
        standard_error: f64,
        df: f64,
        margin: f64,
        alpha: f64,
    ) -> Result<Self, StatsError> {
        check_above_zero("the margin", margin)?;
        check_share("alpha", 2.0 * alpha)?;
        let to_nearer_margin = margin - estimate.abs();
        let p = if standard_error == 0.0 {
            if to_nearer_margin > 0.0 { 0.0 } else { 1.0 }
        } else {
            t_cdf(-to_nearer_margin / standard_error, df)
        };
        let half_width =
            if standard_error == 0.0 { 0.0 } else { t_critical(2.0 * alpha, df) * standard_error };
        Ok(Equivalence {
            margin,
            alpha,
            p,
            interval: Interval::around(estimate, half_width),
            equivalent: p < alpha,
        })
    }

    pub fn of_sample(sample: &OneSample, margin: f64, alpha: f64) -> Result<Self, StatsError> {
        Equivalence::new(sample.mean, sample.standard_error, sample.df, margin, alpha)
    }

    pub fn of_welch(welch: &Welch, margin: f64, alpha: f64) -> Result<Self, StatsError> {
        Equivalence::new(welch.difference, welch.standard_error, welch.df, margin, alpha)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_tight_interval_around_zero_is_equivalent() {
        let tight = Equivalence::new(0.001, 0.002, 17.0, 0.01, 0.05).expect("valid");
        assert!(tight.equivalent && tight.interval.within(0.01));
        let loose = Equivalence::new(0.001, 0.008, 17.0, 0.01, 0.05).expect("valid");
        assert!(!loose.equivalent && !loose.interval.within(0.01));
    }

    #[test]
    fn no_spread_decides_by_the_estimate_alone() {
        assert!(Equivalence::new(0.0, 0.0, 5.0, 0.01, 0.05).expect("valid").equivalent);
        assert!(!Equivalence::new(0.02, 0.0, 5.0, 0.01, 0.05).expect("valid").equivalent);
    }

    #[test]
    fn a_margin_must_be_positive() {
        assert!(Equivalence::new(0.0, 1.0, 5.0, 0.0, 0.05).is_err());
        assert!(Equivalence::new(0.0, 1.0, 5.0, 0.01, 0.5).is_err());
    }

    proptest! {
        #[test]
        fn tests_and_interval_agree(estimate in -0.02_f64..0.02, error in 1e-4_f64..0.01, df in 1_u32..40) {
            let result = Equivalence::new(estimate, error, f64::from(df), 0.01, 0.05).unwrap();
            prop_assume!((result.p - 0.05).abs() > 1e-9);
            prop_assert_eq!(result.equivalent, result.interval.within(0.01));
        }
    }
}
