//! `[workload.reclaim-probe]`: the time that reclaim takes for a page.

use serde::{Deserialize, Serialize};

use super::section::check_range;
use crate::units::{Bytes, Percent};

/// What the cgroup is filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Population {
    CleanFile,
    DirtyAnon,
    MappedFile,
}

/// Whether pages stand on the LRU list in the order of their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListOrder {
    #[default]
    Memory,
    Shuffled,
}

/// Built in: fill a cgroup, then time reclaim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReclaimProbeWorkload {
    pub population: Population,
    /// Memory that the population takes.
    pub size: Bytes,
    /// Memory that each timed step asks reclaim for.
    pub reclaim: Bytes,
    #[serde(default)]
    pub order: ListOrder,
    /// Share of pages that are referenced again after the fill.
    #[serde(default)]
    pub referenced: Percent,
    #[serde(default = "fifteen")]
    pub repetitions: u32,
}

fn fifteen() -> u32 {
    15
}

impl ReclaimProbeWorkload {
    pub fn validate(&self, problems: &mut Vec<crate::config::error::Problem>) {
        check_range("workload.reclaim-probe.size", self.size.0, 1 << 20, 1 << 44, problems);
        check_range("workload.reclaim-probe.reclaim", self.reclaim.0, 1 << 17, self.size.0, problems);
        check_range("workload.reclaim-probe.repetitions", self.repetitions.into(), 1, 10_000, problems);
        if !(0.0..=100.0).contains(&self.referenced.0) {
            problems.push(crate::config::error::Problem::new(
                "workload.reclaim-probe.referenced",
                "write \"0%\" to \"100%\"",
            ));
        }
    }
}
