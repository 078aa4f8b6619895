//! The loop over blocks and trials.

use std::ops::Range;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::error::CampaignError;
use super::judge::{Decision, Judge};
use super::progress::{Progress, ProgressEvent};
use super::runner::TrialRunner;
use super::spec::{Slot, expected_trial_time, slots, trial_spec};
use super::state::History;
use crate::config::{Plan, PlanWorkload, StopRule, TargetKind};
use crate::store::{
    CampaignFolder, CampaignJournal, JournalEvent, Manifest, StopReason, TrialId, TrialOutcome, TrialStatus,
};
use crate::units::Nanos;

/// A campaign that is open for running.
#[derive(Debug)]
pub struct Campaign {
    folder: CampaignFolder,
    manifest: Manifest,
    plan: Plan,
    /// The blocks that are run here; all, unless told otherwise.
    blocks: Range<u32>,
    journal: CampaignJournal,
    history: History,
    /// Time spent on trials that were timed here, and how many.
    timed: (Nanos, u32),
    started: Instant,
}

/// How a campaign ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignSummary {
    pub reason: StopReason,
    /// Why the last bad trial was bad, for the error message.
    pub last_trouble: Option<String>,
}

/// What a run works with, and what it last had trouble with.
struct Means<'a, R> {
    runner: &'a R,
    cancel: &'a CancellationToken,
    progress: &'a mut dyn Progress,
    last_trouble: Option<String>,
}

/// What one trial, with its reruns, came to.
enum SlotEnd {
    Done,
    GivenUp,
    Interrupted,
}

impl Campaign {
    /// Opens the journal and notes start or resumption; trials that were killed are lost.
    pub fn open(
        folder: CampaignFolder,
        manifest: Manifest,
        plan: Plan,
        boot_id: Option<String>,
    ) -> Result<Self, CampaignError> {
        let mut journal = folder.open_journal()?;
        let event = if journal.entries().is_empty() {
            JournalEvent::Started { boot_id }
        } else {
            JournalEvent::Resumed { boot_id }
        };
        journal.append(event)?;
        let history = History::new(journal.entries());
        let mut campaign = Campaign {
            folder,
            manifest,
            blocks: 0..last_block(&plan),
            plan,
            journal,
            history,
            timed: (Nanos(0), 0),
            started: Instant::now(),
        };
        for id in campaign.history.lost() {
            let status = campaign.left_by(&id)?;
            campaign.note(JournalEvent::TrialEnded { id, status })?;
        }
        Ok(campaign)
    }

