//! `[workload.file-read]`: buffered reads of a file larger than the memcg.

use serde::{Deserialize, Serialize};

use super::section::check_range;
use super::usemem::AccessOrder;
use crate::units::{Bytes, Nanos};

/// Built in and without need of privilege: tasks that `pread` a file of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FileReadWorkload {
    pub tasks: u32,
    /// Size of the file that all tasks share.
    pub size: Bytes,
    #[serde(default)]
    pub order: AccessOrder,
    #[serde(default = "block")]
    pub block: Bytes,
    pub duration: Nanos,
    /// Reading before the measured interval.
    #[serde(default)]
    pub warm_up: Nanos,
}

fn block() -> Bytes {
    Bytes::kib(4)
}

impl FileReadWorkload {
    pub fn validate(&self, problems: &mut Vec<crate::config::error::Problem>) {
        check_range("workload.file-read.tasks", self.tasks.into(), 1, 1024, problems);
        check_range("workload.file-read.block", self.block.0, 512, 1 << 24, problems);
        check_range("workload.file-read.size", self.size.0, self.block.0, 1 << 46, problems);
        check_range(
            "workload.file-read.duration",
            self.duration.0,
            100_000_000,
            86_400_000_000_000,
            problems,
        );
    }
}
