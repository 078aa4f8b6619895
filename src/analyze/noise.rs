//! The noise of a campaign: its floor, and what raised it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::comparison::{Comparison, show};
use super::difference::ArmDifference;
use super::steadiness;
use super::verdict::Verdict;
use crate::config::{ArmRole, Plan};
use crate::stats::noise::OneSidedness;
use crate::store::TrialRecord;
use crate::units::Percent;

/// One remark, with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseNote {
    /// A stable name, such as `floor`, `control-moved`, `host-event`.
    pub kind: String,
    /// What was seen, why it matters, what to do.
    pub message: String,
}

impl NoiseNote {
    pub(super) fn new(kind: &str, message: String) -> Self {
        NoiseNote { kind: kind.to_owned(), message }
    }
}

/// Remarks on the primary metrics.
pub(super) fn notes(
    plan: &Plan,
    records: &[TrialRecord],
    comparisons: &[Comparison],
    differences: &[ArmDifference],
) -> Vec<NoiseNote> {
    let mut notes: Vec<NoiseNote> = differences.iter().filter(|d| !d.declared).map(confounder).collect();
    for comparison in comparisons.iter().filter(|c| c.primary) {
        if matches!(comparison.role, ArmRole::Control | ArmRole::Placebo) {
            notes.extend(floor(plan, comparison));
        }
        notes.extend(layout(comparison));
        notes.extend(wide_floor(comparison, comparisons));
        notes.extend(incomplete(comparison));
    }
    notes.extend(steadiness::notes(plan, records));
    notes.extend(one_sided(comparisons));
    notes.extend(host_events(records));
    notes
}

/// What two equal arms differ by is what this host cannot tell from zero.
fn floor(plan: &Plan, comparison: &Comparison) -> Option<NoiseNote> {
    let result = comparison.result.as_ref()?;
    let (low, high) = result.interval?;
    let what =
        if comparison.role == ArmRole::Control { "equal arms" } else { "arms that differ in layout only" };
    let base = format!(
        "{what} ({} and {}) differ by {} in {} [{}, {}]",
        comparison.baseline.arm,
        comparison.candidate.arm,
        shown(result.estimate),
        comparison.metric.id,
        shown(low),
        shown(high)
    );
    let moved = low.0 > 0.0 || high.0 < 0.0;
    if moved && result.estimate.0.abs() > plan.analysis().margin.0 && comparison.role == ArmRole::Control {
        let message = format!(
            "{base}: the interval excludes zero, so something besides the arms moves this metric; do not trust the other verdicts of this campaign"
        );
        return Some(NoiseNote::new("control-moved", message));
    }
    Some(NoiseNote::new("floor", base))
}

/// The largest change that a mere rebuild made, as far as its interval reaches.
pub(super) fn layout_spread(comparison: &Comparison, all: &[Comparison]) -> Option<Percent> {
    all.iter()
        .filter(|c| {
            c.role == ArmRole::Placebo
                && c.workload == comparison.workload
                && c.metric.id == comparison.metric.id
        })
        .filter_map(|c| c.result.as_ref())
        .flat_map(|r| r.interval.map_or(vec![r.estimate], |(low, high)| vec![low, high]))
        .map(|p| Percent(p.0.abs()))
        .max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Why a change that was found is none: arms that are equal were found to differ
/// by as much, so whatever moved them may have moved the candidate.
pub(super) fn equal_arms_moved_as_far(
    comparison: &Comparison,
    all: &[Comparison],
) -> Option<(Percent, String)> {
    let found = |c: &Comparison| matches!(c.verdict, Verdict::Better | Verdict::Worse);
    let control = control_of(comparison, all).filter(|c| found(comparison) && found(c))?;
    let (low, high) = control.result.as_ref()?.interval?;
    let reach = Percent(low.0.abs().max(high.0.abs()));
    (comparison.result.as_ref()?.estimate.0.abs() <= reach.0).then(|| {
        let reason = format!(
            "a change was measured, but equal arms ({} and {}) were measured to differ too, by up to {}",
            control.baseline.arm,
            control.candidate.arm,
            show(reach)
        );
        (reach, reason)
    })
}

/// The equal arm that was measured with the same metric.
fn control_of<'a>(comparison: &Comparison, all: &'a [Comparison]) -> Option<&'a Comparison> {
    all.iter().find(|c| {
        let same = c.workload == comparison.workload && c.metric.id == comparison.metric.id;
        c.role == ArmRole::Control && same
    })
}

