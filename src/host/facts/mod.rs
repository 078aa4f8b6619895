//! What this host is: stored with every result, compared before two results are.

mod cpu;
mod machine;
mod paging;
mod reclaimer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cgroup::CgroupLayout;
use super::reader::{Meminfo, swaps};
use super::root::SysRoot;
use crate::units::Bytes;

pub use cpu::{CpuFacts, NodeFacts};
pub use machine::{KernelFacts, LimitFacts, MachineFacts, clocksource, mitigations};
pub use paging::PagingFacts;
pub use reclaimer::{Reclaimer, ReclaimerKind, reclaimers};

/// The version of [`HostFacts`] on disk.
const SCHEMA: u32 = 1;

/// One swap area that is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwapFacts {
    pub path: PathBuf,
    pub size: Bytes,
    pub used: Bytes,
    pub priority: i32,
}

/// Memory and the disk that results go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacityFacts {
    pub memory_total: Option<Bytes>,
    pub memory_available: Option<Bytes>,
    pub disk_available: Option<Bytes>,
    pub swaps: Vec<SwapFacts>,
}

/// Where the memory controller is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CgroupFacts {
    /// `v1`, `v2`, `hybrid`; absent without a memory controller.
    pub layout: Option<String>,
    pub memory_mount: Option<PathBuf>,
    /// Why there is none.
    pub problem: Option<String>,
    /// Memory cgroups that exist, the dying ones too; tens of thousands slow reclaim.
    pub memory_cgroups: Option<u64>,
}

/// Everything about the host that may matter to a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    pub schema: u32,
    pub machine: MachineFacts,
    pub kernel: KernelFacts,
    pub cpu: CpuFacts,
    pub capacity: CapacityFacts,
    pub paging: PagingFacts,
    pub cgroup: CgroupFacts,
    pub limits: LimitFacts,
    pub reclaimers: Vec<Reclaimer>,
    /// Whether all processes could be looked at for reclaimers.
    pub reclaimers_complete: bool,
}

impl HostFacts {
    /// Reads the host; `results` is where results would be written. What
    /// cannot be read is absent, never guessed.
    pub fn gather(root: &SysRoot, results: &Path) -> Self {
        let (reclaimers, reclaimers_complete) = reclaimers(root);
        HostFacts {
            schema: SCHEMA,
            machine: MachineFacts::gather(root),
            kernel: KernelFacts::gather(root),
            cpu: CpuFacts::gather(root),
            capacity: capacity(root, results),
            paging: PagingFacts::gather(root),
            cgroup: cgroup(root),
            limits: LimitFacts::gather(),
            reclaimers,
            reclaimers_complete,
        }
    }
}

fn capacity(root: &SysRoot, results: &Path) -> CapacityFacts {
    let meminfo = Meminfo::read(root).unwrap_or_default();
    let active = swaps(root).unwrap_or_default().into_iter().map(|swap| SwapFacts {
        path: swap.path,
        size: swap.size,
        used: swap.used,
        priority: swap.priority,
    });
    // The folder may not exist yet: its nearest ancestor is on the same disk.
    let existing = results.ancestors().find(|folder| folder.is_dir());
    let disk = existing.and_then(|folder| rustix::fs::statvfs(folder).ok());
    CapacityFacts {
        memory_total: meminfo.get("MemTotal"),
        memory_available: meminfo.get("MemAvailable"),
        disk_available: disk.map(|disk| Bytes(disk.f_bavail.saturating_mul(disk.f_frsize))),
        swaps: active.collect(),
    }
}

fn cgroup(root: &SysRoot) -> CgroupFacts {
    let table = root.read("/proc/cgroups").unwrap_or_default();
    let row = table.lines().find(|line| line.split_ascii_whitespace().next() == Some("memory"));
    let memory_cgroups =
        row.and_then(|line| line.split_ascii_whitespace().nth(2)).and_then(|count| count.parse().ok());
    match CgroupLayout::detect(root) {
        Ok(layout) => CgroupFacts {
            layout: Some(layout.name().to_owned()),
            memory_mount: Some(layout.memory_mount().to_owned()),
            problem: None,
            memory_cgroups,
        },
        Err(error) => {
            CgroupFacts { layout: None, memory_mount: None, problem: Some(error.to_string()), memory_cgroups }
        }
    }
}
