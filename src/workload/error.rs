//! Why a workload could not be run at all.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::exec::Ended;
use crate::exec::ExecError;
use crate::units::Nanos;

/// A fault that leaves no numbers. Numbers that cannot be trusted are an
/// [`Outcome`](super::Outcome) with violations instead.
#[derive(Debug, Error)]
pub enum WorkloadError {
    #[error("workload was cancelled")]
    Cancelled,
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error("failed to {what} {path:?}")]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    /// What was asked cannot be run here; the text says what to change.
    #[error("{0}")]
    Refused(String),
    /// Neither kernel nor tool can do this; the run is skipped, not failed.
    #[error("skipped, unsupported: {reason}")]
    Unsupported { reason: String },
    #[error("{what} was not ready after {after}: {evidence}")]
    NotReady { what: String, after: Nanos, evidence: String },
    #[error("{what} ended before its time ({ended:?}): {evidence}")]
    Died { what: String, ended: Ended, evidence: String },
    #[error("failed to read the output of {tool}: {reason}; it begins with {excerpt:?}")]
    Output { tool: &'static str, reason: String, excerpt: String },
}

impl WorkloadError {
    /// An [`WorkloadError::Output`] with the first part of what was printed.
    pub fn output(tool: &'static str, reason: impl Into<String>, printed: &str) -> Self {
        let excerpt = printed.trim_start().chars().take(200).collect();
        WorkloadError::Output { tool, reason: reason.into(), excerpt }
    }
}
