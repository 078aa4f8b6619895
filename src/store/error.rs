//! Why results could not be written or read.

use std::path::PathBuf;

use thiserror::Error;

/// A failure of the results folder.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("cannot {action} {path}: {source}{remedy}", path = path.display(), remedy = remedy(source))]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{path} is not a valid {what}: {source}", path = path.display())]
    Json { what: &'static str, path: PathBuf, source: serde_json::Error },
    #[error("{path}, line {line} is not a journal entry: {source}; only the last line may be torn by a crash", path = path.display())]
    JournalLine { path: PathBuf, line: usize, source: serde_json::Error },
    #[error(
        "{path} has schema {found}, newer than {known}, the newest this version reads; read it with the run-bench that wrote it, or a newer one",
        path = path.display()
    )]
    NewerSchema { path: PathBuf, found: u32, known: u32 },
    #[error("{path} is a symbolic link; results are never followed through links: remove it or choose another folder with --results", path = path.display())]
    Link { path: PathBuf },
    #[error("{path} is no campaign: it has no manifest.json; give the folder that `run-bench run` printed", path = path.display())]
    NoCampaign { path: PathBuf },
    #[error("the campaign {path} is in use by process {pid}; wait for it, or stop it first", path = path.display())]
    Locked { path: PathBuf, pid: String },
    #[error("{name:?} cannot be part of a results path; use a-z, 0-9, '-', '_' and '.'")]
    Name { name: String },
}

/// What to do about the errors that users meet most.
fn remedy(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "; free space or choose another disk with --results, then run the same command to resume"
        }
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
            "; choose a writable folder with --results"
        }
        _ => "",
    }
}

impl StoreError {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> StoreError {
        let path = path.into();
        move |source| StoreError::Io { action, path, source }
    }
}
