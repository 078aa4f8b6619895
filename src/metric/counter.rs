//! Kernel counter names and whether they count up or show a level.
//!
//! The names are the kernel's own (`memory.stat`, `/proc/vmstat`, PSI), so that
//! simulated and measured series join by name.

/// How a counter's samples are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterKind {
    /// Only grows: use differences.
    Cumulative,
    /// A level at the moment of reading.
    Level,
}

/// The `memory.stat` names of cgroup v2 that are levels, in bytes. Others count events.
pub const MEMORY_STAT: &[&str] = &[
    "anon",
    "file",
    "kernel",
    "kernel_stack",
    "pagetables",
    "sec_pagetables",
    "percpu",
    "sock",
    "vmalloc",
    "shmem",
    "zswap",
    "zswapped",
    "file_mapped",
    "file_dirty",
    "file_writeback",
    "swapcached",
    "anon_thp",
    "file_thp",
    "shmem_thp",
    "inactive_anon",
    "active_anon",
    "inactive_file",
    "active_file",
    "unevictable",
    "slab_reclaimable",
    "slab_unreclaimable",
    "slab",
    // cgroup v1 spellings.
    "cache",
    "rss",
    "rss_huge",
    "mapped_file",
    "dirty",
    "writeback",
    "swap",
    "workingset_nodes",
];

/// Whether `name` (any of the readers' names, without prefix) is a level or a count.
pub fn counter_kind(name: &str) -> CounterKind {
    let bare = name.strip_prefix("total_").unwrap_or(name);
    let level = MEMORY_STAT.contains(&bare)
        || bare.starts_with("nr_")
            && !matches!(
                bare,
                "nr_dirtied" | "nr_written" | "nr_vmscan_write" | "nr_vmscan_immediate_reclaim"
            )
        || bare.ends_with("_avg10")
        || bare.ends_with("_usage");
    if level { CounterKind::Level } else { CounterKind::Cumulative }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_counts() {
        for level in ["inactive_anon", "nr_free_pages", "total_rss", "some_avg10", "memory_usage"] {
            assert_eq!(counter_kind(level), CounterKind::Level, "{level}");
        }
        for count in ["pgscan", "pgsteal_anon", "workingset_refault_file", "nr_vmscan_write", "pswpin"] {
            assert_eq!(counter_kind(count), CounterKind::Cumulative, "{count}");
        }
    }
}
