//! Why a kernel could not be read, built or found.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::exec::ExecError;

/// A failure of kernels as arms.
#[derive(Debug, Error)]
pub enum KernelError {
    #[error("failed to {what} {path}: {source}", path = path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error(
        "{path} is {seen}; an arm's kernel is an x86-64 bzImage (a vmlinuz) or a User-Mode Linux program for x86-64",
        path = path.display()
    )]
    Image { path: PathBuf, seen: String },
}

impl KernelError {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KernelError {
        let path = path.to_owned();
        move |source| KernelError::Io { what, path, source }
    }
}
