//! `[workload.usemem]`: processes that touch anonymous memory.

use serde::{Deserialize, Serialize};

use super::section::check_range;
use crate::units::Bytes;

/// In which order pages are touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessOrder {
    #[default]
    Sequential,
    Random,
}

/// Built in: N processes, each touching its own memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UsememWorkload {
    pub processes: u32,
    /// Memory of each process.
    pub size: Bytes,
    #[serde(default)]
    pub order: AccessOrder,
    /// Times that all of it is touched.
    #[serde(default = "one")]
    pub passes: u32,
}

fn one() -> u32 {
    1
}

impl UsememWorkload {
    pub fn validate(&self, problems: &mut Vec<crate::config::error::Problem>) {
        check_range("workload.usemem.processes", self.processes.into(), 1, 4096, problems);
        check_range("workload.usemem.size", self.size.0, 1 << 16, 1 << 46, problems);
        check_range("workload.usemem.passes", self.passes.into(), 1, 100_000, problems);
    }
}
