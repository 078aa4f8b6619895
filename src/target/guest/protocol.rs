//! What host and guest say to each other: a request on the way in, marks on the
//! console, a parcel of results on the way out.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::store::TrialSpec;
use crate::units::Nanos;

/// Name of the request's file in the folder that the guest's init is given.
pub const REQUEST: &str = "request.json";
/// Name of the parcel in a shared folder.
pub const PARCEL: &str = "parcel";
/// What this version writes and reads.
pub const SCHEMA: u32 = 1;

/// What the guest is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    Trial { spec: Box<TrialSpec> },
    Command { argv: Vec<String>, working_directory: PathBuf },
}

/// How the parcel travels back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carrier {
    /// A folder of the host, mounted as hostfs.
    Hostfs { folder: PathBuf },
    /// A raw block device of the guest.
    Disk { device: PathBuf },
}

/// A kernel module in the guest's file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    pub path: PathBuf,
    /// As in `rd_size=65536`, separated by spaces.
    pub parameters: String,
}

/// All that the guest's init needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub schema: u32,
    /// Tells this boot's marks and parcel from any other's.
    pub nonce: String,
    pub job: Job,
    pub deadline: Nanos,
    pub carrier: Carrier,
    /// Modules to load first, in this order.
    pub modules: Vec<Module>,
    /// Environment of the job.
    pub environment: BTreeMap<String, String>,
}

/// How far a guest came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The virtual machine's program was started.
    Launched,
    /// The kernel printed its first line.
    Kernel,
    /// Our init runs.
    Init,
    /// File systems, modules and the loopback device are there.
    Ready,
    /// The job was started.
    Job,
    /// The job has ended.
    Ended,
    /// The parcel is written.
    Delivered,
}

impl Stage {
    /// Those that init marks on the console.
    pub const MARKED: [Stage; 5] = [Stage::Init, Stage::Ready, Stage::Job, Stage::Ended, Stage::Delivered];

    pub fn name(self) -> &'static str {
        match self {
            Stage::Launched => "launched",
            Stage::Kernel => "kernel",
            Stage::Init => "init",
            Stage::Ready => "ready",
            Stage::Job => "job",
            Stage::Ended => "ended",
            Stage::Delivered => "delivered",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The console line that init prints on reaching `stage`.
pub fn mark(nonce: &str, stage: Stage) -> String {
    format!("run-bench guest {nonce} {stage}")
}

/// How the job ended, in the parcel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobEnd {
    pub schema: u32,
    pub nonce: String,
    /// Exit status; none when it could not be started or was killed.
    pub exit: Option<i32>,
    /// What went wrong, where something did.
    pub problem: Option<String>,
    /// The guest's uptime when init began, when the job was started and when it ended.
    pub init_at: Nanos,
    pub job_at: Nanos,
    pub ended_at: Nanos,
}

/// Name of the [`JobEnd`] in the parcel.
pub const END: &str = "end.json";
/// Folder in the parcel that holds what a trial wrote.
pub const OUT: &str = "out";
/// What the job printed, in the parcel.
pub const STDOUT: &str = "stdout";
pub const STDERR: &str = "stderr";
