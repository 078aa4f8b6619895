//! From an estimate and its intervals to a verdict.
//!
//! Changed needs an interval without zero and an estimate beyond the margin;
//! equivalent needs its own interval inside the margins; everything else is
//! unresolved, which is neither "no change" nor a failure.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_above_zero, check_finite};
use super::interval::Interval;
use super::paired::PairedAnalysis;
use super::sequential::{EProcessPoint, LookResult};
use super::welch::Welch;

/// Blocks below which no paired verdict is given: the sign-flip p of five
/// blocks cannot fall below 5%.
pub const MINIMUM_BLOCKS: usize = 6;
/// Runs per arm below which no unpaired verdict is given.
pub const MINIMUM_RUNS_PER_ARM: usize = 5;
/// Two one-sided tests at 5% are a 90% interval.
const EQUIVALENCE_LEVEL: f64 = 0.9;

/// Which way a change goes, the sign being normalised so that plus is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Better,
    Worse,
}

impl Direction {
    /// `None` for exactly zero.
    pub fn of(log_ratio: f64) -> Option<Self> {
        if log_ratio > 0.0 { Some(Direction::Better) } else { (log_ratio < 0.0).then_some(Direction::Worse) }
    }
}

/// Why nothing is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnresolvedReason {
    /// Fewer blocks or runs than any verdict needs.
    TooFew,
    /// The interval holds zero and reaches beyond the margin.
    Noise,
    /// There is a change, but the estimate is within the margin and the
    /// interval is not.
    AtTheMargin,
}

/// What the comparison of one metric decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    Changed { direction: Direction },
    Equivalent,
    Unresolved { reason: UnresolvedReason },
}

/// What a verdict is drawn from, on the log scale with plus being better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Blocks, or runs of the smaller arm.
    pub n: usize,
    /// The fewest that allow a verdict.
    pub needed: usize,
    pub estimate: f64,
    /// The interval that decides a change; `None` where unbounded.
    pub interval: Option<Interval>,
    /// The interval that decides equivalence.
    pub equivalence_interval: Option<Interval>,
}

impl Evidence {
    /// A fixed number of blocks, without looks before the end.
    pub fn of_paired(analysis: &PairedAnalysis) -> Self {
        Evidence {
            n: analysis.n,
            needed: MINIMUM_BLOCKS,
            estimate: analysis.mean,
            interval: Some(analysis.interval),
            equivalence_interval: Some(analysis.sample().interval(EQUIVALENCE_LEVEL)),
        }
    }

    /// The last look that was made.
    pub fn of_look(result: &LookResult) -> Self {
        Evidence {
            n: result.look.blocks,
            needed: MINIMUM_BLOCKS,
            estimate: result.mean,
            interval: result.interval,
            equivalence_interval: result.equivalence_interval,
        }
    }

    /// An open-ended campaign, at any block. Equivalence is judged by the same
    /// confidence sequence, which is stricter than two one-sided tests.
    pub fn of_e_process(point: &EProcessPoint) -> Self {
        Evidence {
            n: point.blocks,
            needed: MINIMUM_BLOCKS,
            estimate: point.mean,
            interval: point.interval,
            equivalence_interval: point.interval,
        }
    }

    /// Unpaired runs; `runs` is the number of the smaller arm. The difference
    /// must be one of logs.
    pub fn of_welch(welch: &Welch, runs: usize) -> Self {
        Evidence {
            n: runs,
            needed: MINIMUM_RUNS_PER_ARM,
            estimate: welch.difference,
            interval: Some(welch.interval),
            equivalence_interval: Some(welch.interval_at(EQUIVALENCE_LEVEL)),
        }
    }

    pub fn is_enough(&self) -> bool {
        self.n >= self.needed
    }

    /// The interval lies on one side of zero, whatever the margin.
    pub fn change_seen(&self) -> bool {
        self.is_enough() && self.interval.is_some_and(|interval| !interval.contains(0.0))
    }

    /// The equivalence interval lies inside the margins.
    pub fn equivalence_seen(&self, margin: f64) -> bool {
        self.is_enough() && self.equivalence_interval.is_some_and(|interval| interval.within(margin))
    }

    /// The verdict for a margin given as a log ratio.
    pub fn verdict(&self, margin: f64) -> Result<Verdict, StatsError> {
        check_finite(&[self.estimate])?;
        check_above_zero("the margin", margin)?;
        if !self.is_enough() {
            return Ok(Verdict::Unresolved { reason: UnresolvedReason::TooFew });
        }
        if self.equivalence_seen(margin) {
            return Ok(Verdict::Equivalent);
        }
        let direction = Direction::of(self.estimate).filter(|_| self.change_seen());
        Ok(match direction {
            Some(direction) if self.estimate.abs() > margin => Verdict::Changed { direction },
            Some(_) => Verdict::Unresolved { reason: UnresolvedReason::AtTheMargin },
            None => Verdict::Unresolved { reason: UnresolvedReason::Noise },
        })
    }
}

