//! The stopping rule of a plan, as the campaign asks for it.

use super::comparison::Comparison;
use super::verdict::Verdict;
use crate::campaign::{Decision, Judge};
use crate::config::{ArmRole, Plan, StopRule};
use crate::stats::sequential::{GroupSequential, Outlook};
use crate::store::{StopReason, TrialRecord};

/// The e-process is not looked at before this block.
const FIRST_ANYTIME_LOOK: u32 = 7;

/// Looks where the plan says, and stops when every deciding comparison has its
/// answer, or none can get one within the blocks that are left.
#[derive(Debug, Clone, Copy)]
pub struct PlannedLooks;

impl Judge for PlannedLooks {
    fn looks_at(&self, plan: &Plan, blocks: u32) -> bool {
        match plan.analysis().stop {
            StopRule::Fixed => false,
            StopRule::GroupSequential => {
                let plan = GroupSequential::standard();
                plan.look(blocks as usize).is_some() && (blocks as usize) < plan.last_blocks()
            }
            StopRule::Anytime => blocks >= FIRST_ANYTIME_LOOK,
        }
    }

    fn decide(&self, plan: &Plan, records: &[TrialRecord], blocks: u32) -> Decision {
        let comparisons: Vec<Comparison> =
            super::campaign::primary_comparisons(plan, records, plan.schedule().seed)
                .into_iter()
                .filter(|c| c.role == ArmRole::Candidate)
                .collect();
        let answered = |c: &Comparison| !matches!(c.verdict, Verdict::Unresolved | Verdict::Invalid);
        if !comparisons.is_empty() && comparisons.iter().all(answered) {
            return Decision::Stop(StopReason::Boundary);
        }
        let last = match plan.analysis().stop {
            StopRule::GroupSequential => GroupSequential::standard().last_blocks(),
            StopRule::Fixed | StopRule::Anytime => plan.schedule().blocks as usize,
        };
        let hopeless = |c: &Comparison| {
            answered(c)
                || c.result.as_ref().is_some_and(|r| {
                    let margin = plan.analysis().margin.to_log_ratio();
                    Outlook::new(&r.paired.sample(), last, margin, plan.analysis().alpha)
                        .is_ok_and(|o| o.futile())
                })
        };
        if (blocks as usize) < last && !comparisons.is_empty() && comparisons.iter().all(hopeless) {
            return Decision::Stop(StopReason::Futility);
        }
        Decision::Continue
    }
}
