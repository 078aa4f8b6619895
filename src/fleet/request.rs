//! What is asked of the batch system for a campaign, and what a task knows of itself.

use std::ffi::OsString;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::FleetError;
use super::layout::{FleetFile, FleetFolder};
use super::scheduler::JobRequest;
use crate::campaign::expected_block_time;
use crate::config::{FleetSection, Plan};
use crate::units::Nanos;

/// Between the first signal and the kill at the time limit: a trial restores its host in it.
pub(super) const NOTICE: Duration = Duration::from_secs(120);
/// The expected time is rough: blocks take up to so many times as long before they are ended.
const SLACK: u64 = 4;
/// For reruns of invalid trials and for a busy controller.
const MARGIN: Nanos = Nanos::from_seconds(300);

/// How long the batch system lets one block take.
pub fn block_time_limit(section: &FleetSection, plan: &Plan) -> Nanos {
    let work = section.time_limit.unwrap_or_else(|| Nanos(expected_block_time(plan).0 * SLACK + MARGIN.0));
    Nanos(work.0 + section.patience.0 + Nanos::from(NOTICE).0)
}

/// Whole minutes, as batch systems count.
pub(super) fn minutes(limit: Nanos) -> u32 {
    let minutes = limit.0.div_ceil(Nanos::from_seconds(60).0);
    u32::try_from(minutes.max(1)).unwrap_or(u32::MAX)
}

/// An array of `tasks` tasks on one node that run `run-bench COMMAND --campaign FOLDER …`.
pub(super) fn job(
    folder: &FleetFolder,
    file: &FleetFile,
    (node, tasks): (&str, u32),
    limit: Nanos,
    command: &[OsString],
) -> JobRequest {
    let mut argv: Vec<OsString> = vec![file.program.clone().into()];
    argv.extend(command.iter().cloned());
    argv.extend(["--campaign".into(), folder.campaign().path().as_os_str().to_owned()]);
    JobRequest {
        name: FleetFolder::job_name(folder.campaign()),
        tasks,
        node: node.to_owned(),
        partition: file.section.partition.clone(),
        exclusive: file.section.exclusive,
        minutes: minutes(limit),
        folder: folder.campaign().path().to_owned(),
        script: FleetFolder::SCRIPT,
        logs: FleetFolder::LOGS,
        argv,
    }
}

/// Which task this process is, as the batch system tells it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskIdentity {
    /// The array's job.
    pub job: u64,
    pub task: u32,
    /// Counts up when the batch system runs the task again.
    pub restart: u32,
    pub node: String,
}

impl TaskIdentity {
    /// From the variables that Slurm sets.
    pub fn from_environment(read: impl Fn(&str) -> Option<String>) -> Result<Self, FleetError> {
        let number = |what: &'static str| {
            read(what).and_then(|text| text.parse::<u64>().ok()).ok_or(FleetError::NotATask { what })
        };
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Ok(TaskIdentity {
            job: number("SLURM_ARRAY_JOB_ID")?,
            task: small(number("SLURM_ARRAY_TASK_ID")?),
            // Absent in the first run.
            restart: number("SLURM_RESTART_COUNT").map_or(0, small),
            node: read("SLURMD_NODENAME")
                .filter(|node| !node.is_empty())
                .ok_or(FleetError::NotATask { what: "SLURMD_NODENAME" })?,
        })
    }

    /// Name of the folder of its try.
    pub(super) fn try_name(&self) -> String {
        format!("j{}-t{}-r{}", self.job, self.task, self.restart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_knows_itself_by_slurms_variables() {
        let set = |restart: Option<&'static str>| {
            move |name: &str| match name {
                "SLURM_ARRAY_JOB_ID" => Some("12".to_owned()),
                "SLURM_ARRAY_TASK_ID" => Some("3".to_owned()),
                "SLURM_RESTART_COUNT" => restart.map(str::to_owned),
                "SLURMD_NODENAME" => Some("n1".to_owned()),
                _ => None,
            }
        };
        let first = TaskIdentity::from_environment(set(None)).expect("a task");
        assert_eq!(first.try_name(), "j12-t3-r0");
        assert_eq!(TaskIdentity::from_environment(set(Some("2"))).expect("a task").restart, 2);
        let error = TaskIdentity::from_environment(|_| None).expect_err("no task");
        assert!(error.to_string().contains("SLURM_ARRAY_JOB_ID"), "{error}");
    }

    #[test]
    fn limits_are_whole_minutes_and_hold_the_notice() {
        assert_eq!(minutes(Nanos::from_seconds(61)), 2);
        assert_eq!(minutes(Nanos(1)), 1);
    }
}
