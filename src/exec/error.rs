//! Why a child could not be run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a child could not be started, supervised or ended.
#[derive(Debug, Error)]
pub enum ExecError {
    #[error("command has no program: argv is empty")]
    EmptyArgv,
    #[error("failed to start {program:?}; check that it is installed, executable and of this architecture")]
    Start { program: String, source: io::Error },
    /// The hidden sub-command could not prepare the process.
    #[error("could not run {program:?}: {reason}")]
    Enter { program: String, reason: String },
    #[error("failed to find this program's own executable, which prepares children")]
    OwnExecutable { source: io::Error },
    #[error("failed to {what} of {program:?}")]
    Pipe { program: String, what: &'static str, source: io::Error },
    #[error("failed to wait for {program:?} (pid {pid})")]
    Wait { program: String, pid: u32, source: io::Error },
    /// Killed, yet not gone: most often asleep in the kernel on a stuck device.
    #[error(
        "{program:?} (pid {pid}) has not ended {seconds} s after SIGKILL; it probably sleeps in the kernel on a stuck \
         device: see /proc/{pid}/stack and the kernel log, and reboot if it stays"
    )]
    Unkillable { program: String, pid: u32, seconds: u64 },
    #[error("failed to find {tool} in {places}; {remedy}, or name its folder in RUN_BENCH_TOOLS")]
    ToolMissing { tool: &'static str, places: String, remedy: &'static str },
    #[error("failed to read the version of {path:?}: it printed {seen:?}")]
    ToolVersion { path: PathBuf, seen: String },
}

impl ExecError {
    /// Whether there is no such program, which another try would not change.
    pub fn is_missing_program(&self) -> bool {
        match self {
            ExecError::ToolMissing { .. } => true,
            ExecError::Start { source, .. } => source.kind() == io::ErrorKind::NotFound,
            ExecError::Enter { reason, .. } => reason.starts_with(super::enter::NOT_FOUND),
            _ => false,
        }
    }
}
