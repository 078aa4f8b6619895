//! Submitting what is missing, watching it, merging what comes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::error::FleetError;
use super::layout::{Assignment, FleetFile, FleetFolder, SCHEMA, SeenTasks, Submission};
use super::merge::{Merged, Merger, RefusedTry};
use super::request::job;
use super::scheduler::{NodeLine, Scheduler, TaskLine};
use super::standing::{Standing, standing};
use crate::store::{JournalEvent, StopReason};

/// Tasks that wait for dead nodes alone are given up after so long, or the fleet's patience.
const DEAD_NODES: Duration = Duration::from_secs(60);
/// A shared folder may show files later than the batch system shows the end of their task.
const LATE_FILES: u32 = 3;

/// What happens, for whoever watches.
pub trait FleetWatch {
    fn submitted(&mut self, submission: &Submission);
    fn merged(&mut self, merged: &Merged);
    fn standing(&mut self, standing: &Standing);
    fn remark(&mut self, text: &str);
    /// Ctrl-C: whether the tasks are to be cancelled; else they are left running.
    fn cancels(&mut self, jobs: &[u64]) -> bool;
}

/// How one round of driving a fleet ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetEnd {
    pub reason: StopReason,
    pub standing: Standing,
    /// Tasks go on without us.
    pub left_running: bool,
}

/// A fleet and the means to drive it.
#[derive(Debug)]
pub struct FleetRun<'a, S> {
    pub scheduler: &'a S,
    pub folder: &'a FleetFolder,
    pub cancel: &'a CancellationToken,
    pub poll: Duration,
}

