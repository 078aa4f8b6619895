//! Whether a published change is seen here: a question apart from the verdict.
//!
//! Reproduced: there is a change and the claimed value is inside the interval.
//! Refuted: the claimed value is outside. Otherwise this campaign cannot tell,
//! and the power at the claimed size says how far it was from telling.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_above_zero, check_finite, check_share};
use super::interval::Interval;
use super::verdict::Evidence;

/// A claimed change, plus being better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    pub log_ratio: f64,
    /// Half a unit of the last printed digit, on the log scale: "+1.8%" stands
    /// for anything from 1.75 to 1.85.
    pub rounding: f64,
}

/// What this campaign says of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimOutcome {
    Reproduced,
    Refuted,
    NotResolvable,
}

/// How a measured change misses a claim that it refutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discrepancy {
    /// The interval lies beyond zero on the other side.
    Opposite,
    /// All of the interval is less than the claim.
    Smaller,
    /// All of the interval is more than the claim.
    Larger,
}

/// The three answers of a claim check.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimCheck {
    pub outcome: ClaimOutcome,
    /// Is there a change at all?
    pub change_seen: bool,
    /// Is the claimed value inside the interval? `None` where it is unbounded.
    pub claimed_inside: Option<bool>,
    /// Could a change of the claimed size have been seen?
    pub power: f64,
    /// For refuted claims only.
    pub discrepancy: Option<Discrepancy>,
}

impl ClaimCheck {
    /// `power` is that of this design at the claimed size, such as
    /// `power::paired_power`. The margin decides a claim of no change.
    pub fn new(claimed: &Claimed, evidence: &Evidence, margin: f64, power: f64) -> Result<Self, StatsError> {
        check_finite(&[claimed.log_ratio, claimed.rounding, evidence.estimate])?;
        check_above_zero("the margin", margin)?;
        if !(0.0..=1.0).contains(&power) {
            check_share("the power", power)?;
        }
        let printed = Interval::around(claimed.log_ratio, claimed.rounding.abs());
        let claimed_inside = evidence.interval.map(|interval| interval.overlaps(&printed));
        let change_seen = evidence.change_seen();
        let seen = if printed.contains(0.0) { evidence.equivalence_seen(margin) } else { change_seen };
        let outcome = match claimed_inside.filter(|_| evidence.is_enough()) {
            Some(true) if seen => ClaimOutcome::Reproduced,
            Some(false) => ClaimOutcome::Refuted,
            _ => ClaimOutcome::NotResolvable,
        };
        let discrepancy = evidence
            .interval
            .filter(|_| outcome == ClaimOutcome::Refuted)
            .map(|interval| discrepancy(claimed.log_ratio, &interval));
        Ok(ClaimCheck { outcome, change_seen, claimed_inside, power, discrepancy })
    }
}

/// How the interval misses the claim, seen in the claim's own direction.
fn discrepancy(claimed: f64, interval: &Interval) -> Discrepancy {
    let along = if claimed < 0.0 { interval.negated() } else { *interval };
    if claimed != 0.0 && along.high < 0.0 {
        Discrepancy::Opposite
    } else if along.high < claimed.abs() {
        Discrepancy::Smaller
    } else {
        Discrepancy::Larger
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(claimed: f64, estimate: f64, half_width: f64) -> ClaimCheck {
        let evidence = Evidence {
            n: 12,
            needed: 6,
            estimate,
            interval: Some(Interval::around(estimate, half_width)),
            equivalence_interval: Some(Interval::around(estimate, 0.8 * half_width)),
        };
        let claimed = Claimed { log_ratio: claimed, rounding: 0.0005 };
        ClaimCheck::new(&claimed, &evidence, 0.01, 0.8).expect("valid")
    }

    #[test]
    fn reproduced_needs_a_change_and_the_claimed_value_inside() {
        assert_eq!(check(0.018, 0.02, 0.01).outcome, ClaimOutcome::Reproduced);
        assert_eq!(check(-0.018, -0.02, 0.01).outcome, ClaimOutcome::Reproduced);
        let wide = check(0.018, 0.01, 0.02);
        assert_eq!((wide.outcome, wide.change_seen), (ClaimOutcome::NotResolvable, false));
        assert_eq!(wide.claimed_inside, Some(true));
    }

    #[test]
    fn refuted_says_how_it_misses() {
        let missed = |claimed, estimate, half_width| {
            let check = check(claimed, estimate, half_width);
            assert_eq!(check.outcome, ClaimOutcome::Refuted);
            check.discrepancy
        };
        assert_eq!(missed(0.05, 0.01, 0.02), Some(Discrepancy::Smaller));
        assert_eq!(missed(0.05, -0.02, 0.01), Some(Discrepancy::Opposite));
        assert_eq!(missed(-0.05, 0.02, 0.01), Some(Discrepancy::Opposite));
        assert_eq!(missed(-0.018, -0.05, 0.01), Some(Discrepancy::Larger));
        assert_eq!(missed(0.018, 0.05, 0.01), Some(Discrepancy::Larger));
    }

    #[test]
    fn rounding_of_the_printed_claim_is_allowed_for() {
        // The interval begins at 1.83%, inside what "+1.8%" may stand for.
        assert_eq!(check(0.018, 0.0283, 0.01).outcome, ClaimOutcome::Reproduced);
        assert_eq!(check(0.018, 0.0287, 0.01).outcome, ClaimOutcome::Refuted);
    }

    #[test]
    fn a_claim_of_no_change_needs_equivalence() {
        assert_eq!(check(0.0, 0.001, 0.005).outcome, ClaimOutcome::Reproduced);
        assert_eq!(check(0.0, 0.001, 0.05).outcome, ClaimOutcome::NotResolvable);
        assert_eq!(check(0.0, 0.03, 0.01).discrepancy, Some(Discrepancy::Larger));
    }

    #[test]
    fn too_few_blocks_or_no_bound_resolve_nothing() {
        let claimed = Claimed { log_ratio: 0.018, rounding: 0.0 };
        let few = Evidence {
            n: 3,
            needed: 6,
            estimate: -0.05,
            interval: Some(Interval::around(-0.05, 0.001)),
            equivalence_interval: None,
        };
        let check = ClaimCheck::new(&claimed, &few, 0.01, 0.1).expect("valid");
        assert_eq!((check.outcome, check.discrepancy), (ClaimOutcome::NotResolvable, None));
        let unbounded = Evidence { n: 9, interval: None, ..few };
        let check = ClaimCheck::new(&claimed, &unbounded, 0.01, 0.1).expect("valid");
        assert_eq!((check.outcome, check.claimed_inside), (ClaimOutcome::NotResolvable, None));
        assert!(ClaimCheck::new(&claimed, &few, 0.01, 1.5).is_err());
    }
}
