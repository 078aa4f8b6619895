//! The Mann-Whitney test, exact with ties.
//!
//! Midranks are doubled so that they are whole, and the distribution of their
//! sum over all splits is counted; two-sided p is the share of splits whose
//! rank sum is at least as far from its mean as the observed one. It stands
//! beside the Welch test as a companion and decides nothing.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_finite};
use super::quantile::normal_cdf;
use super::rank_distribution::rank_sum;

/// The most values whose splits are counted; beyond, the normal approximation
/// with the tie correction is good to the third digit.
const EXACT_VALUES: usize = 60;

/// A two-sided Mann-Whitney p.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MannWhitney {
    /// Pairs in which the value after is larger, ties counted half.
    pub u: f64,
    /// Chance that a run after beats one before: `u` over all pairs.
    pub superiority: f64,
    pub p: f64,
    pub exact: bool,
}

impl MannWhitney {
    pub fn new(before: &[f64], after: &[f64]) -> Result<Self, StatsError> {
        check_finite(before)?;
        check_finite(after)?;
        let (n, m) = (before.len(), after.len());
        let ranks = doubled_ranks(before, after);
        let observed: usize = ranks[n..].iter().sum();
        let pairs = (n * m) as f64;
        let u = 0.5 * (observed - m * (m + 1)) as f64;
        let exact = n + m <= EXACT_VALUES;
        let p = if exact { counted(&ranks, m, observed) } else { approximate(&ranks, m, observed) };
        Ok(MannWhitney { u, superiority: u / pairs, p, exact })
    }
}

/// Twice the midrank of each value among all, in the given order.
fn doubled_ranks(before: &[f64], after: &[f64]) -> Vec<usize> {
    let all: Vec<f64> = before.iter().chain(after).copied().collect();
    let mut sorted = all.clone();
    sorted.sort_by(f64::total_cmp);
    all.iter()
        .map(|value| {
            let below = sorted.partition_point(|other| other < value);
            let at_most = sorted.partition_point(|other| other <= value);
            below + at_most + 1
        })
        .collect()
}

/// Twice the mean rank sum of `chosen` values, in doubled ranks.
fn twice_mean(ranks: &[usize], chosen: usize) -> usize {
    chosen * (ranks.len() + 1) * 2
}

fn counted(ranks: &[usize], chosen: usize, observed: usize) -> f64 {
    let centre = twice_mean(ranks, chosen);
    let distance = (2 * observed).abs_diff(centre);
    let shares = rank_sum(ranks, chosen);
    let far = shares.iter().enumerate().filter(|(sum, _)| (2 * sum).abs_diff(centre) >= distance);
    far.map(|(_, share)| share).sum::<f64>().min(1.0)
}

fn approximate(ranks: &[usize], chosen: usize, observed: usize) -> f64 {
    let n = ranks.len() as f64;
    let mean_rank = n + 1.0;
    let squares: f64 = ranks.iter().map(|r| (*r as f64 - mean_rank).powi(2)).sum();
    let (chosen_share, rest) = (chosen as f64 / n, n - chosen as f64);
    let variance = chosen_share * rest / (n - 1.0) * squares;
    if variance == 0.0 {
        return 1.0;
    }
    let distance = 0.5 * (2 * observed).abs_diff(twice_mean(ranks, chosen)) as f64;
    // One doubled rank is the half-step continuity correction.
    let deviate = (distance - 1.0).max(0.0) / variance.sqrt();
    (2.0 * normal_cdf(-deviate)).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p_of(before: &[f64], after: &[f64]) -> f64 {
        MannWhitney::new(before, after).expect("values").p
    }

    /// Wins of after over before, ties counted half, by looking at every pair.
    fn wins(before: &[f64], after: &[f64]) -> f64 {
        let score = |b: f64, a: f64| if a > b { 1.0 } else { f64::from(u8::from(a == b)) * 0.5 };
        before.iter().map(|b| after.iter().map(|a| score(*b, *a)).sum::<f64>()).sum()
    }

    fn brute_force(before: &[f64], after: &[f64]) -> f64 {
        let all: Vec<f64> = [before, after].concat();
        let middle = 0.5 * (before.len() * after.len()) as f64;
        let observed = (wins(before, after) - middle).abs();
        let (mut splits, mut reaching) = (0, 0);
        for mask in 0_u32..1 << all.len() {
            if mask.count_ones() as usize != before.len() {
                continue;
            }
            let pick =
                |bit| all.iter().enumerate().filter(move |(i, _)| mask >> i & 1 == bit).map(|(_, v)| *v);
            let (first, second): (Vec<f64>, Vec<f64>) = (pick(1).collect(), pick(0).collect());
            splits += 1;
            if (wins(&first, &second) - middle).abs() >= observed - 1e-9 {
                reaching += 1;
            }
        }
        f64::from(reaching) / f64::from(splits)
    }

    #[test]
    fn separated_samples_of_any_sizes() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let above = [6.0, 7.0, 8.0, 9.0, 10.0];
        assert!((p_of(&five, &above) - 2.0 / 252.0).abs() < 1e-12);
        assert!((p_of(&five[..4], &above) - 2.0 / 126.0).abs() < 1e-12);
        assert!((p_of(&above, &five[..4]) - 2.0 / 126.0).abs() < 1e-12);
        let result = MannWhitney::new(&five, &above).expect("values");
        assert_eq!((result.u, result.superiority, result.exact), (25.0, 1.0, true));
    }

    #[test]
    fn all_equal_is_no_evidence() {
        assert_eq!(p_of(&[2.0; 4], &[2.0; 5]), 1.0);
        assert_eq!(p_of(&[2.0; 40], &[2.0; 50]), 1.0);
        assert_eq!(MannWhitney::new(&[2.0; 4], &[2.0; 5]).expect("values").superiority, 0.5);
    }

    #[test]
    fn the_approximation_joins_the_counted_p() {
        let before: Vec<f64> = (0..30).map(|i| f64::from(i % 10)).collect();
        let after: Vec<f64> = (0..30).map(|i| f64::from(i % 10) + 1.5).collect();
        let ranks = doubled_ranks(&before, &after);
        let observed = ranks[30..].iter().sum();
        let (exact, normal) = (counted(&ranks, 30, observed), approximate(&ranks, 30, observed));
        assert!((exact - normal).abs() < 0.002, "{exact} counted, {normal} approximate");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn counts_every_split_with_ties(
            before in prop::collection::vec(0_i32..5, 1..6),
            after in prop::collection::vec(0_i32..5, 1..6),
        ) {
            let as_floats = |v: Vec<i32>| v.into_iter().map(f64::from).collect::<Vec<f64>>();
            let (before, after) = (as_floats(before), as_floats(after));
            let result = MannWhitney::new(&before, &after).unwrap();
            prop_assert!((result.p - brute_force(&before, &after)).abs() < 1e-12);
            prop_assert_eq!(result.u, wins(&before, &after));
        }
    }
}
