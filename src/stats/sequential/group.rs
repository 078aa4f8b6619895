//! Group-sequential looks at planned numbers of blocks.
//!
//! Levels are of O'Brien and Fleming's type, lowered for the t distribution at
//! few blocks, so that the chance of any false alarm over all looks is 5%.

use serde::{Deserialize, Serialize};

use crate::stats::differences::BlockDifferences;
use crate::stats::error::StatsError;
use crate::stats::interval::Interval;
use crate::stats::one_sample::OneSample;

/// One-sided error that all looks together may spend on a false "equivalent".
const EQUIVALENCE_ALPHA: f64 = 0.05;

/// A planned look: at this many blocks, at this two-sided nominal level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    pub blocks: usize,
    pub alpha: f64,
}

/// The plan of looks, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSequential {
    looks: Vec<Look>,
}

/// What one look saw.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookResult {
    pub look: Look,
    pub mean: f64,
    pub t: Option<f64>,
    /// Nominal two-sided p, to be compared with the look's own alpha.
    pub p: f64,
    /// The change is established and the campaign may stop.
    pub crossed: bool,
    /// The repeated interval: holds the truth at all looks together with 95%.
    /// `None` where equal differences are too few for the level.
    pub interval: Option<Interval>,
    /// The interval that must lie inside the margins for "equivalent".
    pub equivalence_interval: Option<Interval>,
}

impl GroupSequential {
    /// Looks at 6, 12 and 18 blocks.
    pub fn standard() -> Self {
        let looks = [(6, 0.0005), (12, 0.0137), (18, 0.0435)];
        GroupSequential { looks: looks.map(|(blocks, alpha)| Look { blocks, alpha }).to_vec() }
    }

    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// The look planned at exactly this many blocks.
    pub fn look(&self, blocks: usize) -> Option<Look> {
        self.looks.iter().copied().find(|look| look.blocks == blocks)
    }

    /// The last look that this many blocks have reached. A campaign cut short
    /// between looks is judged by it, on its first `blocks` blocks.
    pub fn latest(&self, blocks: usize) -> Option<Look> {
        self.looks.iter().copied().rfind(|look| look.blocks <= blocks)
    }

    /// The next look after this many blocks.
    pub fn next(&self, blocks: usize) -> Option<Look> {
        self.looks.iter().copied().find(|look| look.blocks > blocks)
    }

    /// The most blocks the plan ever runs.
    pub fn last_blocks(&self) -> usize {
        self.looks.last().map_or(0, |look| look.blocks)
    }

    /// The repeated interval of a sample at a planned look; `None` between looks.
    pub fn repeated_interval(&self, sample: &OneSample) -> Option<Interval> {
        self.look(sample.n).and_then(|look| interval(sample, look.alpha))
    }

    /// Every look that the blocks have reached, up to the first that crossed.
    pub fn evaluate(&self, differences: &BlockDifferences) -> Result<Vec<LookResult>, StatsError> {
        let mut results = Vec::new();
        for look in self.looks.iter().filter(|look| look.blocks <= differences.blocks()) {
            let sample = OneSample::new(&differences.as_slice()[..look.blocks])?;
            let result = self.result(*look, &sample);
            results.push(result);
            if result.crossed {
                break;
            }
        }
        Ok(results)
    }

    fn result(&self, look: Look, sample: &OneSample) -> LookResult {
        let p = sample.p().unwrap_or_else(|| constant_p(sample.n));
        LookResult {
            look,
            mean: sample.mean,
            t: sample.t(),
            p,
            crossed: p < look.alpha,
            interval: interval(sample, look.alpha),
            equivalence_interval: interval(sample, self.equivalence_alpha(look)),
        }
    }

    /// The two-sided level at which a look may call equivalence. Early looks use
    /// their own level; the last gets what they have left of the one-sided 5%,
    /// so that by the union bound all looks together err at most that often.
    fn equivalence_alpha(&self, look: Look) -> f64 {
        if look.blocks < self.last_blocks() {
            return look.alpha;
        }
        let earlier: f64 = self.looks.iter().filter(|l| l.blocks < look.blocks).map(|l| 0.5 * l.alpha).sum();
        2.0 * (EQUIVALENCE_ALPHA - earlier)
    }
}

/// The two-sided sign-flip p of equal differences, which have no t.
fn constant_p(blocks: usize) -> f64 {
    2.0 * 0.5_f64.powi(blocks as i32)
}

fn interval(sample: &OneSample, alpha: f64) -> Option<Interval> {
    let too_few = sample.t().is_none() && constant_p(sample.n) >= alpha;
    (!too_few).then(|| sample.interval(1.0 - alpha))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Chance;

    fn noisy(seed: u64, shift: f64, blocks: usize) -> BlockDifferences {
        let mut chance = Chance::new(seed);
        BlockDifferences::new((0..blocks).map(|_| shift + chance.normal()).collect()).expect("finite")
    }

    #[test]
    fn looks_are_where_they_were_planned() {
        let plan = GroupSequential::standard();
        assert_eq!(plan.look(12), Some(Look { blocks: 12, alpha: 0.0137 }));
        assert_eq!(plan.look(13), None);
        assert_eq!(plan.latest(17).map(|l| l.blocks), Some(12));
        assert_eq!(plan.latest(5), None);
        assert_eq!(plan.next(12).map(|l| l.blocks), Some(18));
        assert_eq!((plan.next(18), plan.last_blocks()), (None, 18));
    }

    #[test]
    fn a_clear_effect_stops_early_and_a_null_runs_to_the_end() {
        let plan = GroupSequential::standard();
        let clear = plan.evaluate(&noisy(3, 8.0, 18)).expect("blocks");
        assert_eq!((clear.len(), clear[0].crossed), (1, true));
        let null = plan.evaluate(&noisy(3, 0.0, 20)).expect("blocks");
        assert_eq!(null.len(), 3);
        assert!(null.iter().all(|look| !look.crossed));
        assert!(plan.evaluate(&noisy(3, 0.0, 5)).expect("blocks").is_empty());
    }

    #[test]
    fn crossing_and_the_repeated_interval_agree() {
        let plan = GroupSequential::standard();
        for seed in 0..40 {
            for result in plan.evaluate(&noisy(seed, 0.7, 18)).expect("blocks") {
                let interval = result.interval.expect("noise");
                assert_eq!(result.crossed, !interval.contains(0.0));
                assert!(result.equivalence_interval.expect("noise").half_width() <= interval.half_width());
            }
        }
        let sample = OneSample::new(noisy(1, 0.0, 7).as_slice()).expect("seven");
        assert_eq!(plan.repeated_interval(&sample), None);
    }

    #[test]
    fn equivalence_spends_five_percent_over_all_looks() {
        let plan = GroupSequential::standard();
        let spent: f64 = plan.looks().iter().map(|look| 0.5 * plan.equivalence_alpha(*look)).sum();
        assert!((spent - 0.05).abs() < 1e-12);
    }

    #[test]
    fn equal_differences_need_twelve_blocks() {
        let equal = BlockDifferences::new(vec![0.25; 12]).expect("finite");
        let results = GroupSequential::standard().evaluate(&equal).expect("blocks");
        assert_eq!((results[0].crossed, results[0].interval), (false, None));
        assert_eq!((results[1].crossed, results[1].interval), (true, Some(Interval::around(0.25, 0.0))));
    }
}
