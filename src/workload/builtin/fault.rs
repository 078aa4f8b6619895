//! Why a built-in driver gave up; the text goes to its standard error.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use thiserror::Error;

/// A fault inside a driver process.
#[derive(Debug, Error)]
pub(crate) enum DriverFault {
    #[error("the request on the command line cannot be read: {0}")]
    Request(String),
    #[error("failed to {what} {path:?}: {source}")]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("failed to {what}: {source}")]
    Call { what: &'static str, source: io::Error },
    #[error("task {index} of {tasks} {how}")]
    Task { index: u32, tasks: u32, how: String },
    /// Said in full by who refuses.
    #[error("{0}")]
    Refused(String),
}

impl DriverFault {
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| DriverFault::File { what, path: path.to_owned(), source }
    }

    pub(crate) fn call<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |source| DriverFault::Call { what, source: source.into() }
    }
}
