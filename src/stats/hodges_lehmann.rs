//! The Hodges-Lehmann shift: the median of all pairwise averages of one
//! sample, or of all pairwise differences of two, with its interval from the
//! exact rank distribution.
//!
//! Order statistics are found by bisection over the floating-point numbers
//! with a linear count at each step, so that thousands of blocks need no
//! table of millions of pairs.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_share};
use super::interval::Interval;
use super::quantile::normal_quantile;
use super::rank_distribution::{outside, rank_sum, signed_rank};
use super::summary::sorted;

/// The most blocks whose signed-rank distribution is counted; beyond it, the
/// normal approximation is good to the third digit.
const EXACT_ONE_SAMPLE: usize = 100;
/// The same for two samples, together.
const EXACT_TWO_SAMPLES: usize = 60;

/// A shift and the interval around it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HodgesLehmann {
    pub shift: f64,
    /// `None` where so few values cannot give the level.
    pub interval: Option<Interval>,
}

impl HodgesLehmann {
    /// The centre of a symmetric distribution.
    pub fn one_sample(values: &[f64], level: f64) -> Result<Self, StatsError> {
        check_share("the level", level)?;
        let sorted = sorted(values)?;
        let n = sorted.len();
        let pairs = (n * (n + 1) / 2) as u64;
        let pick = |k: u64| {
            let (low, high) = (sorted[0], sorted[n - 1]);
            kth_smallest(k, low, high, |v| count_averages(&sorted, v))
        };
        let tail = 0.5 * (1.0 - level);
        let outer = if n <= EXACT_ONE_SAMPLE {
            outside(&signed_rank(n), tail) as u64
        } else {
            let size = n as f64;
            let spread = (size * (size + 1.0) * (2.0 * size + 1.0) / 24.0).sqrt();
            approximate_outside(0.5 * pairs as f64, spread, tail)
        };
        Ok(HodgesLehmann { shift: median(pairs, pick), interval: ends(pairs, outer, pick) })
    }

    /// How far `after` lies above `before`.
    pub fn two_samples(before: &[f64], after: &[f64], level: f64) -> Result<Self, StatsError> {
        check_share("the level", level)?;
        let (before, after) = (sorted(before)?, sorted(after)?);
        let (n, m) = (before.len(), after.len());
        let pairs = (n * m) as u64;
        let pick = |k: u64| {
            let (low, high) = (after[0] - before[n - 1], after[m - 1] - before[0]);
            kth_smallest(k, low, high, |v| count_differences(&before, &after, v))
        };
        let tail = 0.5 * (1.0 - level);
        let outer = if n + m <= EXACT_TWO_SAMPLES {
            let ranks: Vec<usize> = (1..=n + m).collect();
            // The smallest possible rank sum is a U of zero.
            outside(&rank_sum(&ranks, n)[n * (n + 1) / 2..], tail) as u64
        } else {
            let spread = (pairs as f64 * (n + m + 1) as f64 / 12.0).sqrt();
            approximate_outside(0.5 * pairs as f64, spread, tail)
        };
        Ok(HodgesLehmann { shift: median(pairs, pick), interval: ends(pairs, outer, pick) })
    }
}

fn median(pairs: u64, pick: impl Fn(u64) -> f64) -> f64 {
    if pairs % 2 == 1 {
        return pick(pairs.div_ceil(2));
    }
    0.5 * (pick(pairs / 2) + pick(pairs / 2 + 1))
}

/// The order statistics just inside `outer` pairs on each side.
fn ends(pairs: u64, outer: u64, pick: impl Fn(u64) -> f64) -> Option<Interval> {
    (outer > 0).then(|| Interval { low: pick(outer), high: pick(pairs + 1 - outer) })
}

fn approximate_outside(mean: f64, spread: f64, tail: f64) -> u64 {
    (mean + 0.5 + normal_quantile(tail) * spread).floor().max(0.0) as u64
}

/// How many averages of two of the sorted values, each value with itself
/// included, are at most `limit`.
fn count_averages(sorted: &[f64], limit: f64) -> u64 {
    let mut count = 0;
    let mut reach = sorted.len();
    for (i, low) in sorted.iter().enumerate() {
        while reach > 0 && average(*low, sorted[reach - 1]) > limit {
            reach -= 1;
        }
        if reach <= i {
            break;
        }
        count += (reach - i) as u64;
    }
    count
}

/// Halved before the sum, which cannot overflow and still grows with both.
fn average(a: f64, b: f64) -> f64 {
    0.5 * a + 0.5 * b
}

fn count_differences(before: &[f64], after: &[f64], limit: f64) -> u64 {
    let mut count = 0;
    let mut reach = 0;
    for b in before {
        while reach < after.len() && after[reach] - b <= limit {
            reach += 1;
        }
        count += reach as u64;
    }
    count
}

