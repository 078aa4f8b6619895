//! What a journal says has been done.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::store::{JournalEntry, JournalEvent, StopReason, TrialId, TrialStatus};

/// The history of a campaign, read from its journal.
#[derive(Debug, Clone, Default)]
pub struct History {
    ended: BTreeMap<TrialId, TrialStatus>,
    started: BTreeSet<TrialId>,
    planned: BTreeSet<(u32, String)>,
    reruns: u32,
    stopped: Option<StopReason>,
    forecast: Option<String>,
}

impl History {
    pub fn new(entries: &[JournalEntry]) -> Self {
        let mut history = History::default();
        for entry in entries {
            history.apply(&entry.event);
        }
        history
    }

    pub(super) fn apply(&mut self, event: &JournalEvent) {
        match event {
            JournalEvent::BlockPlanned { block, workload, .. } => {
                self.planned.insert((*block, workload.clone()));
            }
            JournalEvent::TrialStarted { id } => {
                self.started.insert(id.clone());
            }
            JournalEvent::TrialEnded { id, status } => {
                self.ended.insert(id.clone(), *status);
            }
            JournalEvent::Rerun { .. } => self.reruns += 1,
            JournalEvent::Stopped { reason } => self.stopped = Some(*reason),
            JournalEvent::Resumed { .. } => self.stopped = None,
            JournalEvent::Forecast { hash } => self.forecast = Some(hash.clone()),
            JournalEvent::Started { .. } | JournalEvent::Look { .. } => {}
        }
    }

    /// Whether this trial ended validly, in any attempt.
    pub fn is_done(&self, id: &TrialId) -> bool {
        let mut tries = self.ended.range(place(id));
        tries.any(|(other, status)| *status == TrialStatus::Valid && same_slot(other, id))
    }

    /// The attempt number that comes next in this trial's place.
    pub fn next_attempt(&self, id: &TrialId) -> u32 {
        self.started
            .range(place(id))
            .filter(|other| same_slot(other, id))
            .map(|other| other.attempt + 1)
            .max()
            .unwrap_or(0)
    }

    /// Trials that were started and never ended: their process was killed.
    pub fn lost(&self) -> Vec<TrialId> {
        self.started.iter().filter(|id| !self.ended.contains_key(*id)).cloned().collect()
    }

    pub fn is_planned(&self, block: u32, workload: &str) -> bool {
        self.planned.contains(&(block, workload.to_owned()))
    }

    /// Reruns spent so far.
    pub fn reruns(&self) -> u32 {
        self.reruns
    }

    /// Why the campaign stopped, unless it was resumed since.
    pub fn stopped(&self) -> Option<StopReason> {
        self.stopped
    }

    pub fn forecast(&self) -> Option<&str> {
        self.forecast.as_deref()
    }

    /// How many trials ended in each way.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for status in self.ended.values() {
            *counts.entry(format!("{status:?}").to_lowercase()).or_insert(0) += 1;
        }
        counts
    }
}

/// All trials at this block and position, which come first in the order of ids.
fn place(id: &TrialId) -> Range<TrialId> {
    let first = |position| TrialId {
        block: id.block,
        position,
        attempt: 0,
        workload: String::new(),
        arm: String::new(),
    };
    first(id.position)..first(id.position.saturating_add(1))
}

fn same_slot(a: &TrialId, b: &TrialId) -> bool {
    a.place() == b.place()
}
