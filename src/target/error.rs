//! Why a trial could not be run where it should.

use thiserror::Error;

use crate::exec::ExecError;
use crate::store::StoreError;

/// A failure of the place, not of the trial.
#[derive(Debug, Error)]
pub enum TargetError {
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot find the path of the running program: {0}; start it by its full path")]
    OwnExecutable(std::io::Error),
    /// The host could not be restored after a trial was killed.
    #[error(
        "the host could not be restored after a killed trial: {0}; run `run-bench clean` and see what it says"
    )]
    Dirty(String),
}