/// Whether an effect is no larger than what builds without functional change
/// have shown: then a verdict carries "within layout noise".
pub fn within_layout_noise(estimate: f64, placebo_effects: &[f64]) -> bool {
    placebo_effects.iter().any(|effect| effect.abs() >= estimate.abs())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::differences::BlockDifferences;
    use crate::stats::sequential::{EProcess, GroupSequential};

    fn evidence(estimate: f64, half_width: f64, n: usize) -> Evidence {
        Evidence {
            n,
            needed: MINIMUM_BLOCKS,
            estimate,
            interval: Some(Interval::around(estimate, half_width)),
            equivalence_interval: Some(Interval::around(estimate, 0.8 * half_width)),
        }
    }

    fn verdict(estimate: f64, half_width: f64) -> Verdict {
        evidence(estimate, half_width, 12).verdict(0.01).expect("valid")
    }

    #[test]
    fn each_verdict_has_its_case() {
        use UnresolvedReason::{AtTheMargin, Noise, TooFew};
        assert_eq!(verdict(0.02, 0.01), Verdict::Changed { direction: Direction::Better });
        assert_eq!(verdict(-0.02, 0.01), Verdict::Changed { direction: Direction::Worse });
        assert_eq!(verdict(0.001, 0.005), Verdict::Equivalent);
        assert_eq!(verdict(0.02, 0.03), Verdict::Unresolved { reason: Noise });
        assert_eq!(verdict(0.008, 0.006), Verdict::Unresolved { reason: AtTheMargin });
        let few = evidence(0.05, 0.01, 5).verdict(0.01).expect("valid");
        assert_eq!(few, Verdict::Unresolved { reason: TooFew });
        let unbounded = Evidence { interval: None, equivalence_interval: None, ..evidence(0.05, 0.0, 9) };
        assert_eq!(unbounded.verdict(0.01), Ok(Verdict::Unresolved { reason: Noise }));
        assert!(evidence(0.05, 0.01, 6).verdict(0.0).is_err());
    }

    #[test]
    fn evidence_of_each_kind_of_campaign() {
        let differences =
            BlockDifferences::new(vec![0.021, 0.019, 0.02, 0.022, 0.018, 0.02, 0.021]).expect("finite");
        let changed = Ok(Verdict::Changed { direction: Direction::Better });
        let paired = PairedAnalysis::new(&differences, 0.95, 1).expect("blocks");
        assert_eq!(Evidence::of_paired(&paired).verdict(0.01), changed);
        let looks = GroupSequential::standard().evaluate(&differences).expect("blocks");
        assert_eq!(Evidence::of_look(&looks[0]).verdict(0.01), changed);
        let path = EProcess::new(0.05).expect("alpha").path(&differences).expect("blocks");
        assert_eq!(Evidence::of_e_process(&path[5]).verdict(0.01), changed);
        let early = Evidence::of_e_process(&path[4]).verdict(0.01);
        assert_eq!(early, Ok(Verdict::Unresolved { reason: UnresolvedReason::Noise }));
        let (before, after) = ([100.0, 101.0, 99.0, 100.5, 99.5], [120.0, 121.0, 119.0, 120.5, 119.5]);
        let welch = Welch::of_logarithms(&before, &after, 0.95).expect("runs");
        assert_eq!(Evidence::of_welch(&welch, 5).verdict(0.01), changed);
    }

    #[test]
    fn layout_noise_is_the_largest_placebo_effect() {
        assert!(within_layout_noise(0.015, &[0.002, -0.018]));
        assert!(!within_layout_noise(0.02, &[0.002, -0.018]));
        assert!(!within_layout_noise(0.02, &[]));
    }

    #[test]
    fn json_names_the_verdict_and_its_reason() {
        let json = |verdict: Verdict| serde_json::to_string(&verdict).expect("serializable");
        let unresolved = Verdict::Unresolved { reason: UnresolvedReason::AtTheMargin };
        assert_eq!(json(unresolved), r#"{"verdict":"unresolved","reason":"at-the-margin"}"#);
        let better = Verdict::Changed { direction: Direction::Better };
        assert_eq!(json(better), r#"{"verdict":"changed","direction":"better"}"#);
    }

    proptest! {
        #[test]
        fn the_other_direction_gives_the_mirrored_verdict(estimate in -0.05_f64..0.05, half_width in 0.0_f64..0.05) {
            let mirrored = match verdict(estimate, half_width) {
                Verdict::Changed { direction: Direction::Better } => Verdict::Changed { direction: Direction::Worse },
                Verdict::Changed { direction: Direction::Worse } => Verdict::Changed { direction: Direction::Better },
                same => same,
            };
            prop_assert_eq!(verdict(-estimate, half_width), mirrored);
        }
    }
}
