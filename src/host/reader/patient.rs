//! Reads of other processes' files that may hang for ever when their owner is
//! stuck: done in a thread that is left behind at a deadline.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::error::HostError;
use super::super::root::SysRoot;

/// A file's text, or an error at the deadline. The reading thread is then
/// left behind; it ends when the kernel lets go of it.
pub fn read_with_deadline(
    root: &SysRoot,
    path: impl AsRef<Path>,
    deadline: Duration,
) -> Result<String, HostError> {
    let path = path.as_ref().to_owned();
    let (sender, receiver) = mpsc::channel();
    let (own, target) = (root.clone(), path.clone());
    thread::spawn(move || sender.send(own.read(target)));
    receiver.recv_timeout(deadline).unwrap_or_else(|_| {
        Err(HostError::Deadline {
            what: "reading",
            subject: root.path(&path).display().to_string(),
            seconds: deadline.as_secs(),
        })
    })
}

/// The names of the running processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessNames {
    /// Pid and name, by pid.
    pub names: Vec<(u32, String)>,
    /// Whether all could be read before the deadline.
    pub complete: bool,
}

impl ProcessNames {
    /// The pids of processes with this name.
    pub fn pids(&self, name: &str) -> Vec<u32> {
        self.names.iter().filter(|(_, found)| found == name).map(|(pid, _)| *pid).collect()
    }
}

/// Reads every `/proc/PID/comm` that can be read before the deadline.
pub fn process_names(root: &SysRoot, deadline: Duration) -> ProcessNames {
    let (sender, receiver) = mpsc::channel();
    let own = root.clone();
    thread::spawn(move || {
        let mut pids: Vec<u32> = own.names("/proc").iter().filter_map(|name| name.parse().ok()).collect();
        pids.sort_unstable();
        for pid in pids {
            // A process that has ended meanwhile has no name.
            if let Some(name) = own.value(format!("/proc/{pid}/comm"))
                && sender.send((pid, name)).is_err()
            {
                return;
            }
        }
    });
    let end = Instant::now() + deadline;
    let mut found = ProcessNames::default();
    loop {
        match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(pair) => found.names.push(pair),
            Err(RecvTimeoutError::Disconnected) => {
                found.complete = true;
                return found;
            }
            Err(RecvTimeoutError::Timeout) => return found,
        }
    }
}
