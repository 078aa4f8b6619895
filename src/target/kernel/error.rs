//! Why a kernel could not be read, built or found.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::image::KernelKind;
use crate::exec::{Ended, ExecError};
use crate::store::StoreError;

/// A failure of kernels as arms.
#[derive(Debug, Error)]
pub enum KernelError {
    #[error("failed to {what} {path}: {source}", path = path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to {doing}: {program} {how}: {said}", how = describe(*ended))]
    Tool { doing: String, program: String, ended: Ended, said: String },
    #[error("{path} {what}", path = path.display())]
    Tree { path: PathBuf, what: &'static str },
    #[error("{folder} has no revision {revision:?}; see `git -C {folder} branch -a` and `git tag`, or fetch it first", folder = folder.display())]
    Revision { revision: String, folder: PathBuf },
    #[error("{patch} does not apply: {what}", patch = patch.display())]
    Patch { patch: PathBuf, what: String },
    #[error("the kernel does not build: make {how}:\n{complaint}\nthe whole output is in {log}", how = describe(*ended), log = log.display())]
    Build { ended: Ended, complaint: String, log: PathBuf },
    #[error("the kernel {name:?} cannot be found: {why}")]
    Unresolved { name: String, why: String },
    #[error("{path} is {what}, which this target does not boot; write target.kind = \"uml\" for User-Mode Linux, \"vm\" or \"boot\" for a bzImage", path = path.display(), what = kind_name(*found))]
    Kind { path: PathBuf, found: KernelKind },
    #[error(
        "kernels are kept in a cache folder, and neither RUN_BENCH_CACHE, XDG_CACHE_HOME nor HOME says where; set one"
    )]
    NoCache,
    #[error("the kernel in {folder} is damaged: its image is not the one that was built; remove the folder and build it again", folder = folder.display())]
    Damaged { folder: PathBuf },
    #[error("{folder} is held by {holder}; kernels are built one at a time: wait for it", folder = folder.display())]
    Locked { folder: PathBuf, holder: String },
    #[error(
        "{path} is {seen}; an arm's kernel is an x86-64 bzImage (a vmlinuz) or a User-Mode Linux program for x86-64",
        path = path.display()
    )]
    Image { path: PathBuf, seen: String },
}

impl KernelError {
    /// Whether the experiment or the options are to be changed, not the host.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            KernelError::Tree { .. }
                | KernelError::Revision { .. }
                | KernelError::Patch { .. }
                | KernelError::Unresolved { .. }
                | KernelError::Kind { .. }
                | KernelError::Image { .. }
        )
    }

    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KernelError {
        let path = path.to_owned();
        move |source| KernelError::Io { what, path, source }
    }
}

fn describe(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("ended with status {code}"),
        Ended::Signalled(signal) => format!("was killed by signal {signal}"),
        Ended::Deadline => "took too long and was killed".to_owned(),
        Ended::NoProgress => "made no progress and was killed".to_owned(),
        Ended::Cancelled => "was stopped".to_owned(),
    }
}

fn kind_name(kind: KernelKind) -> &'static str {
    match kind {
        KernelKind::Uml => "a User-Mode Linux program",
        KernelKind::X86 => "an x86-64 bzImage",
    }
}
