//! What keeps a trial from leaving a record.

use thiserror::Error;

use crate::host::HostError;
use crate::store::StoreError;

/// A failure so early or so deep that there is no record. Everything later is
/// an outcome of the record instead.
#[derive(Debug, Error)]
pub enum TrialError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("perf did not end: {0}")]
    Perf(crate::exec::ExecError),
    #[error("cannot find the path of the running program: {0}")]
    OwnExecutable(std::io::Error),
}
