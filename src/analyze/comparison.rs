//! One metric of two arms: values, differences, interval, verdict.

use serde::{Deserialize, Serialize};

use super::pairing::{BlockDifference, pair};
use super::verdict::Verdict;
use crate::config::{AnalysisSection, ArmRole, StopRule};
use crate::metric::{Direction, MetricDefinition};
use crate::stats::differences::BlockDifferences;
use crate::stats::equivalence::Equivalence;
use crate::stats::interval::Interval;
use crate::stats::paired::PairedAnalysis;
use crate::stats::power::{PowerTarget, paired_power};
use crate::stats::sequential::{EProcess, GroupSequential};
use crate::stats::summary::Summary;
use crate::stats::verdict::MINIMUM_BLOCKS;
use crate::store::TrialRecord;
use crate::units::Percent;

/// One trial's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialValue {
    pub trial: String,
    pub block: u32,
    pub position: u32,
    pub value: f64,
}

/// An arm's values in the order they were measured, in the metric's base unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmValues {
    pub arm: String,
    pub values: Vec<TrialValue>,
    /// Absent without values.
    pub summary: Option<Summary>,
}

/// What the printed interval is an interval of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// Student's t, for a number of blocks fixed beforehand.
    Fixed,
    /// The same, for all candidates that share a baseline together (Dunnett).
    Simultaneous,
    /// Holds at all planned looks together.
    Repeated,
    /// Holds at every block.
    ConfidenceSequence,
    /// Over hosts, by random effects (Hartung and Knapp).
    OverHosts,
}

impl IntervalKind {
    pub fn name(self) -> &'static str {
        match self {
            IntervalKind::Fixed => "t interval",
            IntervalKind::Simultaneous => "simultaneous t interval",
            IntervalKind::Repeated => "repeated interval",
            IntervalKind::ConfidenceSequence => "confidence sequence",
            IntervalKind::OverHosts => "random-effects interval over hosts",
        }
    }
}

/// Numbers of a comparison with enough blocks. Everything on the log scale
/// has plus for better; percentages are made from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonResult {
    pub paired: PairedAnalysis,
    pub estimate: Percent,
    pub interval_kind: IntervalKind,
    /// Absent before the first look and where a confidence sequence is still unbounded.
    pub interval: Option<(Percent, Percent)>,
    pub level: f64,
    /// p of the test that decides, before any correction.
    pub p: f64,
    pub equivalence: Equivalence,
    /// The smallest change that so many blocks with this noise see with 90% power.
    pub detectable: Option<Percent>,
}

/// Two arms and one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub workload: String,
    pub metric: MetricDefinition,
    /// Whether it was declared to decide.
    pub primary: bool,
    pub role: ArmRole,
    pub baseline: ArmValues,
    pub candidate: ArmValues,
    pub blocks: Vec<BlockDifference>,
    pub incomplete_blocks: Vec<u32>,
    pub result: Option<ComparisonResult>,
    /// p after the correction over all primary comparisons (Dunnett, or Holm) or
    /// over the exploratory ones (Benjamini-Hochberg).
    pub adjusted_p: Option<f64>,
    pub verdict: Verdict,
    /// One sentence that says why.
    pub reason: String,
    /// How far a mere rebuild of the baseline moves this metric, where there is a placebo arm.
    pub layout_spread: Option<Percent>,
    /// How far arms that are equal were found to differ, where that is as far as this change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal_arms_moved: Option<Percent>,
}

/// What to compare.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub workload: &'a str,
    pub metric: &'a MetricDefinition,
    pub baseline: &'a str,
    pub candidate: &'a str,
    pub role: ArmRole,
    pub primary: bool,
    pub seed: u64,
}