/// A change smaller than what equal arms may differ by here.
fn wide_floor(comparison: &Comparison, all: &[Comparison]) -> Option<NoiseNote> {
    let found = matches!(comparison.verdict, Verdict::Better | Verdict::Worse);
    if comparison.role != ArmRole::Candidate || !found {
        return None;
    }
    let control = control_of(comparison, all)?;
    let (low, high) = control.result.as_ref()?.interval?;
    let floor = low.0.abs().max(high.0.abs());
    let size = comparison.result.as_ref()?.estimate.0.abs();
    (floor > size).then(|| {
        let message = format!(
            "the change of {} in {} is {size:.2}%, and equal arms may differ by up to {floor:.2}% here; run more blocks, or quieten the host, before trusting it",
            comparison.candidate.arm, comparison.metric.id
        );
        NoiseNote::new("floor-wider-than-change", message)
    })
}

fn layout(comparison: &Comparison) -> Option<NoiseNote> {
    let spread = comparison.layout_spread?;
    comparison.within_layout_noise().then(|| {
        let message = format!(
            "{} against {} is within layout noise: a mere rebuild of the baseline moves {} by up to {:.2}%, so this change may come from where the code lies and not from what it does",
            comparison.candidate.arm, comparison.baseline.arm, comparison.metric.id, spread.0
        );
        NoiseNote::new("layout-noise", message)
    })
}

fn confounder(difference: &ArmDifference) -> NoiseNote {
    let values: Vec<String> =
        difference.values.iter().map(|(arm, value)| format!("{arm}: {value}")).collect();
    let message = format!(
        "{} differs between arms though the experiment does not ask for it ({}); a change may come from it: make the arms equal and run again",
        difference.fact,
        values.join("; ")
    );
    NoiseNote::new("confounder", message)
}

/// Findings that all point one way make the tool suspect.
fn one_sided(comparisons: &[Comparison]) -> Option<NoiseNote> {
    let findings: Vec<f64> = comparisons
        .iter()
        .filter(|c| c.role == ArmRole::Candidate && c.adjusted_p.is_some_and(|p| p <= 0.10))
        .filter_map(|c| c.result.as_ref().map(|r| r.paired.mean))
        .collect();
    let sides = OneSidedness::new(&findings).ok()?;
    sides.is_alarming().then(|| {
        let message = format!(
            "of {} changes that were found, {} are for the better and {} for the worse; so uneven a division is rare by chance (p = {:.3}), so check that the arms were treated alike",
            findings.len(), sides.better, sides.worse, sides.p
        );
        NoiseNote::new("one-sided", message)
    })
}

/// Two decimals, and no sign on a zero.
fn shown(percent: Percent) -> String {
    if percent.0.abs() < 0.005 { "0.00%".to_owned() } else { percent.to_string() }
}

fn incomplete(comparison: &Comparison) -> Option<NoiseNote> {
    if comparison.incomplete_blocks.is_empty() {
        return None;
    }
    let blocks: Vec<String> = comparison.incomplete_blocks.iter().map(u32::to_string).collect();
    let message = format!(
        "block(s) {} of {} against {} miss a valid trial and are left out: with one missing, drift would not cancel",
        blocks.join(", "),
        comparison.candidate.arm,
        comparison.baseline.arm
    );
    Some(NoiseNote::new("incomplete-blocks", message))
}

fn host_events(records: &[TrialRecord]) -> Vec<NoiseNote> {
    let mut by_kind: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for event in records.iter().filter(|r| r.counts()).flat_map(|r| &r.host_events) {
        by_kind.entry(&event.kind).or_insert((0, &event.detail)).0 += 1;
    }
    by_kind
        .into_iter()
        .map(|(kind, (count, example))| {
            NoiseNote::new("host-event", format!("{kind} in {count} trial(s), such as: {example}"))
        })
        .collect()
}
