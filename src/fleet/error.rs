//! Why a fleet cannot start or go on.

use std::path::PathBuf;

use thiserror::Error;

use crate::campaign::CampaignError;
use crate::exec::ExecError;
use crate::store::StoreError;

/// A failure of the fleet itself; a block that does not come is missing instead.
#[derive(Debug, Error)]
pub enum FleetError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    #[error(
        "{program} could not be run: {source}; a fleet needs Slurm's commands on this host (Debian: slurm-client)"
    )]
    NoSlurm { program: String, source: ExecError },
    #[error("`{command}` ended with {ended}: {said}; see whether `sinfo` works here, and slurmctld's log")]
    Slurm { command: String, ended: String, said: String },
    #[error("`{command}` said {said:?}, which is not understood; this was written for Slurm 22.05 and later")]
    Answer { command: String, said: String },
    #[error(
        "the partition has no usable node{with}: {seen}; see `sinfo -R`, or change fleet.partition and fleet.class"
    )]
    NoNodes { with: String, seen: String },
    #[error(
        "class {class:?} needs {wanted} fit host(s) and has {found}: {unfit}; mend them, or lower fleet.class.hosts"
    )]
    TooFewHosts { class: String, wanted: u32, found: usize, unfit: String },
    #[error("stopped while the nodes were asked; the same command asks again")]
    Cancelled,
    #[error("{path} does not list task {task}; the submission was written by another run-bench", path = path.display())]
    NoSuchTask { path: PathBuf, task: u32 },
    #[error("{what} is not set; this command is started by Slurm, and by nothing else")]
    NotATask { what: &'static str },
    #[error("the submitting host copied no program to {path}: {source}; name one that all nodes have with fleet.program", path = path.display())]
    Program { path: PathBuf, source: std::io::Error },
}
