//! The geometric mean over a matched set of metrics, with an interval from
//! seeded resampling of whole blocks.
//!
//! The studentised bootstrap: each resample's distance from the estimate is
//! measured in its own standard errors, which keeps the level at few blocks
//! where the plain percentile interval is too narrow.

use serde::{Deserialize, Serialize};

use super::differences::BlockDifferences;
use super::error::{StatsError, check_finite, check_share};
use super::interval::Interval;
use super::random::Chance;
use super::summary::{mean, quantile_of_sorted, standard_deviation};

const DRAWS: usize = 1_999;

/// The mean log ratio over metrics: the log of their geometric mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometricMean {
    pub metrics: usize,
    pub log_ratio: f64,
    pub standard_error: f64,
    /// `None` for so few blocks that resamples often have no spread.
    pub interval: Option<Interval>,
    pub level: f64,
    pub draws: usize,
}

impl GeometricMean {
    /// Metrics measured in the same blocks: `blocks[block][metric]`, each block
    /// holding the whole matched set. What is common to a block stays together.
    pub fn of_shared_blocks(blocks: &[Vec<f64>], level: f64, seed: u64) -> Result<Self, StatsError> {
        let metrics = blocks.first().ok_or(StatsError::Empty)?.len();
        for block in blocks {
            check_finite(block)?;
            if block.len() != metrics {
                return Err(StatsError::UnequalLengths { left: metrics, right: block.len() });
            }
        }
        let means: Vec<f64> = blocks.iter().map(|block| mean(block)).collect();
        GeometricMean::of_groups(&[&means], metrics, level, seed)
    }

    /// Metrics measured in blocks of their own, such as one workload after another.
    pub fn of_separate_blocks(
        metrics: &[BlockDifferences],
        level: f64,
        seed: u64,
    ) -> Result<Self, StatsError> {
        let groups: Vec<&[f64]> = metrics.iter().map(BlockDifferences::as_slice).collect();
        GeometricMean::of_groups(&groups, metrics.len(), level, seed)
    }

    fn of_groups(groups: &[&[f64]], metrics: usize, level: f64, seed: u64) -> Result<Self, StatsError> {
        check_share("the level", level)?;
        let fewest = groups.iter().map(|g| g.len()).min().ok_or(StatsError::Empty)?;
        if fewest < 2 {
            return Err(StatsError::TooFew { what: "blocks", have: fewest, need: 2 });
        }
        let (log_ratio, standard_error) = mean_and_error(groups.iter().copied());
        let mut result =
            GeometricMean { metrics, log_ratio, standard_error, interval: None, level, draws: DRAWS };
        if standard_error == 0.0 {
            result.interval = Some(Interval::around(log_ratio, 0.0));
            return Ok(result);
        }
        let distances = distances(groups, log_ratio, seed);
        let tail = 0.5 * (1.0 - level);
        let (low, high) = (quantile_of_sorted(&distances, tail), quantile_of_sorted(&distances, 1.0 - tail));
        if low.is_finite() && high.is_finite() {
            let (low, high) = (log_ratio - high * standard_error, log_ratio - low * standard_error);
            result.interval = Some(Interval { low, high });
        }
        Ok(result)
    }
}

/// Sorted studentised distances of the resamples. One without spread lies
/// infinitely far out, on the side of its mean.
fn distances(groups: &[&[f64]], log_ratio: f64, seed: u64) -> Vec<f64> {
    let mut chance = Chance::new(seed);
    let mut resamples: Vec<Vec<f64>> = groups.iter().map(|g| g.to_vec()).collect();
    let mut distances: Vec<f64> = (0..DRAWS)
        .map(|_| {
            for (resample, group) in resamples.iter_mut().zip(groups) {
                resample.fill_with(|| group[chance.below(group.len())]);
            }
            let (mean, error) = mean_and_error(resamples.iter().map(Vec::as_slice));
            let distance = mean - log_ratio;
            if error > 0.0 { distance / error } else { f64::INFINITY.copysign(distance) }
        })
        .collect();
    distances.sort_by(f64::total_cmp);
    distances
}

/// The mean of group means and its standard error.
fn mean_and_error<'a>(groups: impl Iterator<Item = &'a [f64]>) -> (f64, f64) {
    let (mut count, mut total, mut variance) = (0.0, 0.0, 0.0);
    for group in groups {
        count += 1.0;
        total += mean(group);
        variance += standard_deviation(group).powi(2) / group.len() as f64;
    }
    (total / count, variance.sqrt() / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_is_the_geometric_mean() {
        let blocks: Vec<Vec<f64>> = [0.01, 0.02, 0.03, 0.015, 0.025].map(|x| vec![x, x + 0.02]).to_vec();
        let result = GeometricMean::of_shared_blocks(&blocks, 0.95, 1).expect("five blocks");
        assert!((result.log_ratio - 0.03).abs() < 1e-12);
        assert!(result.interval.expect("five blocks").contains(0.03));
        assert_eq!(result, GeometricMean::of_shared_blocks(&blocks, 0.95, 1).expect("again"));
    }

    #[test]
    fn coverage_at_eight_blocks_of_three_metrics() {
        let mut chance = Chance::new(4);
        let covered = (0..200).filter(|seed| {
            let row = |chance: &mut Chance| {
                let common = chance.normal();
                (0..3).map(|_| 0.5 + common + chance.normal()).collect::<Vec<f64>>()
            };
            let blocks: Vec<Vec<f64>> = (0..8).map(|_| row(&mut chance)).collect();
            let result = GeometricMean::of_shared_blocks(&blocks, 0.95, *seed).expect("eight blocks");
            result.interval.expect("eight blocks").contains(0.5)
        });
        let share = covered.count() as f64 / 200.0;
        // 95% within three standard errors of 200 samples.
        assert!((0.904..=0.996).contains(&share), "{share}");
    }

    #[test]
    fn separate_blocks_may_differ_in_number() {
        let metric = |values: &[f64]| BlockDifferences::new(values.to_vec()).expect("finite");
        let metrics = [metric(&[0.0, 0.02, 0.01, 0.03, 0.02]), metric(&[0.05, 0.06, 0.04, 0.05])];
        let result = GeometricMean::of_separate_blocks(&metrics, 0.9, 7).expect("two metrics");
        assert!((result.log_ratio - 0.033).abs() < 1e-12);
        assert_eq!(result.metrics, 2);
        assert!(result.interval.expect("enough blocks").contains(0.033));
    }

    #[test]
    fn unmatched_sets_and_single_blocks_are_refused() {
        let ragged = vec![vec![0.1, 0.2], vec![0.1]];
        let refused = GeometricMean::of_shared_blocks(&ragged, 0.95, 1);
        assert_eq!(refused, Err(StatsError::UnequalLengths { left: 2, right: 1 }));
        assert!(GeometricMean::of_shared_blocks(&[vec![0.1]], 0.95, 1).is_err());
        assert_eq!(GeometricMean::of_shared_blocks(&[], 0.95, 1), Err(StatsError::Empty));
        assert_eq!(GeometricMean::of_separate_blocks(&[], 0.95, 1), Err(StatsError::Empty));
    }

    #[test]
    fn two_blocks_give_no_interval_and_constants_a_point() {
        let two = GeometricMean::of_shared_blocks(&[vec![0.1], vec![0.2]], 0.95, 1).expect("two blocks");
        assert_eq!(two.interval, None);
        let constant = GeometricMean::of_shared_blocks(&vec![vec![0.25]; 4], 0.95, 1).expect("four blocks");
        assert_eq!(constant.interval, Some(Interval::around(0.25, 0.0)));
    }
}
