//! Which files are sampled and what is kept of them.

use std::path::PathBuf;

use crate::host::SysRoot;
use crate::host::cgroup::MemoryCgroup;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// `name value` lines.
    Keyed,
    /// One number.
    Single,
    /// A PSI file; total stall times are kept.
    Pressure,
}

/// A file to sample.
#[derive(Debug, Clone)]
pub struct Source {
    /// First part of its counters' names.
    pub name: &'static str,
    pub path: PathBuf,
    pub format: SourceFormat,
    /// Beginnings of the names that are kept.
    pub keep: &'static [&'static str],
}

impl Source {
    pub(super) fn keeps(&self, name: &str) -> bool {
        self.keep.iter().any(|start| name.starts_with(start))
    }
}

/// What reclaim, swap and allocation count in `/proc/vmstat`.
const VMSTAT: &[&str] = &[
    "pg",
    "pswp",
    "workingset_",
    "allocstall",
    "slabs_scanned",
    "kswapd_",
    "pageoutrun",
    "nr_free_pages",
    "nr_inactive_",
    "nr_active_",
    "nr_dirty",
    "nr_writeback",
    "nr_vmscan_",
    "nr_isolated_",
    "nr_swapcached",
    "swap_ra",
    "thp_swpout",
    "compact_",
    "numa_hint",
    "numa_pages_migrated",
    "oom_kill",
    "zswp",
    "drop_",
];

/// Everything in `memory.stat` except what no reclaim question needs.
const MEMORY_STAT: &[&str] = &[""];

/// The sources of a trial: the whole host, and its cgroup where it has one.
pub fn standard_sources(root: &SysRoot, cgroup: Option<&MemoryCgroup>) -> Vec<Source> {
    let mut sources = vec![
        Source { name: "vmstat", path: root.path("/proc/vmstat"), format: SourceFormat::Keyed, keep: VMSTAT },
        Source {
            name: "psi_memory",
            path: root.path("/proc/pressure/memory"),
            format: SourceFormat::Pressure,
            keep: &[],
        },
    ];
    if let Some(cgroup) = cgroup {
        let folder = root.path(cgroup.dir());
        let single = |name, file: &str| Source {
            name,
            path: folder.join(file),
            format: SourceFormat::Single,
            keep: &[],
        };
        sources.push(Source {
            name: "memory_stat",
            path: folder.join("memory.stat"),
            format: SourceFormat::Keyed,
            keep: MEMORY_STAT,
        });
        if cgroup.is_v2() {
            sources.push(single("memory_current", "memory.current"));
            sources.push(single("memory_swap_current", "memory.swap.current"));
            sources.push(Source {
                name: "memory_events",
                path: folder.join("memory.events"),
                format: SourceFormat::Keyed,
                keep: &[""],
            });
            sources.push(Source {
                name: "cgroup_psi_memory",
                path: folder.join("memory.pressure"),
                format: SourceFormat::Pressure,
                keep: &[],
            });
        } else {
            sources.push(single("memory_current", "memory.usage_in_bytes"));
            sources.push(single("memory_failcnt", "memory.failcnt"));
        }
    }
    sources
}
