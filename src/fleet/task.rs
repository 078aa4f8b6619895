//! One task: a block on this node, into a folder of its own.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::error::FleetError;
use super::layout::{FleetFolder, SCHEMA, Submission, block_name};
use super::request::TaskIdentity;
use crate::campaign::{Campaign, Progress, RunAll, TrialRunner};
use crate::config::Plan;
use crate::store::{CampaignFolder, Manifest, StopReason, StoreError, read_json, write_json};

/// Written before the first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskStart {
    pub schema: u32,
    pub task: TaskIdentity,
    pub block: u32,
    /// Stable name of the machine.
    pub host: String,
    pub at: Timestamp,
}

/// Written last; a task without it was killed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskEnd {
    pub schema: u32,
    /// Absent when the block could not be run at all.
    pub reason: Option<StopReason>,
    /// Why the last bad trial was bad, or why the block could not be run.
    pub trouble: Option<String>,
    pub at: Timestamp,
}

const START: &str = "task.json";
const END: &str = "end.json";

impl TaskStart {
    pub(super) fn read(of_try: &CampaignFolder) -> Result<Self, StoreError> {
        read_json(&of_try.path().join(START), "task")
    }
}

impl TaskEnd {
    /// None for a task that was killed or still runs.
    pub(super) fn read(of_try: &CampaignFolder) -> Result<Option<Self>, StoreError> {
        let path = of_try.path().join(END);
        if path.is_file() { read_json(&path, "end of a task").map(Some) } else { Ok(None) }
    }
}

/// Runs the block of a task as `run-bench run` would on this host. `manifest`
/// is this node's; name, seed and experiment are the campaign's.
pub async fn run_block<R: TrialRunner>(
    folder: &FleetFolder,
    (submission, task): (&Submission, &TaskIdentity),
    manifest: &Manifest,
    runner: &R,
    cancel: &CancellationToken,
    progress: &mut dyn Progress,
) -> Result<TaskEnd, FleetError> {
    let block = block_of(submission, task)?;
    let plan = folder.campaign().plan()?;
    let parent = folder.blocks_path().join(block_name(block));
    let of_try = CampaignFolder::create(&parent, &task.try_name())?;
    let start = TaskStart {
        schema: SCHEMA,
        task: task.clone(),
        block,
        host: manifest.host.clone(),
        at: Timestamp::now(),
    };
    write_json(&of_try.path().join(START), &start)?;
    let ran = one_block(&of_try, block, (&plan, manifest), runner, cancel, progress).await;
    let (reason, trouble) = match &ran {
        Ok((reason, trouble)) => (Some(*reason), trouble.clone()),
        Err(error) => (None, Some(error.to_string())),
    };
    let end = TaskEnd { schema: SCHEMA, reason, trouble, at: Timestamp::now() };
    // On a full disk the first error is the one to tell.
    let written = write_json(&of_try.path().join(END), &end);
    ran?;
    written?;
    Ok(end)
}

fn block_of(submission: &Submission, task: &TaskIdentity) -> Result<u32, FleetError> {
    submission.assignment.blocks.get(task.task as usize).copied().ok_or_else(|| FleetError::NoSuchTask {
        path: format!("submissions/{:04}.json", submission.number).into(),
        task: task.task,
    })
}

async fn one_block<R: TrialRunner>(
    of_try: &CampaignFolder,
    block: u32,
    (plan, manifest): (&Plan, &Manifest),
    runner: &R,
    cancel: &CancellationToken,
    progress: &mut dyn Progress,
) -> Result<(StopReason, Option<String>), FleetError> {
    of_try.write_manifest(manifest)?;
    let boot = manifest.kernel.boot_id.clone();
    let campaign = Campaign::open(of_try.clone(), manifest.clone(), plan.clone(), boot)?;
    let mut campaign = campaign.only(block..block + 1);
    let summary = campaign.run(runner, &RunAll, cancel, progress).await?;
    Ok((summary.reason, summary.last_trouble))
}
