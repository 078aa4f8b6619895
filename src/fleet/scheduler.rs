//! What a batch system has to do for a fleet.

use serde::{Deserialize, Serialize};

use super::error::FleetError;

/// A node as the batch system sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLine {
    pub name: String,
    /// In the batch system's word, such as `idle` or `down*`.
    pub state: String,
    pub features: Vec<String>,
    /// Why it is not usable, where somebody said so.
    pub reason: String,
}

impl NodeLine {
    /// Whether work sent there would be run, now or later.
    pub fn is_usable(&self) -> bool {
        let responds = !self.state.ends_with('*');
        let word = self.state.trim_end_matches(['~', '#', '$', '@', '+', '^', '-', '!', '%']);
        responds && ["idle", "mixed", "allocated", "completing", "planned"].contains(&word)
    }

    /// Its state and the reason, for messages.
    pub fn seen(&self) -> String {
        match self.reason.as_str() {
            "" | "none" => self.state.clone(),
            reason => format!("{}, {reason}", self.state),
        }
    }
}

/// One task of an array, as the batch system sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskLine {
    /// The array's job.
    pub job: u64,
    pub task: u32,
    /// In the batch system's word, such as `PENDING`.
    pub state: String,
    pub node: Option<String>,
    pub reason: String,
}

impl TaskLine {
    /// Whether it may still bring something.
    pub fn is_active(&self) -> bool {
        const ACTIVE: [&str; 11] = [
            "PENDING",
            "RUNNING",
            "CONFIGURING",
            "COMPLETING",
            "SUSPENDED",
            "REQUEUED",
            "REQUEUE_HOLD",
            "RESIZING",
            "SIGNALING",
            "STAGE_OUT",
            "STOPPED",
        ];
        ACTIVE.contains(&self.state.as_str())
    }

    pub fn is_waiting(&self) -> bool {
        ["PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD"].contains(&self.state.as_str())
    }

    /// How it ended, in words.
    pub fn ended(&self) -> String {
        let what = match self.state.as_str() {
            "TIMEOUT" => "it ran into its time limit (longer: fleet.time-limit)",
            "NODE_FAIL" => "its node failed",
            "PREEMPTED" => "it was preempted",
            "CANCELLED" => "it was cancelled",
            "OUT_OF_MEMORY" => "it ran out of the memory that the batch system gave it",
            "BOOT_FAIL" => "its node did not boot",
            "FAILED" => "it failed",
            "COMPLETED" => "it ended without a whole block",
            other => other,
        };
        match self.reason.as_str() {
            "" | "None" => what.to_owned(),
            reason => format!("{what} ({reason})"),
        }
    }
}

/// An array to submit. Every field is a value of our own making or checked by
/// the configuration; none is read by a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRequest {
    pub name: String,
    /// Tasks are numbered from 0.
    pub tasks: u32,
    pub node: String,
    pub partition: Option<String>,
    pub exclusive: bool,
    pub minutes: u32,
    /// Where the tasks run, and where their logs go.
    pub folder: std::path::PathBuf,
    /// Below `folder`.
    pub script: &'static str,
    pub logs: &'static str,
    /// What the script executes.
    pub argv: Vec<std::ffi::OsString>,
}

/// The batch system; a fake one in tests.
pub trait Scheduler: Sync {
    /// The nodes of the partition.
    fn nodes(&self, partition: Option<&str>) -> impl Future<Output = Result<Vec<NodeLine>, FleetError>>;

    /// The most tasks that one array may have.
    fn largest_array(&self) -> impl Future<Output = Result<u32, FleetError>>;

    /// Submits and returns the array's job.
    fn submit(&self, request: &JobRequest) -> impl Future<Output = Result<u64, FleetError>>;

    /// Tasks of jobs of this name that the batch system still remembers, whoever submitted them.
    fn tasks(&self, name: &str) -> impl Future<Output = Result<Vec<TaskLine>, FleetError>>;

    /// Tasks of these jobs by the accounts; empty where none are kept.
    fn accounts(&self, jobs: &[u64]) -> impl Future<Output = Vec<TaskLine>>;

    /// Cancels whatever of these jobs waits or runs.
    fn cancel(&self, jobs: &[u64]) -> impl Future<Output = Result<(), FleetError>>;
}