impl<S: Scheduler> FleetRun<'_, S> {
    /// Until every block is merged, nothing is on its way any more, or Ctrl-C.
    pub async fn drive(&self, watch: &mut dyn FleetWatch) -> Result<FleetEnd, FleetError> {
        let mut merger = Merger::open(self.folder)?;
        let started = merger.history().stopped().is_some() || !self.folder.submissions()?.is_empty();
        let boot_id = None;
        merger.note(if started {
            JournalEvent::Resumed { boot_id }
        } else {
            JournalEvent::Started { boot_id }
        })?;
        let mut refused = Vec::new();
        self.merge(&mut merger, &mut refused, watch)?;
        let tasks = self.tasks().await?;
        let before = standing(self.folder, |b| merger.has(b), &tasks, &refused)?;
        self.submit_missing(merger.file(), &before, watch).await?;
        let (reason, left_running) = self.watch_tasks(&mut merger, &mut refused, watch).await?;
        merger.note(JournalEvent::Stopped { reason })?;
        let tasks = self.tasks().await?;
        let standing = standing(self.folder, |b| merger.has(b), &tasks, &refused)?;
        Ok(FleetEnd { reason, standing, left_running })
    }

    fn merge(
        &self,
        merger: &mut Merger,
        refused: &mut Vec<RefusedTry>,
        watch: &mut dyn FleetWatch,
    ) -> Result<(), FleetError> {
        let merged = merger.merge(&merger.lacking())?;
        let news = merged.refused.iter().any(|r| !refused.contains(r));
        refused.clone_from(&merged.refused);
        if news || !merged.blocks.is_empty() {
            watch.merged(&merged);
        }
        Ok(())
    }

    /// Our tasks that the batch system knows; their last states are kept, since it forgets.
    async fn tasks(&self) -> Result<Vec<TaskLine>, FleetError> {
        let ours: Vec<u64> = self.folder.submissions()?.iter().filter_map(|s| s.job).collect();
        let mut tasks = self.scheduler.tasks(&FleetFolder::job_name(self.folder.campaign())).await?;
        tasks.retain(|t| ours.contains(&t.job));
        let old = self.folder.seen()?;
        let mut lines: BTreeMap<(u64, u32), TaskLine> =
            old.tasks.iter().map(|t| ((t.job, t.task), t.clone())).collect();
        let forgotten: Vec<u64> =
            ours.into_iter().filter(|job| !tasks.iter().any(|t| t.job == *job)).collect();
        let unknown: Vec<u64> =
            forgotten.into_iter().filter(|job| !old.tasks.iter().any(|t| t.job == *job)).collect();
        let accounts = self.scheduler.accounts(&unknown).await;
        // A task that ended well needs no reason.
        let telling = |t: &&TaskLine| !t.is_active() && t.state != "COMPLETED";
        lines.extend(accounts.iter().chain(&tasks).filter(telling).map(|t| ((t.job, t.task), t.clone())));
        let new = SeenTasks { schema: SCHEMA, tasks: lines.into_values().collect() };
        if new.tasks != old.tasks {
            self.folder.write_seen(&new)?;
        }
        Ok(tasks)
    }

    async fn submit_missing(
        &self,
        file: &FleetFile,
        before: &Standing,
        watch: &mut dyn FleetWatch,
    ) -> Result<(), FleetError> {
        let mut missing: Vec<u32> = before.missing().into_values().flatten().collect();
        missing.sort_unstable();
        if missing.is_empty() {
            return Ok(());
        }
        let nodes = self.scheduler.nodes(file.section.partition.as_deref()).await?;
        let (assignments, remarks) = assign(file, &nodes, &missing);
        for remark in remarks {
            watch.remark(&remark);
        }
        let most = self.scheduler.largest_array().await?.max(1) as usize;
        let mut number = self.folder.submissions()?.len() as u32;
        for Assignment { node, class, blocks } in assignments {
            for part in blocks.chunks(most) {
                number += 1;
                let assignment =
                    Assignment { node: node.clone(), class: class.clone(), blocks: part.to_vec() };
                let mut submission =
                    Submission { schema: SCHEMA, number, at: Timestamp::now(), assignment, job: None };
                // Before the tasks can start: they read it.
                self.folder.write_submission(&submission)?;
                let command = ["fleet-task".into(), "--submission".into(), number.to_string().into()];
                let tasks = (node.as_str(), part.len() as u32);
                let request = job(self.folder, file, tasks, file.time_limit, &command);
                submission.job = Some(self.scheduler.submit(&request).await?);
                self.folder.write_submission(&submission)?;
                watch.submitted(&submission);
            }
        }
        Ok(())
    }

    async fn watch_tasks(
        &self,
        merger: &mut Merger,
        refused: &mut Vec<RefusedTry>,
        watch: &mut dyn FleetWatch,
    ) -> Result<(StopReason, bool), FleetError> {
        let mut quiet = 0;
        let mut dead_since: Option<Instant> = None;
        let mut shown = Standing::default();
        let patience = merger.file().section.patience.to_duration();
        loop {
            let tasks = self.tasks().await?;
            self.merge(merger, refused, watch)?;
            let now = standing(self.folder, |b| merger.has(b), &tasks, refused)?;
            if now != shown {
                watch.standing(&now);
                shown = now.clone();
            }
            if now.merged() == now.blocks.len() {
                return Ok((StopReason::Planned, false));
            }
            quiet = if now.jobs.is_empty() { quiet + 1 } else { 0 };
            if quiet > LATE_FILES {
                return Ok((StopReason::Missing, false));
            }
            match self.only_dead_nodes(merger.file(), &now).await? {
                None => dead_since = None,
                Some(dead) => {
                    if dead_since.get_or_insert_with(Instant::now).elapsed() >= DEAD_NODES.min(patience) {
                        watch.remark(&format!("{dead}; tasks that wait for it are taken back"));
                        self.scheduler.cancel(&now.jobs).await?;
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(self.poll) => {}
                () = self.cancel.cancelled() => {
                    let cancels = watch.cancels(&now.jobs);
                    if cancels {
                        self.scheduler.cancel(&now.jobs).await?;
                    }
                    return Ok((StopReason::Interrupted, !cancels && !now.jobs.is_empty()));
                }
            }
        }
    }

    /// Whether all that is on its way waits for nodes that are not usable.
    async fn only_dead_nodes(&self, file: &FleetFile, now: &Standing) -> Result<Option<String>, FleetError> {
        let (waiting, running) = (now.waiting(), now.running());
        if waiting == 0 || running > 0 {
            return Ok(None);
        }
        let nodes = self.scheduler.nodes(file.section.partition.as_deref()).await?;
        let dead = now.waits_for(|node| nodes.iter().any(|n| n.name == node && !n.is_usable()));
        Ok(dead.and_then(|node| {
            let seen = nodes.iter().find(|n| n.name == node)?;
            Some(format!("{node} is {}", seen.seen()))
        }))
    }
}

/// Each block to the host it was planned for; where that is not usable, to another
/// of its class. Blocks without any wait for the next start.
fn assign(file: &FleetFile, nodes: &[NodeLine], missing: &[u32]) -> (Vec<Assignment>, Vec<String>) {
    let usable = |node: &str| nodes.iter().any(|n| n.name == node && n.is_usable());
    let mut by_node: BTreeMap<&str, (&str, Vec<u32>)> = BTreeMap::new();
    let mut moved: BTreeMap<(&str, Option<&str>), u32> = BTreeMap::new();
    for block in missing {
        let Some(planned) = file.host_of(*block) else { continue };
        let others = file.hosts.iter().filter(|h| h.class == planned.class && usable(&h.node));
        let load = |node: &str| by_node.get(node).map_or(0, |(_, blocks)| blocks.len());
        let host = if usable(&planned.node) { Some(planned) } else { others.min_by_key(|h| load(&h.node)) };
        if host.is_none_or(|h| h.node != planned.node) {
            *moved.entry((&planned.node, host.map(|h| h.node.as_str()))).or_insert(0) += 1;
        }
        if let Some(host) = host {
            by_node.entry(&host.node).or_insert_with(|| (&host.class, Vec::new())).1.push(*block);
        }
    }
    let seen = |node: &str| {
        nodes.iter().find(|n| n.name == node).map_or("not in the partition".to_owned(), NodeLine::seen)
    };
    let remarks = moved.into_iter().map(|((from, to), count)| match to {
        Some(to) => format!("{from} is {}: {count} of its block(s) go to {to}, of the same class", seen(from)),
        None => format!(
            "{from} is {}, and no other host of its class is usable: {count} block(s) stay missing; start again when it is back",
            seen(from)
        ),
    });
    let remarks = remarks.collect();
    let assignments = by_node.into_iter().map(|(node, (class, blocks))| Assignment {
        node: node.to_owned(),
        class: class.to_owned(),
        blocks,
    });
    (assignments.collect(), remarks)
}
