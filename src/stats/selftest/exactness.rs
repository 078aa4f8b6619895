//! Permutation tests against full enumeration, by the plainest code.

use crate::stats::differences::BlockDifferences;
use crate::stats::error::StatsError;
use crate::stats::mann_whitney::MannWhitney;
use crate::stats::permutation::Permutation;
use crate::stats::random::Chance;
use crate::stats::sign_flip::SignFlip;
use crate::stats::summary::mean;

use super::{SelfTest, SelfTestRow};

/// Samples of each test; more would only repeat the small ones.
const SAMPLES: usize = 60;
/// Values in all: every split and every sign assignment is enumerated.
const MOST_VALUES: usize = 8;
/// Sums that should be equal may differ by this.
const TIE: f64 = 1e-9;

pub(super) fn rows(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let mut chance = Chance::stream(test.seed, 50);
    let (mut signs, mut means, mut ranks) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..SAMPLES {
        let n = 2 + chance.below(MOST_VALUES - 1);
        // Tenths make ties.
        let values: Vec<f64> = (0..n).map(|_| (10.0 * chance.normal()).round() / 10.0).collect();
        let flip = SignFlip::new(&BlockDifferences::new(values.clone())?, test.seed);
        signs = signs.max((flip.p - enumerate_signs(&values)).abs());
        let (before, after) = values.split_at(1 + chance.below(n - 1));
        let difference = |a: &[f64], b: &[f64]| (mean(b) - mean(a)).abs();
        let permutation = Permutation::new(before, after, test.seed)?;
        means = means.max((permutation.p - enumerate_splits(&values, before.len(), difference)).abs());
        let imbalance = |a: &[f64], b: &[f64]| (wins(a, b) - 0.5 * (a.len() * b.len()) as f64).abs();
        let rank_test = MannWhitney::new(before, after)?;
        ranks = ranks.max((rank_test.p - enumerate_splits(&values, before.len(), imbalance)).abs());
    }
    let row = |name, error| SelfTestRow::new(name, error, 0.0, 1e-12, 0.0);
    Ok(vec![
        row("sign-flip p against enumeration, largest error", signs),
        row("permutation p against enumeration, largest error", means),
        row("Mann-Whitney p against enumeration, largest error", ranks),
    ])
}

/// The two-sided p over all sign assignments.
fn enumerate_signs(values: &[f64]) -> f64 {
    let observed = values.iter().sum::<f64>().abs();
    let all = 1_u32 << values.len();
    let reaches = |mask: &u32| {
        let signed = values.iter().enumerate().map(|(i, v)| if mask >> i & 1 == 1 { -v } else { *v });
        signed.sum::<f64>().abs() >= observed - TIE
    };
    (0..all).filter(reaches).count() as f64 / f64::from(all)
}

/// The share of all splits whose statistic is at least that of the given one.
fn enumerate_splits(values: &[f64], first: usize, statistic: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
    let observed = statistic(&values[..first], &values[first..]);
    let (mut splits, mut reaching) = (0, 0);
    for mask in (0_u32..1 << values.len()).filter(|mask| mask.count_ones() as usize == first) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (i, value) in values.iter().enumerate() {
            if mask >> i & 1 == 1 { before.push(*value) } else { after.push(*value) }
        }
        splits += 1;
        reaching += i32::from(statistic(&before, &after) >= observed - TIE);
    }
    f64::from(reaching) / f64::from(splits)
}

/// Pairs in which the second is larger, ties counted half.
fn wins(before: &[f64], after: &[f64]) -> f64 {
    let score = |b: f64, a: f64| if a > b { 1.0 } else { f64::from(u8::from(a == b)) * 0.5 };
    before.iter().map(|b| after.iter().map(|a| score(*b, *a)).sum::<f64>()).sum()
}
