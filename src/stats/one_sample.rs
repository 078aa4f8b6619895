//! Mean and standard error of independent values, and Student's t on them.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_finite};
use super::interval::Interval;
use super::quantile::{t_critical, t_two_sided_p};
use super::summary::{mean, standard_deviation};

/// A spread below this share of the values (or below it outright, for values
/// under one) is rounding of the arithmetic, not noise.
const ROUNDING: f64 = 1e-12;

/// The mean of at least two values and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneSample {
    pub n: usize,
    pub mean: f64,
    pub standard_deviation: f64,
    pub standard_error: f64,
    pub df: f64,
}

impl OneSample {
    pub fn new(values: &[f64]) -> Result<Self, StatsError> {
        check_finite(values)?;
        if values.len() < 2 {
            return Err(StatsError::TooFew { what: "blocks", have: values.len(), need: 2 });
        }
        let largest = values.iter().fold(1.0_f64, |most, v| most.max(v.abs()));
        let centre = mean(values);
        let spread = standard_deviation(values);
        let floor = ROUNDING * largest;
        let spread = if spread <= floor { 0.0 } else { spread };
        let centre = if spread == 0.0 && centre.abs() <= floor { 0.0 } else { centre };
        Ok(OneSample {
            n: values.len(),
            mean: centre,
            standard_deviation: spread,
            standard_error: spread / (values.len() as f64).sqrt(),
            df: (values.len() - 1) as f64,
        })
    }

    /// All values are the same, so that there is no noise to compare with.
    pub fn is_constant(&self) -> bool {
        self.standard_deviation == 0.0
    }

    /// Student's t against a mean of zero. `None` for equal values that are not
    /// zero: they lie infinitely many standard errors away.
    pub fn t(&self) -> Option<f64> {
        if !self.is_constant() {
            Some(self.mean / self.standard_error)
        } else {
            (self.mean == 0.0).then_some(0.0)
        }
    }

    /// Two-sided p of `t`.
    pub fn p(&self) -> Option<f64> {
        self.t().map(|t| t_two_sided_p(t, self.df))
    }

    /// The t interval of this level; a point for equal values.
    pub fn interval(&self, level: f64) -> Interval {
        self.interval_with(t_critical(1.0 - level, self.df))
    }

    /// The interval for a critical t that the caller has at hand.
    pub fn interval_with(&self, critical: f64) -> Interval {
        Interval::around(self.mean, critical * self.standard_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_of_a_textbook_sample() {
        // Extra sleep under a drug, ten patients: t = 4.0621, p = 0.00283 (the 1908 paper's data).
        let hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let sample = OneSample::new(&hours).expect("ten values");
        assert!((sample.t().expect("noise") - 4.0621).abs() < 1e-4);
        assert!((sample.p().expect("noise") - 0.00283).abs() < 1e-5);
        let interval = sample.interval(0.95);
        assert!((interval.low - 0.7001142).abs() < 1e-6 && (interval.high - 2.4598858).abs() < 1e-6);
    }

    #[test]
    fn equal_values_have_a_point_interval() {
        let shifted = OneSample::new(&[0.01; 6]).expect("six values");
        assert!(shifted.is_constant());
        assert_eq!((shifted.t(), shifted.p()), (None, None));
        assert_eq!(shifted.interval(0.95).half_width(), 0.0);
        let still = OneSample::new(&[1e-16, -1e-16, 0.0]).expect("three values");
        assert_eq!((still.mean, still.t(), still.p()), (0.0, Some(0.0), Some(1.0)));
    }

    #[test]
    fn one_value_is_too_few() {
        let refused = OneSample::new(&[0.1]).expect_err("one value");
        assert_eq!(refused, StatsError::TooFew { what: "blocks", have: 1, need: 2 });
    }
}
