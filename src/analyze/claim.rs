//! A claim against what was measured here.
//!
//! Three questions: is there a change, is the claimed value inside our
//! interval, and could we have seen it. Under other conditions than the
//! claim's, the answer is only "seen here" or "not seen here".

use serde::{Deserialize, Serialize};

use super::comparison::{Comparison, IntervalKind, show};
use super::verdict::Verdict;
use crate::config::Plan;
use crate::metric::MetricId;
use crate::stats::claim::ClaimCheck as Answers;
use crate::stats::claim::{ClaimOutcome, Claimed, Discrepancy};
use crate::stats::interval::Interval;
use crate::stats::verdict::{Evidence, MINIMUM_BLOCKS};
use crate::store::{Manifest, TrialRecord};
use crate::units::Percent;

/// What the measurement says of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    Reproduced,
    Refuted,
    NotResolvable,
    /// A change of the claimed sign was found under other conditions.
    SeenHere,
    /// It was not found, or not to the claimed size, under other conditions.
    NotSeenHere,
    /// The arms are set up alike, so no change was put to the test.
    NotTested,
}

impl ClaimVerdict {
    pub fn text(self) -> &'static str {
        match self {
            ClaimVerdict::Reproduced => "reproduced",
            ClaimVerdict::Refuted => "refuted",
            ClaimVerdict::NotResolvable => "not resolvable here",
            ClaimVerdict::SeenHere => "seen here",
            ClaimVerdict::NotSeenHere => "not seen here",
            ClaimVerdict::NotTested => "not tested, the arms are equal",
        }
    }
}

/// A claim, its own arithmetic, and the measurement beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimCheck {
    pub metric: MetricId,
    pub candidate: String,
    /// As printed by the author: the raw change of the metric.
    pub claimed: Percent,
    /// From the printed values, where there are any.
    pub recomputed: Option<Percent>,
    /// The raw change measured here, and its interval.
    pub measured: Option<Percent>,
    pub interval: Option<(Percent, Percent)>,
    /// The chance that this campaign would have seen the claimed change.
    pub power: Option<f64>,
    pub verdict: ClaimVerdict,
    /// In what the measurement differs from the claim's conditions.
    pub differences: Vec<String>,
    pub reason: String,
}

/// Checks the experiment's claim, if it has one, against the first candidate.
pub(super) fn check(
    plan: &Plan,
    manifest: &Manifest,
    records: &[TrialRecord],
    comparisons: &[Comparison],
) -> Option<ClaimCheck> {
    let claimed = plan.experiment.claim?;
    let source = plan.experiment.claim_source.clone().unwrap_or_default();
    let metric = source.metric.clone().unwrap_or_else(|| plan.analysis().primary.clone());
    let comparison =
        comparisons.iter().find(|c| c.metric.id == metric && c.role == crate::config::ArmRole::Candidate)?;
    let recomputed = match (source.before, source.after) {
        (Some(before), Some(after)) if before > 0.0 && after > 0.0 => {
            Some(Percent::from_ratio(after / before))
        }
        _ => None,
    };
    let differences = differences(plan, manifest, records);
    let result = comparison.result.as_ref();
    let measured = result.map(|r| comparison.raw_change(r.estimate));
    let interval = result.and_then(|r| r.interval).map(|(low, high)| {
        let (a, b) = (comparison.raw_change(low), comparison.raw_change(high));
        if a.0 <= b.0 { (a, b) } else { (b, a) }
    });
    let power = comparison.power_at(claimed, plan.analysis().alpha);
    let candidate = &comparison.candidate.arm;
    let (verdict, reason) = if has_equal_arms(plan, candidate) {
        let reason = format!(
            "the arm {candidate:?} is set up like the baseline, so nothing the claim speaks of was changed; give it the patched kernel"
        );
        (ClaimVerdict::NotTested, reason)
    } else {
        judge(comparison, claimed, plan.analysis().margin, power, differences.is_empty())
    };
    Some(ClaimCheck {
        metric,
        candidate: comparison.candidate.arm.clone(),
        claimed,
        recomputed,
        measured,
        interval,
        power,
        verdict,
        differences,
        reason,
    })
}

/// Whether the candidate differs from the baseline in nothing but its name.
fn has_equal_arms(plan: &Plan, candidate: &str) -> bool {
    let arms = &plan.experiment.arms;
    let found = arms.iter().find(|arm| arm.name == candidate);
    arms.first().zip(found).is_some_and(|(baseline, arm)| arm.is_set_up_like(baseline))
}

/// Half a unit of the last digit of a claim, which is printed to a tenth of a percent.
const ROUNDING: Percent = Percent(0.05);

