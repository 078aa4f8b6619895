//! Whether values of one arm fall into two groups.
//!
//! The sorted values are cut where two groups explain the largest share of
//! their variance. Normal values reach a share that depends on their number
//! alone; the 99% quantiles of it were simulated and are tabled below (a
//! self-test redoes two of them). A uniform distribution, which drift makes,
//! explains three quarters, so that the threshold never falls below 0.78.

use serde::{Deserialize, Serialize};

use crate::stats::error::StatsError;
use crate::stats::summary::{mean, sorted, sum_of_squares};

/// Fewer values show nothing.
const FEWEST: usize = 6;
/// Number of values, and the share that 1% of normal samples exceed.
const CRITICAL: [(usize, f64); 8] =
    [(6, 0.968), (8, 0.936), (10, 0.911), (12, 0.888), (16, 0.852), (20, 0.832), (24, 0.811), (32, 0.788)];
/// Threshold for more values than the table has.
const FLOOR: f64 = 0.78;
/// A group holds at least one value in eight, and at least two.
const SMALLEST_GROUP: usize = 8;

/// The best cut into two groups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bimodality {
    pub n: usize,
    pub low_count: usize,
    pub low_mean: f64,
    pub high_mean: f64,
    /// Share of the variance that the cut explains.
    pub explained: f64,
    /// What one-group values exceed once in a hundred.
    pub threshold: f64,
    pub bimodal: bool,
}

impl Bimodality {
    /// `None` for fewer than six values.
    pub fn new(values: &[f64]) -> Result<Option<Self>, StatsError> {
        let sorted = sorted(values)?;
        let n = sorted.len();
        if n < FEWEST {
            return Ok(None);
        }
        let total = sum_of_squares(&sorted);
        let smallest = n.div_ceil(SMALLEST_GROUP).max(2);
        let centre = mean(&sorted);
        let mut low_sum = 0.0;
        let (mut best, mut low_count) = (0.0, smallest);
        for (i, value) in sorted.iter().enumerate().take(n - smallest) {
            low_sum += value - centre;
            let low = i + 1;
            let between = low_sum * low_sum * n as f64 / (low * (n - low)) as f64;
            if low >= smallest && between > best {
                (best, low_count) = (between, low);
            }
        }
        let (low, high) = sorted.split_at(low_count);
        let explained = if total > 0.0 { (best / total).min(1.0) } else { 0.0 };
        let threshold = threshold(n);
        Ok(Some(Bimodality {
            n,
            low_count,
            low_mean: mean(low),
            high_mean: mean(high),
            explained,
            threshold,
            bimodal: explained > threshold,
        }))
    }
}

/// Linear in 1/n between the tabled numbers.
fn threshold(n: usize) -> f64 {
    let above = CRITICAL.iter().position(|(size, _)| *size >= n);
    let tabled = match above {
        None => FLOOR,
        Some(0) => CRITICAL[0].1,
        Some(i) => {
            let ((small, high), (large, low)) = (CRITICAL[i - 1], CRITICAL[i]);
            let part = (1.0 / small as f64 - 1.0 / n as f64) / (1.0 / small as f64 - 1.0 / large as f64);
            high + part * (low - high)
        }
    };
    tabled.max(FLOOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Chance;

    fn flagged(values: &[f64]) -> Bimodality {
        Bimodality::new(values).expect("finite").expect("enough values")
    }

    fn flag_rate(seed: u64, n: usize, mut value: impl FnMut(&mut Chance) -> f64) -> f64 {
        let mut chance = Chance::new(seed);
        let samples = 2_000;
        let hits = (0..samples)
            .filter(|_| flagged(&(0..n).map(|_| value(&mut chance)).collect::<Vec<f64>>()).bimodal)
            .count();
        hits as f64 / f64::from(samples)
    }

    #[test]
    fn two_clear_groups_are_flagged_and_described() {
        let two = flagged(&[1.0, 1.1, 0.9, 5.0, 5.1, 4.9, 1.0, 5.0, 1.05, 0.95, 5.05, 4.95]);
        assert!(two.bimodal);
        assert_eq!(two.low_count, 6);
        assert!((two.low_mean - 1.0).abs() < 1e-9 && (two.high_mean - 5.0).abs() < 1e-9);
    }

    #[test]
    fn one_outlier_is_not_a_second_group() {
        assert!(!flagged(&[1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.02, 0.98, 1.01, 0.99, 1.0, 9.0]).bimodal);
    }

    #[test]
    fn normal_values_are_flagged_once_in_a_hundred() {
        for (seed, n) in [(1, 6), (2, 12), (3, 18)] {
            let rate = flag_rate(seed, n, |chance| chance.normal());
            // Three standard errors of 2,000 samples at 1%.
            assert!((0.003..=0.017).contains(&rate), "{n} values: {rate}");
        }
        assert!(flag_rate(4, 36, |chance| chance.normal()) <= 0.017);
    }

    #[test]
    fn skew_is_rarely_and_two_modes_are_mostly_flagged() {
        let skewed = flag_rate(5, 24, |chance| (0.3 * chance.normal()).exp());
        assert!(skewed < 0.035, "{skewed}");
        let modes = flag_rate(6, 24, |chance| chance.normal() + if chance.coin() { 6.0 } else { 0.0 });
        assert!(modes > 0.97, "{modes}");
    }

    #[test]
    fn few_or_constant_values_show_nothing() {
        assert_eq!(Bimodality::new(&[1.0; 5]), Ok(None));
        let constant = flagged(&[1.0; 8]);
        assert_eq!((constant.explained, constant.bimodal), (0.0, false));
        assert!(Bimodality::new(&[]).is_err());
    }
}
