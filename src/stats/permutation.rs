//! The two-sample permutation test of a difference of means.
//!
//! All ways to name the values "before" and "after" are counted where there
//! are few enough, or drawn by a seeded generator.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_finite};
use super::quantile::choose;
use super::random::Chance;
use super::summary::mean;

/// The most splits that are all counted: ten before and ten after are 184,756.
const EXACT_SPLITS: f64 = 200_000.0;
/// Splits drawn where there are more: as many as this much work allows, within bounds.
const WORK: usize = 5_000_000;
const FEWEST_DRAWS: usize = 999;
const MOST_DRAWS: usize = 9_999;
/// Sums that differ by less than this share of the spread are ties.
const TIE: f64 = 1e-10;

/// A two-sided permutation p of the difference of means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// Mean after minus mean before.
    pub difference: f64,
    pub p: f64,
    /// `None` where all splits were counted.
    pub draws: Option<u32>,
}

impl Permutation {
    /// Give logarithms to compare ratios. The seed matters for large samples only.
    pub fn new(before: &[f64], after: &[f64], seed: u64) -> Result<Self, StatsError> {
        check_finite(before)?;
        check_finite(after)?;
        let difference = mean(after) - mean(before);
        let centre = mean(&[before, after].concat());
        // Centred values: a split is as extreme as its sum is far from zero.
        let (short, long) = if before.len() <= after.len() { (before, after) } else { (after, before) };
        let values: Vec<f64> = short.iter().chain(long).map(|v| v - centre).collect();
        // The sums of both sides are as far from zero: take the shorter.
        let chosen = short.len();
        let tie = TIE * values.iter().map(|v| v.abs()).sum::<f64>();
        let observed = values[..chosen].iter().sum::<f64>().abs() - tie;
        let splits = choose(values.len(), chosen);
        if observed <= 0.0 || splits <= EXACT_SPLITS {
            let p = if observed <= 0.0 { 1.0 } else { count(&values, chosen, 0.0, observed) as f64 / splits };
            return Ok(Permutation { difference, p, draws: None });
        }
        let draws = draws(chosen);
        let p = monte_carlo(values, chosen, observed, &mut Chance::new(seed), draws);
        Ok(Permutation { difference, p, draws: Some(draws) })
    }
}

fn draws(chosen: usize) -> u32 {
    (WORK / chosen).clamp(FEWEST_DRAWS, MOST_DRAWS) as u32
}

/// How many ways to choose `chosen` of `values` add up, with `sum`, to at least
/// `observed` away from zero.
fn count(values: &[f64], chosen: usize, sum: f64, observed: f64) -> u64 {
    if chosen == 0 {
        return u64::from(sum.abs() >= observed);
    }
    (0..=values.len() - chosen).map(|i| count(&values[i + 1..], chosen - 1, sum + values[i], observed)).sum()
}

fn monte_carlo(mut values: Vec<f64>, chosen: usize, observed: f64, chance: &mut Chance, draws: u32) -> f64 {
    let mut reaching = 0_u32;
    for _ in 0..draws {
        // Only the chosen places need a fresh draw.
        for place in 0..chosen {
            let other = place + chance.below(values.len() - place);
            values.swap(place, other);
        }
        if values[..chosen].iter().sum::<f64>().abs() >= observed {
            reaching += 1;
        }
    }
    f64::from(reaching + 1) / f64::from(draws + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every subset by its bits, compared by means rather than sums.
    fn brute_force(before: &[f64], after: &[f64]) -> f64 {
        let all: Vec<f64> = [before, after].concat();
        let observed = (mean(after) - mean(before)).abs();
        let (mut splits, mut reaching) = (0, 0);
        for mask in 0_u32..1 << all.len() {
            if mask.count_ones() as usize != before.len() {
                continue;
            }
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for (i, value) in all.iter().enumerate() {
                if mask >> i & 1 == 1 { first.push(*value) } else { second.push(*value) }
            }
            splits += 1;
            if (mean(&second) - mean(&first)).abs() >= observed - 1e-9 {
                reaching += 1;
            }
        }
        f64::from(reaching) / f64::from(splits)
    }

    #[test]
    fn smallest_possible_p_by_size() {
        for (n, expected) in [(3, 0.1), (4, 0.0286), (5, 0.0079)] {
            let before: Vec<f64> = (0..n).map(f64::from).collect();
            let after: Vec<f64> = (0..n).map(|v| f64::from(v) + 100.0).collect();
            let p = Permutation::new(&before, &after, 1).expect("values").p;
            assert!((p - expected).abs() < 5e-5, "{n} + {n}: {p}");
        }
    }

    #[test]
    fn drawing_agrees_with_counting() {
        let mut chance = Chance::new(9);
        let values: Vec<f64> = (0..16).map(|i| chance.normal() + if i < 8 { 0.0 } else { 0.9 }).collect();
        let counted = Permutation::new(&values[..8], &values[8..], 1).expect("values");
        assert_eq!(counted.draws, None);
        let centre = mean(&values);
        let centred: Vec<f64> = values.iter().map(|v| v - centre).collect();
        let observed = centred[..8].iter().sum::<f64>().abs() - 1e-9;
        let drawn = monte_carlo(centred, 8, observed, &mut chance, 9_999);
        let error = (counted.p * (1.0 - counted.p) / 9_999.0).sqrt();
        assert!((counted.p - drawn).abs() < 4.0 * error + 1e-4, "{} counted, {drawn} drawn", counted.p);
    }

    #[test]
    fn equal_values_are_no_evidence_and_large_samples_are_drawn() {
        assert_eq!(Permutation::new(&[1.0; 30], &[1.0; 30], 1).expect("values").p, 1.0);
        assert_eq!([1, 500, 1_000, 100_000].map(draws), [9_999, 9_999, 5_000, 999]);
        let (low, high) = (vec![0.0; 30], vec![1.0; 30]);
        let result = Permutation::new(&low, &high, 1).expect("values");
        assert_eq!((result.p, result.draws), (1e-4, Some(9_999)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn counts_every_split(
            before in prop::collection::vec(-3_i32..4, 1..6),
            after in prop::collection::vec(-3_i32..4, 1..6),
        ) {
            let as_floats = |v: Vec<i32>| v.into_iter().map(|x| f64::from(x) * 0.1).collect::<Vec<f64>>();
            let (before, after) = (as_floats(before), as_floats(after));
            let p = Permutation::new(&before, &after, 1).unwrap().p;
            prop_assert!((p - brute_force(&before, &after)).abs() < 1e-12);
        }
    }
}
