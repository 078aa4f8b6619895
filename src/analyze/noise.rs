//! The noise of a campaign: its floor, and what raised it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::comparison::Comparison;
use crate::config::{ArmRole, Plan};
use crate::store::TrialRecord;

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
    fn new(kind: &str, message: String) -> Self {
        NoiseNote { kind: kind.to_owned(), message }
    }
}

/// Remarks on the primary metrics.
pub(super) fn notes(plan: &Plan, records: &[TrialRecord], comparisons: &[Comparison]) -> Vec<NoiseNote> {
    let mut notes = Vec::new();
    for comparison in comparisons.iter().filter(|c| c.primary) {
        if matches!(comparison.role, ArmRole::Control | ArmRole::Placebo) {
            notes.extend(floor(plan, comparison));
        }
        notes.extend(incomplete(comparison));
    }
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
        "{what} ({} and {}) differ by {} in {} [{low}, {high}]",
        comparison.baseline.arm, comparison.candidate.arm, result.estimate, comparison.metric.id
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
