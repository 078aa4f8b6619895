//! Whether the first run of a block differs from the others of its arm.
//!
//! Each block gives one number: the first run's log minus the mean log of the
//! same arm's later runs in the block. A campaign that alternates ABBA and BAAB
//! by a coin is not biased by it, but wider; one discarded run a block heals it.

use serde::{Deserialize, Serialize};

use crate::stats::error::StatsError;
use crate::stats::one_sample::OneSample;
use crate::stats::summary::mean;

/// p below this is reported.
const NOTABLE: f64 = 0.01;

/// One run, in the order of the block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstRunSample {
    pub arm: usize,
    /// The log of the metric.
    pub log: f64,
}

/// The mean difference of first runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstRun {
    /// Blocks that had a first run and another of its arm.
    pub blocks: usize,
    /// Log ratio of a first run to the others.
    pub difference: f64,
    /// `None` where the differences are equal and not zero.
    pub p: Option<f64>,
}

impl FirstRun {
    /// Needs two blocks in which the first arm ran again.
    pub fn new(blocks: &[Vec<FirstRunSample>]) -> Result<Self, StatsError> {
        let differences: Vec<f64> = blocks.iter().filter_map(|block| difference(block)).collect();
        if differences.len() < 2 {
            let what = "blocks whose first arm ran twice";
            return Err(StatsError::TooFew { what, have: differences.len(), need: 2 });
        }
        let sample = OneSample::new(&differences)?;
        Ok(FirstRun { blocks: sample.n, difference: sample.mean, p: sample.p() })
    }

    /// The difference is more than chance shows once in a hundred.
    pub fn is_notable(&self) -> bool {
        self.p.is_none_or(|p| p < NOTABLE)
    }
}

fn difference(block: &[FirstRunSample]) -> Option<f64> {
    let (first, rest) = block.split_first()?;
    let later: Vec<f64> = rest.iter().filter(|run| run.arm == first.arm).map(|run| run.log).collect();
    (!later.is_empty()).then(|| first.log - mean(&later))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Chance;

    fn blocks(seed: u64, first: f64) -> Vec<Vec<FirstRunSample>> {
        let mut chance = Chance::new(seed);
        let mut block = |i: usize| {
            let order = if i.is_multiple_of(2) { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
            let run = |(place, arm): (usize, usize)| {
                let extra = if place == 0 { first } else { 0.0 };
                FirstRunSample { arm, log: extra + 0.05 * arm as f64 + 0.01 * chance.normal() }
            };
            order.into_iter().enumerate().map(run).collect()
        };
        (0..12).map(&mut block).collect()
    }

    #[test]
    fn a_slow_first_run_is_seen() {
        let slow = FirstRun::new(&blocks(2, -0.03)).expect("blocks");
        assert!(slow.is_notable() && (slow.difference + 0.03).abs() < 0.015, "{slow:?}");
        assert_eq!(slow.blocks, 12);
        assert!(!FirstRun::new(&blocks(2, 0.0)).expect("blocks").is_notable());
    }

    #[test]
    fn blocks_without_a_second_run_of_the_arm_do_not_count() {
        let single = vec![vec![FirstRunSample { arm: 0, log: 1.0 }, FirstRunSample { arm: 1, log: 1.0 }]; 4];
        assert!(FirstRun::new(&single).is_err());
        assert!(FirstRun::new(&[vec![], vec![]]).is_err());
    }

    #[test]
    fn equal_differences_are_notable_only_when_not_zero() {
        let run = |log| FirstRunSample { arm: 0, log };
        let equal = |first| FirstRun::new(&vec![vec![run(first), run(1.0)]; 3]).expect("blocks");
        assert!(!equal(1.0).is_notable());
        assert!(equal(2.0).is_notable());
    }
}
