//! What a list of values looks like: centre, spread, quantiles.
//!
//! Nothing is removed as an outlier; the median and the median absolute
//! deviation stand beside mean and standard deviation instead.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_finite, check_share};
use super::interval::Interval;
use super::quantile::binomial_cdf;

/// Centre and spread of one list of values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub n: usize,
    pub mean: f64,
    pub median: f64,
    /// Absent for a single value.
    pub standard_deviation: Option<f64>,
    /// Median distance from the median, not scaled.
    pub median_absolute_deviation: f64,
    /// Standard deviation over |mean|; absent for a single value or a mean of zero.
    pub coefficient_of_variation: Option<f64>,
    pub minimum: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
    pub maximum: f64,
}

impl Summary {
    pub fn new(values: &[f64]) -> Result<Self, StatsError> {
        let sorted = sorted(values)?;
        let mean = mean(values);
        let median = quantile_of_sorted(&sorted, 0.5);
        let mut distances: Vec<f64> = values.iter().map(|v| (v - median).abs()).collect();
        distances.sort_by(f64::total_cmp);
        let standard_deviation = (values.len() > 1).then(|| standard_deviation(values));
        Ok(Summary {
            n: values.len(),
            mean,
            median,
            standard_deviation,
            median_absolute_deviation: quantile_of_sorted(&distances, 0.5),
            coefficient_of_variation: standard_deviation.filter(|_| mean != 0.0).map(|s| s / mean.abs()),
            minimum: sorted[0],
            lower_quartile: quantile_of_sorted(&sorted, 0.25),
            upper_quartile: quantile_of_sorted(&sorted, 0.75),
            maximum: sorted[sorted.len() - 1],
        })
    }
}

/// The arithmetic mean of a list that is not empty.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of squared distances from the mean.
pub(crate) fn sum_of_squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean) * (v - mean)).sum()
}

/// The sample standard deviation of at least two values.
pub(crate) fn standard_deviation(values: &[f64]) -> f64 {
    (sum_of_squares(values) / (values.len() - 1) as f64).sqrt()
}

/// A sorted copy; refuses an empty list and values that are not finite.
pub(crate) fn sorted(values: &[f64]) -> Result<Vec<f64>, StatsError> {
    check_finite(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(sorted)
}

/// Natural logarithms; refuses zero and negative values by their index.
pub fn logarithms(values: &[f64]) -> Result<Vec<f64>, StatsError> {
    check_finite(values)?;
    match values.iter().position(|v| *v <= 0.0) {
        Some(index) => Err(StatsError::NotPositive { index, value: values[index] }),
        None => Ok(values.iter().map(|v| v.ln()).collect()),
    }
}

/// The geometric mean of positive values.
pub fn geometric_mean(values: &[f64]) -> Result<f64, StatsError> {
    Ok(mean(&logarithms(values)?).exp())
}

/// The `share` quantile, by linear interpolation between order statistics
/// (the definition that spreadsheets and R's default use).
pub fn quantile(values: &[f64], share: f64) -> Result<f64, StatsError> {
    if !(0.0..=1.0).contains(&share) {
        return Err(StatsError::Level { what: "the quantile", value: share });
    }
    Ok(quantile_of_sorted(&sorted(values)?, share))
}

pub(crate) fn quantile_of_sorted(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// The interval between two order statistics that holds the true `share`
/// quantile with at least this level, whatever the distribution. `None` where
/// there are too few values for the level.
pub fn quantile_interval(values: &[f64], share: f64, level: f64) -> Result<Option<Interval>, StatsError> {
    check_share("the quantile", share)?;
    check_share("the level", level)?;
    let sorted = sorted(values)?;
    let n = sorted.len();
    let tail = 0.5 * (1.0 - level);
    // The r-th smallest lies above the quantile with P(Bin(n, share) <= r - 1).
    let below = (0..n).take_while(|r| binomial_cdf(*r, n, share) <= tail).count();
    let above = (0..n).take_while(|r| binomial_cdf(*r, n, 1.0 - share) <= tail).count();
    if below == 0 || above == 0 {
        return Ok(None);
    }
    Ok(Some(Interval { low: sorted[below - 1], high: sorted[n - above] }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn summary_of_a_known_list() {
        let summary = Summary::new(&[9.0, 2.0, 4.0, 4.0, 5.0, 4.0, 7.0, 5.0]).expect("finite values");
        assert_eq!((summary.n, summary.mean, summary.median), (8, 5.0, 4.5));
        assert!((summary.standard_deviation.expect("eight values") - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(summary.median_absolute_deviation, 0.5);
        assert_eq!((summary.minimum, summary.maximum), (2.0, 9.0));
        assert_eq!((summary.lower_quartile, summary.upper_quartile), (4.0, 5.5));
    }

    #[test]
    fn one_value_has_no_spread_and_a_zero_mean_no_variation() {
        let single = Summary::new(&[3.0]).expect("one value");
        assert_eq!((single.standard_deviation, single.coefficient_of_variation), (None, None));
        let balanced = Summary::new(&[-1.0, 1.0]).expect("two values");
        assert_eq!(balanced.coefficient_of_variation, None);
        assert_eq!(Summary::new(&[]), Err(StatsError::Empty));
    }

    #[test]
    fn logarithms_refuse_zero_and_name_it() {
        assert_eq!(logarithms(&[1.0, 0.0]), Err(StatsError::NotPositive { index: 1, value: 0.0 }));
        assert_eq!(logarithms(&[-2.0]), Err(StatsError::NotPositive { index: 0, value: -2.0 }));
        assert!((geometric_mean(&[1.0, 4.0]).expect("positive") - 2.0).abs() < 1e-12);
    }

    #[test]
    fn median_interval_needs_six_values_at_95_percent() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(quantile_interval(&five, 0.5, 0.95), Ok(None));
        let six = [6.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(quantile_interval(&six, 0.5, 0.95), Ok(Some(Interval { low: 1.0, high: 6.0 })));
        // The tabled ranks for n = 20 are 6 and 15.
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(quantile_interval(&twenty, 0.5, 0.95), Ok(Some(Interval { low: 6.0, high: 15.0 })));
    }

    proptest! {
        #[test]
        fn quantiles_grow_and_stay_inside(values in prop::collection::vec(-1e6_f64..1e6, 1..40), a in 0.0..1.0, b in 0.0..1.0) {
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            let (q_low, q_high) = (quantile(&values, low).unwrap(), quantile(&values, high).unwrap());
            let summary = Summary::new(&values).unwrap();
            prop_assert!(summary.minimum <= q_low && q_low <= q_high && q_high <= summary.maximum);
        }
    }
}
