//! Whether a campaign needs more blocks.

use crate::config::Plan;
use crate::store::{StopReason, TrialRecord};

/// What to do after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Continue,
    Stop(StopReason),
}

/// Looks at the data of whole blocks and decides. The look is journalled first.
pub trait Judge {
    /// Whether the plan has a look after this many complete blocks.
    fn looks_at(&self, plan: &Plan, blocks: u32) -> bool;

    /// The decision at a look.
    fn decide(&self, plan: &Plan, records: &[TrialRecord], blocks: u32) -> Decision;
}

/// Never stops early: all planned blocks are run.
#[derive(Debug, Clone, Copy)]
pub struct RunAll;

impl Judge for RunAll {
    fn looks_at(&self, _plan: &Plan, _blocks: u32) -> bool {
        false
    }

    fn decide(&self, _plan: &Plan, _records: &[TrialRecord], _blocks: u32) -> Decision {
        Decision::Continue
    }
}
