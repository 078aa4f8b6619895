//! The sign-flip permutation test of block differences.
//!
//! Under the null the arms of a block are exchangeable, so every difference
//! might as well have had the other sign: the test is exact whatever the tails.
//! Up to twenty blocks all 2^n assignments are counted, by sorting the signed
//! sums of two halves and counting the pairs that reach the observed sum;
//! beyond, assignments are drawn by a seeded generator.

use serde::{Deserialize, Serialize};

use super::differences::BlockDifferences;
use super::random::Chance;

/// The most blocks of which every sign assignment is counted.
pub const EXACT_BLOCKS: usize = 20;
/// Assignments drawn for more blocks than that.
const DRAWS: u32 = 9_999;
/// Sums that differ by less than this share of the total are ties.
const TIE: f64 = 1e-10;
/// Differences whose signed sums are tabled together in the Monte Carlo test.
const CHUNK: usize = 8;

/// A two-sided sign-flip p.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignFlip {
    pub p: f64,
    /// `None` where all assignments were counted.
    pub draws: Option<u32>,
}

impl SignFlip {
    /// The seed matters beyond [`EXACT_BLOCKS`] blocks only.
    pub fn new(differences: &BlockDifferences, seed: u64) -> Self {
        let values = differences.as_slice();
        let total: f64 = values.iter().map(|d| d.abs()).sum();
        let observed = values.iter().sum::<f64>().abs() - TIE * total;
        if observed <= 0.0 {
            return SignFlip { p: 1.0, draws: (values.len() > EXACT_BLOCKS).then_some(DRAWS) };
        }
        if values.len() <= EXACT_BLOCKS {
            return SignFlip { p: exact(values, observed), draws: None };
        }
        SignFlip { p: monte_carlo(values, observed, seed), draws: Some(DRAWS) }
    }
}

/// Signed sums of every assignment, in the order of a binary counter.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        let minus = sums.iter().map(|s| s - value);
        sums = minus.chain(sums.iter().map(|s| s + value)).collect();
    }
    sums
}

/// The share of assignments whose sum is at least `observed`, or at most its negative.
fn exact(values: &[f64], observed: f64) -> f64 {
    let (left, right) = values.split_at(values.len() / 2);
    let (mut left, mut right) = (signed_sums(left), signed_sums(right));
    left.sort_by(f64::total_cmp);
    right.sort_by(f64::total_cmp);
    let mut reaching = 0_u64;
    let mut from = right.len();
    for sum in &left {
        while from > 0 && sum + right[from - 1] >= observed {
            from -= 1;
        }
        reaching += (right.len() - from) as u64;
    }
    // The lower tail mirrors the upper one.
    2.0 * reaching as f64 / 2.0_f64.powi(values.len() as i32)
}

fn monte_carlo(values: &[f64], observed: f64, seed: u64) -> f64 {
    let tables: Vec<Vec<f64>> = values.chunks(CHUNK).map(signed_sums).collect();
    let mut chance = Chance::new(seed);
    let mut reaching = 0_u32;
    for _ in 0..DRAWS {
        let mut sum = 0.0;
        for word in tables.chunks(u64::BITS as usize / CHUNK) {
            let bits = chance.bits().to_le_bytes();
            sum += word.iter().zip(bits).map(|(t, b)| t[usize::from(b) % t.len()]).sum::<f64>();
        }
        if sum.abs() >= observed {
            reaching += 1;
        }
    }
    // The observed assignment is one of those that could have been drawn.
    f64::from(reaching + 1) / f64::from(DRAWS + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p_of(values: &[f64]) -> f64 {
        SignFlip::new(&BlockDifferences::new(values.to_vec()).expect("finite"), 1).p
    }

    fn brute_force(values: &[f64]) -> f64 {
        let observed = values.iter().sum::<f64>().abs();
        let total: f64 = values.iter().map(|d| d.abs()).sum();
        let all = 1_u32 << values.len();
        let reach = |mask: u32| {
            let sum: f64 =
                values.iter().enumerate().map(|(i, d)| if mask >> i & 1 == 1 { -d } else { *d }).sum();
            sum.abs() >= observed - 1e-10 * total
        };
        (0..all).filter(|mask| reach(*mask)).count() as f64 / f64::from(all)
    }

    #[test]
    fn smallest_possible_p_by_blocks() {
        assert_eq!(p_of(&[1.0; 5]), 0.0625);
        assert_eq!(p_of(&[0.3, 0.1, 0.2, 0.5, 0.4, 0.6]), 0.03125);
        assert_eq!(p_of(&[2.0]), 1.0);
        assert_eq!(p_of(&[0.0; 6]), 1.0);
        assert_eq!(p_of(&[1.0; 20]), 2.0 / 1048576.0);
    }

    #[test]
    fn monte_carlo_agrees_with_counting() {
        let mut chance = Chance::new(3);
        let values: Vec<f64> = (0..20).map(|_| chance.normal() + 0.4).collect();
        let total: f64 = values.iter().map(|d| d.abs()).sum();
        let observed = values.iter().sum::<f64>().abs() - TIE * total;
        let (counted, drawn) = (exact(&values, observed), monte_carlo(&values, observed, 5));
        let error = (counted * (1.0 - counted) / f64::from(DRAWS)).sqrt();
        assert!((counted - drawn).abs() < 4.0 * error + 1e-4, "{counted} counted, {drawn} drawn");
        assert_eq!(drawn, monte_carlo(&values, observed, 5));
    }

    #[test]
    fn more_blocks_than_can_be_counted_are_drawn() {
        let many = BlockDifferences::new(vec![1.0; 21]).expect("finite");
        let result = SignFlip::new(&many, 1);
        assert_eq!((result.p, result.draws), (1.0 / 10_000.0, Some(DRAWS)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn counts_every_assignment(values in prop::collection::vec(-3_i32..4, 1..11)) {
            // Small whole numbers make many ties.
            let values: Vec<f64> = values.into_iter().map(|v| f64::from(v) * 0.1).collect();
            prop_assert_eq!(p_of(&values), brute_force(&values));
        }
    }
}