/// The three answers on the log scale where plus is better.
fn answers(
    comparison: &Comparison,
    claimed: Percent,
    margin: Percent,
    power: Option<f64>,
) -> Option<Answers> {
    let result = comparison.result.as_ref().filter(|r| r.interval.is_some())?;
    let interval =
        result.interval.map(|(low, high)| Interval { low: low.to_log_ratio(), high: high.to_log_ratio() });
    let equivalence = result.equivalence.interval;
    let evidence = Evidence {
        n: result.paired.n,
        needed: MINIMUM_BLOCKS,
        estimate: result.estimate.to_log_ratio(),
        interval,
        // After looks only the interval that allows for them decides.
        equivalence_interval: match result.interval_kind {
            IntervalKind::Fixed | IntervalKind::Simultaneous | IntervalKind::OverHosts => Some(equivalence),
            _ => interval,
        },
    };
    // A raw change of the metric becomes one towards the better, as `raw_change` does the other way.
    let log_ratio = comparison.raw_change(claimed).to_log_ratio();
    let claimed = Claimed { log_ratio, rounding: ROUNDING.to_log_ratio() };
    Answers::new(&claimed, &evidence, margin.to_log_ratio(), power.unwrap_or(0.0)).ok()
}

fn judge(
    comparison: &Comparison,
    claimed: Percent,
    margin: Percent,
    power: Option<f64>,
    same_conditions: bool,
) -> (ClaimVerdict, String) {
    let chance = format!(
        "a change of the claimed size would have been seen with a chance of {:.0}%",
        100.0 * power.unwrap_or(0.0)
    );
    let answers = answers(comparison, claimed, margin, power);
    let Some(answers) = answers.filter(|_| comparison.verdict != Verdict::Invalid) else {
        return (ClaimVerdict::NotResolvable, "there is no interval to hold it against".to_owned());
    };
    let n = comparison.result.as_ref().map_or(0, |r| r.paired.n);
    if n < MINIMUM_BLOCKS {
        let reason = format!("{n} blocks; an answer needs at least {MINIMUM_BLOCKS}");
        return (ClaimVerdict::NotResolvable, reason);
    }
    if let Some(moved) = comparison.equal_arms_moved {
        let reason = format!("equal arms were measured to differ too, by up to {}; {chance}", show(moved));
        return (ClaimVerdict::NotResolvable, reason);
    }
    let same_sign =
        comparison.result.as_ref().is_some_and(|r| comparison.raw_change(r.estimate).0 * claimed.0 > 0.0);
    let seen = answers.outcome == ClaimOutcome::Reproduced || answers.change_seen && same_sign;
    match answers.outcome {
        // Under other conditions the size may well be another; the sign is what can be compared.
        _ if !same_conditions && seen => (
            ClaimVerdict::SeenHere,
            "what it says was established, under other conditions than the claim's".to_owned(),
        ),
        _ if !same_conditions => (
            ClaimVerdict::NotSeenHere,
            format!("not established under other conditions than the claim's; {chance}"),
        ),
        ClaimOutcome::Reproduced => (
            ClaimVerdict::Reproduced,
            "what it says was established, and the claimed value lies inside the interval".to_owned(),
        ),
        ClaimOutcome::Refuted => (ClaimVerdict::Refuted, refuted(answers.discrepancy, &chance)),
        ClaimOutcome::NotResolvable => (ClaimVerdict::NotResolvable, chance),
    }
}

fn refuted(discrepancy: Option<Discrepancy>, chance: &str) -> String {
    let how = match discrepancy {
        Some(Discrepancy::Opposite) => "the change goes the other way",
        Some(Discrepancy::Smaller) => "the change is smaller",
        Some(Discrepancy::Larger) => "the change is larger",
        None => "the change is another",
    };
    format!("the claimed value lies outside the interval: {how}; {chance}")
}

/// What is known to differ between the claim's conditions and ours.
fn differences(plan: &Plan, manifest: &Manifest, records: &[TrialRecord]) -> Vec<String> {
    let source = plan.experiment.claim_source.clone().unwrap_or_default();
    let mut found = scale_differences(&plan.changes);
    let mut differs = |what: &str, theirs: &Option<String>, ours: String| {
        if let Some(theirs) = theirs
            && !theirs.to_lowercase().contains(&ours.to_lowercase())
            && !ours.to_lowercase().contains(&theirs.to_lowercase())
        {
            found.push(format!("{what}: the claim's {theirs}, here {ours}"));
        }
    };
    differs("machine", &source.machine, manifest.host.clone());
    differs("kernel", &source.kernel, manifest.kernel.release.clone());
    let swap = records.iter().find_map(|r| r.swap.as_ref());
    differs("swap", &source.swap, swap.map_or("none".to_owned(), |s| s.kind.clone()));
    let driver = records.iter().find_map(|r| r.driver.as_ref());
    differs("driver", &source.driver, driver.map_or("none".to_owned(), |d| d.name.clone()));
    if plan.experiment.claim_source.is_none() {
        found.push("the experiment does not say under which conditions the claim was made".to_owned());
    }
    found
}

/// What the scale changed; the ratios it kept are no difference.
fn scale_differences(changes: &[String]) -> Vec<String> {
    let changed = changes.iter().filter(|change| !change.starts_with("kept: "));
    changed.map(|change| format!("scale: {change}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_ratios_are_no_difference() {
        let changes =
            ["memcg.limit 4GiB -> 64MiB".to_owned(), "kept: bytes touched to memcg.limit".to_owned()];
        assert_eq!(scale_differences(&changes), ["scale: memcg.limit 4GiB -> 64MiB"]);
    }
}