impl Comparison {
    /// Compares without correcting for other comparisons; see [`Comparison::decide`].
    pub(super) fn new(records: &[TrialRecord], question: Question<'_>, analysis: &AnalysisSection) -> Self {
        let Question { workload, metric, baseline, candidate, role, primary, seed } = question;
        let pairing = pair(records, workload, metric, baseline, candidate);
        let differences: Vec<f64> = pairing.blocks.iter().map(|b| b.difference).collect();
        let emulated = emulated(records, workload, metric, [baseline, candidate]);
        let result = if emulated { None } else { result(differences, analysis, seed) };
        let reason = match (&result, pairing.without_logarithm.is_empty()) {
            (Some(_), _) => String::new(),
            (None, _) if emulated => "the trials ran for function only: their times mean nothing".to_owned(),
            (None, false) => format!("{} is zero or negative in some blocks, so it has no ratio", metric.id),
            (None, true) => {
                format!("{} complete block(s); a comparison needs at least 2", pairing.blocks.len())
            }
        };
        Comparison {
            workload: workload.to_owned(),
            metric: metric.clone(),
            primary,
            role,
            baseline: arm_values(records, workload, metric, baseline),
            candidate: arm_values(records, workload, metric, candidate),
            blocks: pairing.blocks,
            incomplete_blocks: pairing.incomplete,
            result,
            adjusted_p: None,
            verdict: Verdict::Invalid,
            reason,
            layout_spread: None,
            equal_arms_moved: None,
        }
    }

    /// Whether a change was found that is no larger than what a rebuild makes.
    pub fn within_layout_noise(&self) -> bool {
        let changed = matches!(self.verdict, Verdict::Better | Verdict::Worse);
        let estimate = self.result.as_ref().map(|r| r.estimate.0.abs());
        changed && self.layout_spread.zip(estimate).is_some_and(|(spread, estimate)| estimate <= spread.0)
    }

    /// The verdict, once the corrected p is known.
    pub(super) fn decide(&mut self, adjusted_p: Option<f64>, analysis: &AnalysisSection) {
        self.adjusted_p = adjusted_p;
        let Some(result) = &self.result else { return };
        let (verdict, reason) = verdict(result, adjusted_p.unwrap_or(result.p), analysis);
        self.verdict = verdict;
        self.reason = reason;
    }

    /// The chance that this comparison would have seen a change of this size.
    pub fn power_at(&self, change: Percent, alpha: f64) -> Option<f64> {
        let paired = &self.result.as_ref()?.paired;
        Some(paired_power(change.to_log_ratio().abs(), paired.standard_deviation, paired.n, alpha))
    }

    /// A log ratio with plus for better, as the raw change of the metric.
    pub fn raw_change(&self, better: Percent) -> Percent {
        match self.metric.direction {
            Direction::LowerIsBetter => Percent::from_log_ratio(-better.to_log_ratio()),
            Direction::HigherIsBetter | Direction::Neutral => better,
        }
    }
}

/// Whether the metric is about time and trials of the arms ran where time means nothing.
fn emulated(records: &[TrialRecord], workload: &str, metric: &MetricDefinition, arms: [&str; 2]) -> bool {
    let one_of_them =
        |r: &&TrialRecord| r.spec.id.workload == workload && arms.contains(&r.spec.id.arm.as_str());
    metric.kind.is_about_time()
        && records.iter().filter(one_of_them).any(|r| r.counts() && r.functional_only.is_some())
}

fn arm_values(records: &[TrialRecord], workload: &str, metric: &MetricDefinition, arm: &str) -> ArmValues {
    let mut values: Vec<TrialValue> = records
        .iter()
        .filter(|r| r.counts() && r.spec.id.workload == workload && r.spec.id.arm == arm)
        .filter_map(|r| {
            let value = r.value(metric.id.as_str())?;
            let id = &r.spec.id;
            Some(TrialValue { trial: id.to_string(), block: id.block, position: id.position, value })
        })
        .collect();
    values.sort_by_key(|v| (v.block, v.position));
    let numbers: Vec<f64> = values.iter().map(|v| v.value).collect();
    ArmValues { arm: arm.to_owned(), summary: Summary::new(&numbers).ok(), values }
}

