//! Why a trial could not be run where it should.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::boot::BootError;
use super::guest::ParcelError;
use super::kernel::KernelError;
use crate::exec::ExecError;
use crate::store::StoreError;
use crate::units::Bytes;

/// A failure of the place, not of the trial.
#[derive(Debug, Error)]
pub enum TargetError {
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot find the path of the running program: {0}; start it by its full path")]
    OwnExecutable(std::io::Error),
    #[error("failed to {what} {path}: {source}", path = path.display())]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Parcel(#[from] ParcelError),
    #[error(
        "{path} cannot stand on a kernel command line, which guests are told their folder by; set TMPDIR to an \
         absolute path of letters, digits, '/', '-', '_' and '.'",
        path = path.display()
    )]
    ExchangePath { path: PathBuf },
    #[error(
        "no tmpfs has room for the guest's {memory} of memory: {seen}; lower target.memory, or enlarge /dev/shm \
         (mount -o remount,size=…)"
    )]
    GuestMemory { memory: Bytes, seen: String },
    #[error(
        "the probe maps {needed} single pages in shuffled order, and this host lets a User-Mode Linux process have {limit} \
         mappings; shrink the experiment (--scale), or raise the limit (sysctl vm.max_map_count={needed})"
    )]
    Mappings { needed: u64, limit: u64 },
    #[error(
        "the guest's command line is {length} bytes long and may be {longest}; shorten kernel-arguments or TMPDIR"
    )]
    CommandLine { length: usize, longest: usize },
    #[error("{machine}: {failure} ({status}); the last it printed:\n{console}", machine = machine.display())]
    Guest { machine: PathBuf, failure: String, status: String, console: String },
    #[error(
        "arm {arm:?} asks for kernel {kernel:?}, patches or kernel arguments, and target.kind = \"host\" has only the \
         running kernel; write kind = \"uml\", \"vm\" or \"boot\" in [target]"
    )]
    OtherKernelOnHost { arm: String, kernel: String },
    #[error(
        "arm {arm:?} asks for the running kernel, which cannot be booted as a guest; give the path of an image, such as /boot/vmlinuz-…, or a tree"
    )]
    NoImage { arm: String },
    #[error("no target was prepared for arm {arm:?}: the plan changed since the campaign began")]
    Arm { arm: String },
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error("the kernel module {path} cannot be unpacked: {said}", path = path.display())]
    Module { path: PathBuf, said: String },
    #[error("the libraries of {program}, which a guest needs, cannot be found: {said}", program = program.display())]
    Libraries { program: PathBuf, said: String },
    #[error(
        "qemu-system-x86_64 is not in PATH, and target.kind = \"vm\" runs guests with it; install it (Debian: qemu-system-x86)"
    )]
    NoQemu,
    #[error(
        "this host is in use by {holder}; two campaigns at once would measure each other: wait for it ({path})",
        path = path.display()
    )]
    HostInUse { holder: String, path: PathBuf },
    /// The host could not be restored after a trial was killed.
    #[error(
        "the host could not be restored after a killed trial: {0}; run `run-bench clean` and see what it says"
    )]
    Dirty(String),
    #[error("the file system for the block could not be made: {0}")]
    Fixture(String),
}

impl TargetError {
    /// Whether the experiment or the options are to be changed, not the host.
    pub fn is_usage(&self) -> bool {
        match self {
            TargetError::Kernel(error) => error.is_usage(),
            TargetError::Boot(error) => error.is_usage(),
            TargetError::OtherKernelOnHost { .. }
            | TargetError::NoImage { .. }
            | TargetError::Mappings { .. }
            | TargetError::CommandLine { .. } => true,
            _ => false,
        }
    }

    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> TargetError {
        let path = path.to_owned();
        move |source| TargetError::Io { what, path, source }
    }
}
