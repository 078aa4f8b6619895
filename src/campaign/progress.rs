//! What a campaign tells whoever watches it.

use crate::store::{StopReason, TrialId, TrialStatus};
use crate::units::Nanos;

/// Something to show.
#[derive(Debug, Clone)]
pub enum ProgressEvent<'a> {
    /// How many trials there are at most, and how many were found done.
    Planned {
        trials: usize,
        done: usize,
    },
    TrialStarted {
        id: &'a TrialId,
        discarded: bool,
        remaining: Nanos,
    },
    TrialEnded {
        id: &'a TrialId,
        status: TrialStatus,
        headline: Option<String>,
    },
    BlockEnded {
        block: u32,
    },
    Stopped {
        reason: StopReason,
    },
}

/// Receives the events, in order.
pub trait Progress {
    fn event(&mut self, event: ProgressEvent<'_>);
}

/// Nobody watches.
impl Progress for () {
    fn event(&mut self, _event: ProgressEvent<'_>) {}
}
