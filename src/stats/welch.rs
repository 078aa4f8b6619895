//! Welch's comparison of two independent samples with unequal spread: the
//! fallback where runs are not paired, and the audit of published figures.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_above_zero, check_finite, check_share};
use super::interval::Interval;
use super::quantile::{t_critical, t_two_sided_p};
use super::summary::{logarithms, mean, standard_deviation};

/// Mean, standard deviation and count of one side, as a mail prints them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    pub mean: f64,
    pub standard_deviation: f64,
    pub n: usize,
}

impl Side {
    pub fn new(values: &[f64]) -> Result<Self, StatsError> {
        check_finite(values)?;
        check_runs(values.len())?;
        Ok(Side { mean: mean(values), standard_deviation: standard_deviation(values), n: values.len() })
    }

    fn variance_of_mean(&self) -> f64 {
        self.standard_deviation * self.standard_deviation / self.n as f64
    }
}

fn check_runs(n: usize) -> Result<(), StatsError> {
    if n < 2 { Err(StatsError::TooFew { what: "runs of one side", have: n, need: 2 }) } else { Ok(()) }
}

/// After minus before, on the scale of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Welch {
    pub difference: f64,
    pub standard_error: f64,
    pub df: f64,
    pub interval: Interval,
    pub level: f64,
    /// `None` where neither side has any spread and the means differ.
    pub t: Option<f64>,
    pub p: Option<f64>,
}

/// A Welch result as shares of the mean before, which is taken as exact: how
/// published percentages are made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelativeChange {
    pub change: f64,
    pub interval: Interval,
}

impl Welch {
    /// From printed means, standard deviations and counts.
    pub fn from_sides(before: &Side, after: &Side, level: f64) -> Result<Self, StatsError> {
        check_share("the level", level)?;
        for side in [before, after] {
            check_finite(&[side.mean, side.standard_deviation])?;
            check_runs(side.n)?;
            if side.standard_deviation < 0.0 {
                let value = side.standard_deviation;
                return Err(StatsError::NotAboveZero { what: "a standard deviation", value });
            }
        }
        let (first, second) = (before.variance_of_mean(), after.variance_of_mean());
        let difference = after.mean - before.mean;
        let standard_error = (first + second).sqrt();
        let (n, m) = ((before.n - 1) as f64, (after.n - 1) as f64);
        if standard_error == 0.0 {
            let t = (difference == 0.0).then_some(0.0);
            let interval = Interval::around(difference, 0.0);
            return Ok(Welch {
                difference,
                standard_error,
                df: n + m,
                interval,
                level,
                t,
                p: t.map(|_| 1.0),
            });
        }
        let total = first + second;
        if !(total.is_finite() && difference.is_finite()) {
            return Err(StatsError::NotFinite { index: 0, value: total.max(difference) });
        }
        let df = 1.0 / ((first / total).powi(2) / n + (second / total).powi(2) / m);
        let t = difference / standard_error;
        let interval = Interval::around(difference, t_critical(1.0 - level, df) * standard_error);
        Ok(Welch {
            difference,
            standard_error,
            df,
            interval,
            level,
            t: Some(t),
            p: Some(t_two_sided_p(t, df)),
        })
    }

    /// On the logs of positive values: the difference is a log ratio.
    pub fn of_logarithms(before: &[f64], after: &[f64], level: f64) -> Result<Self, StatsError> {
        let (before, after) = (Side::new(&logarithms(before)?)?, Side::new(&logarithms(after)?)?);
        Welch::from_sides(&before, &after, level)
    }

    /// The interval at another level.
    pub fn interval_at(&self, level: f64) -> Interval {
        let half_width = match self.standard_error == 0.0 {
            true => 0.0,
            false => t_critical(1.0 - level, self.df) * self.standard_error,
        };
        Interval::around(self.difference, half_width)
    }

    /// As shares of the mean before.
    pub fn relative_to(&self, before_mean: f64) -> Result<RelativeChange, StatsError> {
        check_above_zero("the mean before", before_mean)?;
        Ok(RelativeChange {
            change: self.difference / before_mean,
            interval: self.interval.map(|x| x / before_mean),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(mean: f64, standard_deviation: f64, n: usize) -> Side {
        Side { mean, standard_deviation, n }
    }

    #[test]
    fn published_figures_recompute() {
        // before, after, t, df, p, each to the digits that were published.
        let cases = [
            (side(50317.98, 2568.97, 18), side(48959.37, 3488.56, 18), -1.33, 31.2, 0.193, 0.0005),
            (side(134743.71, 582.0, 12), side(135099.21, 351.0, 12), 1.81, 18.1, 0.087, 0.0005),
            (side(1456.77, 20.1, 18), side(1464.18, 18.0, 18), 1.17, 33.6, 0.252, 0.0008),
            (side(6622.0, 22.09, 3), side(6981.0, 15.56, 3), 23.0, 3.6, 5e-5, 0.5e-5),
        ];
        for (before, after, t, df, p, p_digits) in cases {
            let welch = Welch::from_sides(&before, &after, 0.95).expect("valid sides");
            assert!((welch.t.expect("spread") - t).abs() < 0.05_f64.min(0.005 + t.abs() * 1e-3), "{welch:?}");
            assert!((welch.df - df).abs() < 0.05, "{welch:?}");
            assert!((welch.p.expect("spread") - p).abs() < p_digits, "{welch:?}");
        }
    }

    #[test]
    fn published_change_with_its_interval() {
        let (before, after) = (side(50317.98, 2568.97, 18), side(48959.37, 3488.56, 18));
        let welch = Welch::from_sides(&before, &after, 0.95).expect("valid sides");
        let relative = welch.relative_to(before.mean).expect("a positive mean");
        let percent = |x: f64| (x * 1000.0).round() / 10.0;
        assert_eq!(percent(relative.change), -2.7);
        assert_eq!(welch.interval_at(0.95), welch.interval);
        assert!(welch.interval_at(0.9).half_width() < welch.interval.half_width());
        assert_eq!((percent(relative.interval.low), percent(relative.interval.high)), (-6.8, 1.4));
    }

    #[test]
    fn sides_without_spread_have_a_point_interval() {
        let same = Welch::of_logarithms(&[5.0, 5.0], &[5.0, 5.0], 0.95).expect("positive values");
        assert_eq!((same.t, same.p), (Some(0.0), Some(1.0)));
        let apart = Welch::of_logarithms(&[5.0, 5.0], &[6.0, 6.0], 0.95).expect("positive values");
        assert_eq!((apart.t, apart.p), (None, None));
        assert_eq!(apart.interval.half_width(), 0.0);
    }

    #[test]
    fn refuses_values_whose_squares_have_no_number() {
        let (usual, huge) = (side(1.0, 0.1, 5), side(1e308, 2e306, 5));
        let error = Welch::from_sides(&usual, &huge, 0.95).expect_err("no spread");
        assert!(matches!(error, StatsError::NotFinite { .. }), "{error}");
    }

    #[test]
    fn refuses_one_run_a_negative_spread_and_zero() {
        assert!(Welch::of_logarithms(&[5.0], &[5.0, 6.0], 0.95).is_err());
        assert!(Welch::of_logarithms(&[5.0, 0.0], &[5.0, 6.0], 0.95).is_err());
        assert!(Welch::from_sides(&side(1.0, -1.0, 3), &side(1.0, 1.0, 3), 0.95).is_err());
        assert!(Welch::from_sides(&side(1.0, 1.0, 1), &side(1.0, 1.0, 3), 0.95).is_err());
    }
}
