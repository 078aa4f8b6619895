//! A claim against what was measured here.
//!
//! Three questions: is there a change, is the claimed value inside our
//! interval, and could we have seen it. Under other conditions than the
//! claim's, the answer is only "seen here" or "not seen here".

use serde::{Deserialize, Serialize};

use super::comparison::Comparison;
use super::verdict::Verdict;
use crate::config::Plan;
use crate::metric::MetricId;
use crate::store::{Manifest, TrialRecord};
use crate::units::Percent;

/// Power below which a miss says nothing.
const ENOUGH_POWER: f64 = 0.8;

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
    let same_sign = measured.is_some_and(|m| m.0 * claimed.0 > 0.0);
    let facts = Facts {
        changed: matches!(comparison.verdict, Verdict::Better | Verdict::Worse),
        equivalent: comparison.verdict == Verdict::Equivalent,
        inside: interval.is_some_and(|(low, high)| low.0 <= claimed.0 && claimed.0 <= high.0),
        valid: comparison.verdict != Verdict::Invalid && interval.is_some(),
        power: power.unwrap_or(0.0),
        null_claim: claimed.0.abs() <= plan.analysis().margin.0,
        same_sign,
    };
    let candidate = &comparison.candidate.arm;
    let (verdict, reason) = if has_equal_arms(plan, candidate) {
        let reason = format!(
            "the arm {candidate:?} is set up like the baseline, so nothing the claim speaks of was changed; give it the patched kernel"
        );
        (ClaimVerdict::NotTested, reason)
    } else {
        judge(&facts, differences.is_empty())
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

struct Facts {
    changed: bool,
    equivalent: bool,
    inside: bool,
    valid: bool,
    power: f64,
    /// The claim is that there is no change of interest.
    null_claim: bool,
    same_sign: bool,
}

fn judge(facts: &Facts, same_conditions: bool) -> (ClaimVerdict, String) {
    let percent = |p: f64| format!("{:.0}%", 100.0 * p);
    if !facts.valid {
        return (ClaimVerdict::NotResolvable, "there is no interval to hold it against".to_owned());
    }
    let (established, what) = if facts.null_claim {
        (facts.equivalent, "that nothing of interest changes")
    } else {
        (facts.changed && facts.same_sign, "a change of that sign")
    };
    if !same_conditions {
        return if established {
            (
                ClaimVerdict::SeenHere,
                format!("{what} was established under other conditions than the claim's"),
            )
        } else {
            let reason = format!(
                "not established under other conditions than the claim's; a change of the claimed size would have been seen with a chance of {}",
                percent(facts.power)
            );
            (ClaimVerdict::NotSeenHere, reason)
        };
    }
    if established && facts.inside {
        return (
            ClaimVerdict::Reproduced,
            format!("{what} was established and the claimed value lies inside the interval"),
        );
    }
    if !facts.inside && (facts.power >= ENOUGH_POWER || facts.changed || facts.equivalent) {
        return (
            ClaimVerdict::Refuted,
            format!(
                "the claimed value lies outside the interval; a change of that size would have been seen with a chance of {}",
                percent(facts.power)
            ),
        );
    }
    (
        ClaimVerdict::NotResolvable,
        format!(
            "a change of the claimed size would have been seen with a chance of {} only",
            percent(facts.power)
        ),
    )
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

    fn facts() -> Facts {
        Facts {
            changed: true,
            equivalent: false,
            inside: true,
            valid: true,
            power: 0.9,
            null_claim: false,
            same_sign: true,
        }
    }

    #[test]
    fn each_answer_has_its_cause() {
        assert_eq!(judge(&facts(), true).0, ClaimVerdict::Reproduced);
        assert_eq!(judge(&facts(), false).0, ClaimVerdict::SeenHere);
        let outside = Facts { inside: false, changed: false, equivalent: true, ..facts() };
        assert_eq!(judge(&outside, true).0, ClaimVerdict::Refuted);
        assert_eq!(judge(&outside, false).0, ClaimVerdict::NotSeenHere);
        let blind = Facts { changed: false, power: 0.2, ..facts() };
        assert_eq!(judge(&blind, true).0, ClaimVerdict::NotResolvable);
        let outside_but_blind = Facts { changed: false, inside: false, power: 0.2, ..facts() };
        assert_eq!(judge(&outside_but_blind, true).0, ClaimVerdict::NotResolvable);
        let opposite = Facts { same_sign: false, inside: false, ..facts() };
        assert_eq!(judge(&opposite, true).0, ClaimVerdict::Refuted);
    }

    #[test]
    fn a_null_claim_is_reproduced_by_equivalence() {
        let null = Facts { changed: false, equivalent: true, null_claim: true, ..facts() };
        assert_eq!(judge(&null, true).0, ClaimVerdict::Reproduced);
        let unresolved = Facts { equivalent: false, ..null };
        assert_eq!(judge(&unresolved, true).0, ClaimVerdict::NotResolvable);
    }
}
