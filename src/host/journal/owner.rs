//! Which process owns a journal or a lock, and whether it still lives.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::error::HostError;
use super::super::reader::process_stat;
use super::super::root::SysRoot;

/// A process, named for good: pids are given again, start times are not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// Clock ticks after boot.
    pub start_time: u64,
    pub boot_id: String,
}

impl Owner {
    /// The calling process.
    pub fn current(root: &SysRoot) -> Result<Self, HostError> {
        let pid = std::process::id();
        Ok(Owner { pid, start_time: process_stat(root, pid)?.start_time, boot_id: boot_id(root)? })
    }

    pub fn is_of_this_boot(&self, root: &SysRoot) -> Result<bool, HostError> {
        Ok(self.boot_id == boot_id(root)?)
    }

    /// Whether the very same process still runs.
    pub fn is_alive(&self, root: &SysRoot) -> Result<bool, HostError> {
        if !self.is_of_this_boot(root)? {
            return Ok(false);
        }
        match process_stat(root, self.pid) {
            // A zombie changes nothing any more.
            Ok(stat) => Ok(stat.start_time == self.start_time && !matches!(stat.state, 'Z' | 'X')),
            Err(HostError::Read { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)
    }
}

fn boot_id(root: &SysRoot) -> Result<String, HostError> {
    Ok(root.read("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}