/// The smallest number that at least `k` of the counted values do not exceed:
/// the k-th smallest of them. `low` and `high` are its bounds.
fn kth_smallest(k: u64, low: f64, high: f64, count_at_most: impl Fn(f64) -> u64) -> f64 {
    let (mut below, mut at) = (rank_of(low), rank_of(high));
    if count_at_most(low) >= k {
        return low;
    }
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if count_at_most(value_of(middle)) >= k {
            at = middle;
        } else {
            below = middle;
        }
    }
    value_of(at)
}

const SIGN: u64 = 1 << 63;

/// The place of a number among all floating-point numbers, in their order.
fn rank_of(value: f64) -> u64 {
    // Minus zero and zero are one value.
    let bits = (value + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn value_of(rank: u64) -> f64 {
    f64::from_bits(if rank & SIGN == 0 { !rank } else { rank & !SIGN })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn averages(values: &[f64]) -> Vec<f64> {
        let mut all = Vec::new();
        for (i, a) in values.iter().enumerate() {
            all.extend(values[i..].iter().map(|b| average(*a, *b)));
        }
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn shift_and_interval_of_known_samples() {
        // Depression scale of nine patients, differences; the textbook gives -0.46 and [-0.786, -0.010].
        let d = [-0.952, 0.147, -1.022, -0.43, -0.62, -0.59, -0.49, 0.08, -0.01];
        let result = HodgesLehmann::one_sample(&d, 0.96).expect("nine values");
        assert!((result.shift + 0.46).abs() < 1e-9, "{}", result.shift);
        let interval = result.interval.expect("nine blocks give 96%");
        assert!((interval.low + 0.786).abs() < 1e-9 && (interval.high + 0.010).abs() < 1e-9);
    }

    #[test]
    fn six_blocks_are_the_floor_at_95_percent() {
        let five = HodgesLehmann::one_sample(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).expect("values");
        assert_eq!((five.shift, five.interval), (3.0, None));
        let six = HodgesLehmann::one_sample(&[1.0, 2.0, 3.0, 4.0, 5.0, 7.0], 0.95).expect("values");
        assert_eq!(six.interval, Some(Interval { low: 1.0, high: 7.0 }));
    }

    #[test]
    fn two_samples_need_four_each() {
        let three = HodgesLehmann::two_samples(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95).expect("values");
        assert_eq!((three.shift, three.interval), (3.0, None));
        let four = HodgesLehmann::two_samples(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 0.95);
        assert_eq!(four.expect("values").interval, Some(Interval { low: 1.0, high: 7.0 }));
    }

    #[test]
    fn the_approximation_joins_the_counted_interval() {
        let n = EXACT_ONE_SAMPLE as f64;
        let spread = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let counted = outside(&signed_rank(EXACT_ONE_SAMPLE), 0.025) as f64;
        let approximate = approximate_outside(n * (n + 1.0) / 4.0, spread, 0.025) as f64;
        assert!((counted - approximate).abs() <= 5.0, "{counted} counted, {approximate} approximate");
    }

    #[test]
    fn thousands_of_blocks_are_no_trouble() {
        let many: Vec<f64> = (0..2_500).map(|i| f64::from(i % 97) - 48.0).collect();
        let result = HodgesLehmann::one_sample(&many, 0.95).expect("values");
        let interval = result.interval.expect("enough blocks");
        assert!(result.shift.abs() < 0.6 && interval.contains(result.shift));
    }

    proptest! {
        #[test]
        fn order_statistics_agree_with_sorting(values in prop::collection::vec(-50_i32..50, 1..20)) {
            let values: Vec<f64> = values.into_iter().map(|v| f64::from(v) / 7.0).collect();
            let sorted = sorted(&values).unwrap();
            let all = averages(&values);
            for (i, expected) in all.iter().enumerate() {
                let got = kth_smallest(i as u64 + 1, sorted[0], sorted[sorted.len() - 1], |v| count_averages(&sorted, v));
                prop_assert_eq!(got, *expected);
            }
        }

        #[test]
        fn two_sample_shift_is_the_median_difference(
            before in prop::collection::vec(-9_i32..9, 1..9),
            after in prop::collection::vec(-9_i32..9, 1..9),
        ) {
            let as_floats = |v: Vec<i32>| v.into_iter().map(|x| f64::from(x) * 0.3).collect::<Vec<f64>>();
            let (before, after) = (as_floats(before), as_floats(after));
            let all: Vec<f64> = after.iter().flat_map(|a| before.iter().map(move |b| a - b)).collect();
            let expected = crate::stats::summary::quantile(&all, 0.5).unwrap();
            let got = HodgesLehmann::two_samples(&before, &after, 0.95).unwrap().shift;
            prop_assert!((got - expected).abs() < 1e-12);
        }

        #[test]
        fn every_number_has_its_place(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(a.is_finite() && b.is_finite());
            prop_assert_eq!(value_of(rank_of(a)), a);
            prop_assert_eq!(rank_of(a) < rank_of(b), a < b);
        }
    }
}
