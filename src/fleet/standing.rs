//! Where each block of a fleet stands, and why one is missing.

use std::collections::BTreeMap;

use serde::Serialize;

use super::error::FleetError;
use super::layout::{FleetFolder, Submission};
use super::merge::RefusedTry;
use super::scheduler::TaskLine;
use super::task::{TaskEnd, TaskStart};
use crate::store::{CampaignFolder, StopReason};

/// One block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockStanding {
    Merged,
    Running { node: String },
    Waiting { node: String, reason: String },
    Missing { why: String },
}

/// All blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Standing {
    pub blocks: Vec<BlockStanding>,
    /// Jobs of which something waits or runs.
    pub jobs: Vec<u64>,
}

impl Standing {
    fn count(&self, is: impl Fn(&BlockStanding) -> bool) -> usize {
        self.blocks.iter().filter(|b| is(b)).count()
    }

    pub fn merged(&self) -> usize {
        self.count(|b| *b == BlockStanding::Merged)
    }

    pub fn running(&self) -> usize {
        self.count(|b| matches!(b, BlockStanding::Running { .. }))
    }

    pub fn waiting(&self) -> usize {
        self.count(|b| matches!(b, BlockStanding::Waiting { .. }))
    }

    /// Why each reason's blocks are missing, with the blocks.
    pub fn missing(&self) -> BTreeMap<&str, Vec<u32>> {
        let mut reasons: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (block, standing) in self.blocks.iter().enumerate() {
            if let BlockStanding::Missing { why } = standing {
                reasons.entry(why).or_default().push(block as u32);
            }
        }
        reasons
    }

    /// A node that tasks wait for, if all that wait wait for such nodes.
    pub(super) fn waits_for(&self, is: impl Fn(&str) -> bool) -> Option<&str> {
        let nodes = self.blocks.iter().filter_map(|b| match b {
            BlockStanding::Waiting { node, .. } => Some(node.as_str()),
            _ => None,
        });
        let nodes: Vec<&str> = nodes.collect();
        if nodes.iter().all(|n| is(n)) { nodes.first().copied() } else { None }
    }

    /// One line.
    pub fn text(&self) -> String {
        let missing = self.count(|b| matches!(b, BlockStanding::Missing { .. }));
        format!(
            "{} of {} blocks merged, {} running, {} waiting, {missing} missing",
            self.merged(),
            self.blocks.len(),
            self.running(),
            self.waiting()
        )
    }
}

/// The standing by the folder and by what the batch system remembers.
pub fn standing(
    folder: &FleetFolder,
    merged: impl Fn(u32) -> bool,
    tasks: &[TaskLine],
    refused: &[RefusedTry],
) -> Result<Standing, FleetError> {
    let submissions = folder.submissions()?;
    let seen = folder.seen()?.tasks;
    let mut remembered: BTreeMap<(u64, u32), &TaskLine> = BTreeMap::new();
    for line in seen.iter().chain(tasks) {
        remembered.insert((line.job, line.task), line);
    }
    let mut latest: BTreeMap<u32, (&Submission, u32)> = BTreeMap::new();
    for submission in &submissions {
        for (task, block) in submission.assignment.blocks.iter().enumerate() {
            latest.insert(*block, (submission, task as u32));
        }
    }
    let mut all = Standing::default();
    for block in 0..folder.file()?.blocks() {
        let line = latest.get(&block).and_then(|(s, task)| remembered.get(&(s.job?, *task)).copied());
        let standing = if merged(block) {
            BlockStanding::Merged
        } else if let Some((line, (submission, _))) = line.filter(|l| l.is_active()).zip(latest.get(&block)) {
            all.jobs.push(line.job);
            let node = line.node.clone().unwrap_or_else(|| submission.assignment.node.clone());
            let reason = line.reason.clone();
            if line.is_waiting() {
                BlockStanding::Waiting { node, reason }
            } else {
                BlockStanding::Running { node }
            }
        } else {
            let refusal = refused.iter().find(|r| r.block == block);
            BlockStanding::Missing {
                why: match (refusal, latest.get(&block)) {
                    (Some(refusal), _) => format!("refused: {}", refusal.why),
                    (None, None) => "never submitted".to_owned(),
                    (None, Some((submission, _))) => why_missing(folder, block, submission, line),
                },
            }
        };
        all.blocks.push(standing);
    }
    all.jobs.sort_unstable();
    all.jobs.dedup();
    Ok(all)
}

/// What the newest try left, and what the batch system said of the task.
fn why_missing(folder: &FleetFolder, block: u32, submission: &Submission, line: Option<&TaskLine>) -> String {
    let Some(job) = submission.job else {
        return "run-bench was killed while it submitted".to_owned();
    };
    let said = line.map(TaskLine::ended);
    let of_job = |path: &std::path::PathBuf| {
        let of_try = CampaignFolder::unfinished(path).ok()?;
        let start = TaskStart::read(&of_try).ok()?;
        (start.task.job == job).then(|| (start, TaskEnd::read(&of_try).ok().flatten()))
    };
    let newest = folder.tries(block).iter().rev().find_map(of_job);
    let node = &submission.assignment.node;
    match newest {
        None => match said {
            Some(said) => format!("{said}, on {node}, before it began"),
            None => format!("the batch system no longer knows its task on {node}, which left nothing"),
        },
        Some((start, None)) => {
            let said = said.unwrap_or_else(|| "the batch system no longer knows it".to_owned());
            format!("its task was killed on {}: {said}", start.task.node)
        }
        Some((start, Some(end))) => {
            let node = &start.task.node;
            let trouble = end.trouble.map(|t| format!(": {t}")).unwrap_or_default();
            match (end.reason, said) {
                (Some(StopReason::Interrupted), Some(said)) => format!("{said}, and restored {node}"),
                (Some(StopReason::Interrupted), None) => {
                    format!("its task was told to stop, and restored {node}")
                }
                (Some(reason), _) => format!("{} on {node}{trouble}", reason.text()),
                (None, _) => format!("its task failed on {node}{trouble}"),
            }
        }
    }
}
