//! What can go wrong with the host, told with the path, the reason and the remedy.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A failed read or change of the host.
#[derive(Debug, Error)]
pub enum HostError {
    #[error("cannot read {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {value:?} to {path}: {source}", path = path.display())]
    Write { path: PathBuf, value: String, source: io::Error },
    #[error(
        "{path} reads {found:?} after {wrote:?} was written; the kernel did not take the value, so the run would measure something else",
        path = path.display()
    )]
    ReadBack { path: PathBuf, wrote: String, found: String },
    #[error("cannot make sense of {path}: {what}", path = path.display())]
    Parse { path: PathBuf, what: String },
    #[error("{call} {subject} failed: {source}")]
    Syscall { call: &'static str, subject: String, source: io::Error },
    #[error("command `{command}` failed: {outcome}")]
    Command { command: String, outcome: String },
    #[error(
        "no memory cgroup controller: {seen}; a limit cannot be set without one; boot with `cgroup_enable=memory` or enable CONFIG_MEMCG"
    )]
    NoMemoryController { seen: String },
    #[error(
        "may not create cgroups below {path}: {seen}; {remedy}",
        path = path.display()
    )]
    NotDelegated { path: PathBuf, seen: String, remedy: String },
    #[error(
        "cannot enable the memory controller in {path}: it holds processes other than ours ({processes}), and cgroup v2 gives controllers only to children of a cgroup without processes; start in a scope of its own: `systemd-run --scope -p Delegate=yes run-bench …`",
        path = path.display()
    )]
    InternalProcesses { path: PathBuf, processes: String },
    #[error("{what} is not available here: {why}; {remedy}")]
    Unsupported { what: &'static str, why: String, remedy: String },
    #[error("may not {action}: it needs CAP_SYS_ADMIN; run as root: `sudo run-bench …`")]
    Privilege { action: &'static str },
    #[error("refused to {action} {subject}: {why}")]
    Refused { action: &'static str, subject: String, why: String },
    #[error("{subject} stayed busy after {tries} tries: {why}")]
    Busy { subject: String, tries: u32, why: String },
    #[error("{what} did not end within {seconds} s; the host is left as it is; look at {subject}")]
    Deadline { what: &'static str, subject: String, seconds: u64 },
    #[error(
        "the host is held by {holder}; two runs at once would disturb each other; wait for it, or end it and run `run-bench clean`"
    )]
    Locked { holder: String },
    #[error(
        "the host is not as it was before an earlier run: {left}; numbers measured now would not compare; fix the cause and run `run-bench clean`"
    )]
    Dirty { left: String },
    #[error("undo journal {path}: {what}", path = path.display())]
    Journal { path: PathBuf, what: String },
    #[error("stopped at injected crash point {step} ({at})")]
    CrashPoint { step: u64, at: String },
}

impl HostError {
    /// The operating system's error number, where there is one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            HostError::Read { source, .. }
            | HostError::Write { source, .. }
            | HostError::Syscall { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }

    /// Whether the cause was a missing file or device.
    pub fn is_not_found(&self) -> bool {
        match self {
            HostError::Read { source, .. }
            | HostError::Write { source, .. }
            | HostError::Syscall { source, .. } => {
                source.kind() == io::ErrorKind::NotFound
                    || source.raw_os_error() == Some(rustix::io::Errno::NODEV.raw_os_error())
            }
            _ => false,
        }
    }

    /// Whether the cause was a resource in use.
    pub fn is_busy(&self) -> bool {
        self.errno() == Some(rustix::io::Errno::BUSY.raw_os_error())
    }
}