    /// The same campaign, of which only these blocks are run here.
    #[must_use]
    pub fn only(mut self, blocks: Range<u32>) -> Self {
        self.blocks = blocks;
        self
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    /// What a trial came to whose end nobody noted: the campaign was killed, and
    /// the trial may have finished by itself.
    fn left_by(&self, id: &TrialId) -> Result<TrialStatus, CampaignError> {
        let trial = self.folder.create_trial(id)?;
        if !trial.has_record() {
            return Ok(TrialStatus::Lost);
        }
        if self.plan.target().kind == TargetKind::Host {
            return Ok(trial.record()?.outcome.status());
        }
        // What a guest wrote is a record only once the host has checked and completed it.
        trial.set_record_aside()?;
        Ok(TrialStatus::Lost)
    }

    /// Writes an event to the journal, then takes it into the history.
    pub fn note(&mut self, event: JournalEvent) -> Result<(), CampaignError> {
        self.journal.append(event.clone())?;
        self.history.apply(&event);
        Ok(())
    }

    /// Runs blocks until the plan, the judge, the budget or the user ends it.
    pub async fn run<R: TrialRunner, J: Judge>(
        &mut self,
        runner: &R,
        judge: &J,
        cancel: &CancellationToken,
        progress: &mut dyn Progress,
    ) -> Result<CampaignSummary, CampaignError> {
        let planned = self.planned_blocks().len() * self.slots_per_block();
        let done = self.planned_blocks().map(|b| self.done_in(b)).sum();
        progress.event(ProgressEvent::Planned { trials: planned, done });
        let mut means = Means { runner, cancel, progress, last_trouble: None };
        let reason = self.run_blocks(&mut means, judge).await?;
        self.note(JournalEvent::Stopped { reason })?;
        means.progress.event(ProgressEvent::Stopped { reason });
        Ok(CampaignSummary { reason, last_trouble: means.last_trouble })
    }

    async fn run_blocks<R: TrialRunner, J: Judge>(
        &mut self,
        means: &mut Means<'_, R>,
        judge: &J,
    ) -> Result<StopReason, CampaignError> {
        for block in self.blocks.clone() {
            if !self.budget_allows_a_block() {
                return Ok(StopReason::Budget);
            }
            for workload in self.plan.workloads.clone() {
                let end = self.run_block(means, block, &workload).await;
                // Whatever happened, what the target kept for the block goes.
                means.runner.end_block().await?;
                match end? {
                    SlotEnd::Done => {}
                    SlotEnd::GivenUp => return Ok(StopReason::TooManyInvalid),
                    SlotEnd::Interrupted => return Ok(StopReason::Interrupted),
                }
            }
            means.progress.event(ProgressEvent::BlockEnded { block });
            let blocks = block + 1;
            if judge.looks_at(&self.plan, blocks) {
                self.note(JournalEvent::Look { blocks })?;
                let records = self.folder.records()?;
                if let Decision::Stop(reason) = judge.decide(&self.plan, &records, blocks) {
                    return Ok(reason);
                }
            }
        }
        Ok(StopReason::Planned)
    }

    /// The trials of one workload in one block; stops at the first that gives up.
    async fn run_block<R: TrialRunner>(
        &mut self,
        means: &mut Means<'_, R>,
        block: u32,
        workload: &PlanWorkload,
    ) -> Result<SlotEnd, CampaignError> {
        for slot in self.plan_block(block, workload)? {
            match self.run_slot(means, workload, slot).await? {
                SlotEnd::Done => {}
                end => return Ok(end),
            }
        }
        Ok(SlotEnd::Done)
    }

    /// The blocks that are planned, of those that are run here.
    fn planned_blocks(&self) -> Range<u32> {
        self.blocks.start..self.blocks.end.min(self.plan.schedule().blocks)
    }

    fn slots_per_block(&self) -> usize {
        let each = 2 * self.plan.arms.len() + usize::from(self.plan.schedule().discard_first);
        each * self.plan.workloads.len()
    }

    fn done_in(&self, block: u32) -> usize {
        let slots = self.plan.workloads.iter().flat_map(|w| self.slots(block, w));
        slots.filter(|slot| self.history.is_done(&slot.id)).count()
    }

    /// The trials of a block in their order; journalled the first time.
    fn plan_block(&mut self, block: u32, workload: &PlanWorkload) -> Result<Vec<Slot>, CampaignError> {
        let name = workload.workload.name();
        let slots = self.slots(block, workload);
        if !self.history.is_planned(block, name) {
            let order = slots.iter().map(|s| s.id.arm.clone()).collect();
            self.note(JournalEvent::BlockPlanned { block, workload: name.to_owned(), order })?;
        }
        Ok(slots)
    }

    fn slots(&self, block: u32, workload: &PlanWorkload) -> Vec<Slot> {
        slots(&self.plan, self.manifest.seed, block, workload)
    }

    /// Whether a compared trial of this block is still to be run. A block that
    /// is resumed is warmed up again.
    fn has_work_left(&self, workload: &PlanWorkload, block: u32) -> bool {
        self.slots(block, workload).iter().any(|slot| !slot.discarded && !self.history.is_done(&slot.id))
    }

    /// Runs a trial, again while it is invalid and reruns are left. The
    /// metric plays no part in that decision.
    async fn run_slot<R: TrialRunner>(
        &mut self,
        means: &mut Means<'_, R>,
        workload: &PlanWorkload,
        mut slot: Slot,
    ) -> Result<SlotEnd, CampaignError> {
        if self.history.is_done(&slot.id) && !(slot.discarded && self.has_work_left(workload, slot.id.block))
        {
            return Ok(SlotEnd::Done);
        }
        loop {
            if means.cancel.is_cancelled() {
                return Ok(SlotEnd::Interrupted);
            }
            slot.id.attempt = self.history.next_attempt(&slot.id);
            let status = self.run_trial(means, workload, &slot).await?;
            match status {
                TrialStatus::Valid => return Ok(SlotEnd::Done),
                // A discarded trial only warms up; that it was invalid is no reason to repeat it.
                TrialStatus::Invalid if slot.discarded => return Ok(SlotEnd::Done),
                TrialStatus::Interrupted => return Ok(SlotEnd::Interrupted),
                TrialStatus::Unsupported => {
                    let reason = means.last_trouble.take().unwrap_or_default();
                    return Err(CampaignError::Unsupported { what: slot.id.workload.clone(), reason });
                }
                TrialStatus::Invalid | TrialStatus::Failed | TrialStatus::Lost => {
                    if self.history.reruns() >= self.plan.schedule().reruns {
                        return Ok(SlotEnd::GivenUp);
                    }
                    let because = means.last_trouble.clone().unwrap_or_else(|| format!("{status:?}"));
                    self.note(JournalEvent::Rerun { id: slot.id.clone(), because })?;
                }
            }
        }
    }

    async fn run_trial<R: TrialRunner>(
        &mut self,
        means: &mut Means<'_, R>,
        workload: &PlanWorkload,
        slot: &Slot,
    ) -> Result<TrialStatus, CampaignError> {
        let spec = trial_spec(&self.manifest, &self.plan, workload, slot);
        let trial = self.folder.create_trial(&slot.id)?;
        self.note(JournalEvent::TrialStarted { id: slot.id.clone() })?;
        let remaining = self.remaining();
        means.progress.event(ProgressEvent::TrialStarted {
            id: &slot.id,
            discarded: slot.discarded,
            remaining,
        });
        let begun = Instant::now();
        let status = means.runner.run(&spec, &trial, means.cancel).await?;
        self.timed = (Nanos(self.timed.0.0 + Nanos::from(begun.elapsed()).0), self.timed.1 + 1);
        self.note(JournalEvent::TrialEnded { id: slot.id.clone(), status })?;
        let mut headline = None;
        if trial.has_record() {
            let record = trial.record()?;
            headline = workload.primary.first().and_then(|id| {
                record
                    .measurements
                    .iter()
                    .find(|m| m.metric.id == *id)
                    .map(|m| format!("{:.1} {}", m.value, m.metric.unit.symbol()))
            });
            if let Some(trouble) = trouble(&record.outcome) {
                means.last_trouble = Some(trouble);
            }
        } else {
            means.last_trouble =
                Some(format!("the trial process of {} ended without a record; see its trial.log", slot.id));
        }
        means.progress.event(ProgressEvent::TrialEnded { id: &slot.id, status, headline });
        if self.plan.schedule().pause.0 > 0 {
            tokio::select! {
                () = means.cancel.cancelled() => {}
                () = tokio::time::sleep(self.plan.schedule().pause.to_duration()) => {}
            }
        }
        Ok(status)
    }

    /// Mean time of a trial: timed ones where there are any, else the estimate.
    fn trial_time(&self) -> Nanos {
        let (total, count) = self.timed;
        if count > 0 {
            return Nanos(total.0 / u64::from(count) + self.plan.schedule().pause.0);
        }
        let all: u64 = self.plan.workloads.iter().map(|w| expected_trial_time(&w.workload).0).sum();
        Nanos(all / self.plan.workloads.len().max(1) as u64)
    }

    fn remaining(&self) -> Nanos {
        let all = self.planned_blocks().len() * self.slots_per_block();
        let done: usize = self.planned_blocks().map(|b| self.done_in(b)).sum();
        Nanos(self.trial_time().0 * all.saturating_sub(done) as u64)
    }

    /// A block that would end after the budget is not begun.
    fn budget_allows_a_block(&self) -> bool {
        let Some(budget) = self.plan.schedule().budget else { return true };
        let block = Nanos(self.trial_time().0 * self.slots_per_block() as u64);
        Nanos::from(self.started.elapsed()).0 + block.0 <= budget.0
    }
}

/// Campaigns without a planned end go on until their judge, budget or user stops them.
fn last_block(plan: &Plan) -> u32 {
    match plan.analysis().stop {
        StopRule::Fixed | StopRule::Anytime => plan.schedule().blocks,
        StopRule::GroupSequential => plan.schedule().blocks.max(18),
    }
}

/// One line on a trial that does not count.
fn trouble(outcome: &TrialOutcome) -> Option<String> {
    match outcome {
        TrialOutcome::Valid | TrialOutcome::Interrupted => None,
        TrialOutcome::Invalid { violations } => Some(
            violations
                .iter()
                .map(|v| format!("{}: {} ({})", v.rule, v.message, v.evidence))
                .collect::<Vec<_>>()
                .join("; "),
        ),
        TrialOutcome::Failed { stage, message } => Some(format!("{stage}: {message}")),
        TrialOutcome::Unsupported { reason } => Some(reason.clone()),
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
