//! The registry of patches that the model knows, each a flag over a version.
//!
//! To add one: a variant and a row here, and the lines in the module that it
//! changes (for reclaim, `rules.rs` says what the flag turns on).

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Flag {
    BatchedCounters,
    BulkMove,
    NextFolioPrefetch,
    AgingFeedback,
    TypeSelection,
    RefaultDetection,
    WorkingsetProtectionPosted,
    WorkingsetProtectionMerged,
    TestBeforeSet,
    PcpKeepOnExit,
    PcpCacheSlice,
    PcpKeepHighOrderBatch,
    PcpRestrictScale,
    PcpScaleAllocate,
    PcpHighRange,
    PcpTuneHigh,
    PcpShrinkBelowHigh,
    PcpFreeCount,
    PcpFreeHighThreshold,
}

/// What a flag is called and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlagRow {
    pub flag: Flag,
    pub name: &'static str,
    /// What the patch changes, in a line.
    pub summary: &'static str,
    /// The subject of the patch, without its prefix.
    pub subject: &'static str,
}

const fn row(flag: Flag, name: &'static str, summary: &'static str, subject: &'static str) -> FlagRow {
    FlagRow { flag, name, summary, subject }
}

/// Every flag, in the order of the enum.
pub const REGISTRY: [FlagRow; 19] = [
    row(
        Flag::BatchedCounters,
        "batched-counters",
        "size updates of folios moved to the next generation once per list",
        "batch update counters on aging",
    ),
    row(
        Flag::BulkMove,
        "bulk-move",
        "one list operation for a run of folios moved to the next generation; keeps their order",
        "try to do bulk moving when aging",
    ),
    row(
        Flag::NextFolioPrefetch,
        "next-folio-prefetch",
        "prefetch of the next folio in scan_folios and inc_min_seq",
        "try to prefetch next page upon folio aging",
    ),
    row(
        Flag::AgingFeedback,
        "aging-feedback",
        "aging by the number of generations; types move apart",
        "rework aging feedback",
    ),
    row(
        Flag::TypeSelection,
        "type-selection",
        "the type to evict by the sum over tiers",
        "rework type selection",
    ),
    row(
        Flag::RefaultDetection,
        "refault-detection",
        "a refault is recent within four generations of the youngest",
        "rework refault detection",
    ),
    row(
        Flag::WorkingsetProtectionPosted,
        "workingset-protection-posted",
        "two-step promotion and the workingset flag, version 3 of the series",
        "rework workingset protection",
    ),
    row(
        Flag::WorkingsetProtectionMerged,
        "workingset-protection",
        "two-step promotion and the workingset flag, as merged",
        "rework workingset protection",
    ),
    row(
        Flag::TestBeforeSet,
        "test-before-set",
        "no atomic write for a folio that already has the workingset flag",
        "fix pread2 regression",
    ),
    row(
        Flag::PcpKeepOnExit,
        "pcp-keep-on-exit",
        "drain on the second high-order free in a row only",
        "avoid to drain PCP when process exit",
    ),
    row(
        Flag::PcpCacheSlice,
        "pcp-cache-slice",
        "size of the data cache slice of each processor",
        "calculate size of per-CPU data cache slice",
    ),
    row(
        Flag::PcpKeepHighOrderBatch,
        "pcp-keep-high-order-batch",
        "keep a batch of high-order pages where the cache slice is large",
        "reduce lock contention for draining high-order pages",
    ),
    row(
        Flag::PcpRestrictScale,
        "pcp-restrict-scale",
        "limit of the batch scale factor",
        "restrict the pcp batch scale factor to avoid too long latency",
    ),
    row(
        Flag::PcpScaleAllocate,
        "pcp-scale-allocate",
        "scale the pages of a refill",
        "scale the number of pages that are batch allocated",
    ),
    row(
        Flag::PcpHighRange,
        "pcp-high-range",
        "lower and upper bound of the high mark",
        "add framework for PCP high auto-tuning",
    ),
    row(Flag::PcpTuneHigh, "pcp-tune-high", "tune the high mark", "tune PCP high automatically"),
    row(
        Flag::PcpShrinkBelowHigh,
        "pcp-shrink-below-high",
        "lower the high mark when the zone is below its high watermark",
        "decrease PCP high if free pages < high watermark",
    ),
    row(
        Flag::PcpFreeCount,
        "pcp-free-count",
        "count pages freed in a row, not drains",
        "reduce detecting time of consecutive high order page freeing",
    ),
    row(
        Flag::PcpFreeHighThreshold,
        "pcp-free-high-threshold",
        "high-order drain only after half of the lower bound more",
        "use higher threshold for high-order flush",
    ),
];

/// A set of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(u32);

/// A name that is no flag.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{name:?} is no patch that the model knows, so it cannot be simulated; known are: {known}")]
pub struct UnknownFlag {
    pub name: String,
    pub known: String,
}

impl Flag {
    pub fn row(self) -> &'static FlagRow {
        &REGISTRY[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Flag {
    type Err = UnknownFlag;

    fn from_str(text: &str) -> Result<Self, UnknownFlag> {
        let found = REGISTRY.iter().find(|r| r.name == text);
        found
            .map(|r| r.flag)
            .ok_or_else(|| UnknownFlag { name: text.to_owned(), known: REGISTRY.map(|r| r.name).join(", ") })
    }
}

impl Flags {
    pub const NONE: Flags = Flags(0);

    pub const fn has(self, flag: Flag) -> bool {
        self.0 & (1 << flag as u8) != 0
    }

    #[must_use]
    pub const fn with(self, flag: Flag) -> Self {
        Flags(self.0 | 1 << flag as u8)
    }

    #[must_use]
    pub const fn without(self, flag: Flag) -> Self {
        Flags(self.0 & !(1 << flag as u8))
    }

    pub fn iter(self) -> impl Iterator<Item = Flag> {
        REGISTRY.iter().map(|r| r.flag).filter(move |f| self.has(*f))
    }
}

impl FromIterator<Flag> for Flags {
    fn from_iter<I: IntoIterator<Item = Flag>>(flags: I) -> Self {
        flags.into_iter().fold(Flags::NONE, Flags::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_enum() {
        for (i, row) in REGISTRY.iter().enumerate() {
            assert_eq!(row.flag as usize, i, "{}", row.name);
            assert_eq!(row.name.parse(), Ok(row.flag));
        }
    }

    #[test]
    fn sets_add_and_remove() {
        let set: Flags = [Flag::BulkMove, Flag::PcpFreeCount].into_iter().collect();
        assert!(set.has(Flag::BulkMove) && !set.has(Flag::TypeSelection));
        assert_eq!(set.without(Flag::BulkMove).iter().collect::<Vec<_>>(), [Flag::PcpFreeCount]);
        assert!("bulk".parse::<Flag>().unwrap_err().to_string().contains("bulk-move"));
    }
}