fn result(differences: Vec<f64>, analysis: &AnalysisSection, seed: u64) -> Option<ComparisonResult> {
    let differences = BlockDifferences::new(differences).ok()?;
    let level = 1.0 - analysis.alpha;
    // A sequential plan judges the blocks of its latest look only.
    let standard = GroupSequential::standard();
    let differences = match (analysis.stop, standard.latest(differences.blocks())) {
        (StopRule::GroupSequential, Some(look)) => differences.first(look.blocks).ok()?,
        _ => differences,
    };
    let paired = PairedAnalysis::new(&differences, level, seed).ok()?;
    let sample = paired.sample();
    let equivalence = Equivalence::of_sample(&sample, analysis.margin.to_log_ratio(), analysis.alpha).ok()?;
    let (interval_kind, interval, p) = match analysis.stop {
        StopRule::Fixed => (IntervalKind::Fixed, Some(paired.interval), paired.p),
        StopRule::GroupSequential => {
            let reached = standard.evaluate(&differences).ok()?;
            let last = reached.last();
            // The nominal p, scaled so that alpha is the look's own level.
            let p = last.map_or(1.0, |l| (l.p * analysis.alpha / l.look.alpha).min(1.0));
            (IntervalKind::Repeated, last.and_then(|l| l.interval), p)
        }
        StopRule::Anytime => {
            let process = EProcess::new(analysis.alpha).ok()?;
            let p = process.p(&differences).ok()?;
            (IntervalKind::ConfidenceSequence, process.confidence_sequence(&sample), p)
        }
    };
    let percent = |i: Interval| (Percent::from_log_ratio(i.low), Percent::from_log_ratio(i.high));
    let target = PowerTarget { alpha: analysis.alpha, ..PowerTarget::default() };
    let detectable = target.detectable_by_blocks(paired.standard_deviation, paired.n).ok();
    Some(ComparisonResult {
        estimate: Percent::from_log_ratio(paired.mean),
        interval_kind,
        interval: interval.map(percent),
        level,
        p,
        equivalence,
        detectable: detectable.map(Percent::from_log_ratio),
        paired,
    })
}

/// The three-way verdict and its sentence.
fn verdict(result: &ComparisonResult, p: f64, analysis: &AnalysisSection) -> (Verdict, String) {
    let n = result.paired.n;
    let margin = analysis.margin;
    if n < MINIMUM_BLOCKS {
        return (
            Verdict::Unresolved,
            format!(
                "{n} blocks; a verdict needs at least {MINIMUM_BLOCKS}, since fewer cannot reject by sign"
            ),
        );
    }
    let excludes_zero = result.interval.is_some_and(|(low, high)| low.0 > 0.0 || high.0 < 0.0);
    let estimate = result.estimate;
    if excludes_zero && p <= analysis.alpha && estimate.0.abs() > margin.0 {
        let verdict = if estimate.0 > 0.0 { Verdict::Better } else { Verdict::Worse };
        return (
            verdict,
            format!("the interval excludes zero and the estimate lies beyond the margin of {}", show(margin)),
        );
    }
    if result.equivalence.equivalent && analysis.stop == StopRule::Fixed {
        return (Verdict::Equivalent, format!("any change lies within the margin of {}", show(margin)));
    }
    if result.interval.is_some_and(|(low, high)| -margin.0 < low.0 && high.0 < margin.0) {
        return (Verdict::Equivalent, format!("any change lies within the margin of {}", show(margin)));
    }
    let seen = result
        .detectable
        .map_or(String::new(), |d| format!("; {n} blocks with this noise see {} or more", detectable(d)));
    if excludes_zero && p <= analysis.alpha {
        return (
            Verdict::Unresolved,
            format!("a change is there, but whether it exceeds the margin of {} is not{seen}", show(margin)),
        );
    }
    if excludes_zero {
        return (
            Verdict::Unresolved,
            format!("not established after the correction for several comparisons{seen}"),
        );
    }
    (
        Verdict::Unresolved,
        format!("the interval holds zero and reaches beyond the margin of {}{seen}", show(margin)),
    )
}

/// A change that could have been seen; beyond tenfold the number says nothing.
pub fn detectable(percent: Percent) -> String {
    if percent.0.abs() < 1000.0 { show(percent) } else { "no change below 1000%".to_owned() }
}

pub(super) fn show(percent: Percent) -> String {
    format!("{:.2}%", percent.0.abs())
}
