//! Which rules a kernel's per-CPU page lists follow: one switch for each patch,
//! and the sets that releases carry.
//!
//! A switch says what the code does, never what it should gain. The names
//! follow the subjects of the v6.7 series (`mm/page_alloc.c`).

use thiserror::Error;

use crate::model::flag::{Flag, Flags};
use crate::model::version::Version;

/// `CONFIG_PCP_BATCH_SCALE_MAX`: how often a batch may double.
pub const PCP_BATCH_SCALE_MAX: u32 = 5;

/// The behaviour of one kernel. Every field is one patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PcpRules {
    /// Series 1: drain only on the second high-order free in a row, so that
    /// the one order-1 page of a process exit no longer empties the lists.
    pub prev_free_high_order: bool,
    /// Series 2: the size of a CPU's data-cache slice is known.
    pub data_cache_slice: bool,
    /// Series 3: a CPU with a large cache slice keeps a batch of pages back
    /// before it drains high-order pages. Needs `data_cache_slice`.
    pub free_high_batch: bool,
    /// Series 4, first half: the doubling of a batch stops at
    /// [`PCP_BATCH_SCALE_MAX`].
    pub batch_scale_limit: bool,
    /// Series 4, second half: a high-order drain takes at most the largest
    /// batch instead of everything.
    pub bounded_free_high: bool,
    /// Series 5: a refill grows with the allocations in a row.
    pub alloc_factor: bool,
    /// Series 6: `high_min` and `high_max` instead of one `high`. No effect
    /// of its own.
    pub high_range: bool,
    /// Series 7: `high` grows and shrinks between the two. Needs `high_range`.
    pub auto_tuning: bool,
    /// Series 8: `high` shrinks while the zone is below its high watermark.
    /// Needs `auto_tuning`.
    pub below_high: bool,
    /// Series 9: frees in a row are counted in pages, not in doublings of a
    /// batch that only a full list triggers.
    pub free_count: bool,
    /// 6.16: a high-order drain starts half of `high_min` later. Needs
    /// `free_count` and `high_range`.
    pub free_high_threshold: bool,
    /// 7.2: a long drain drops the lock after each batch.
    pub chunked_drain: bool,
    /// 7.2: the batch of a small zone comes from `managed >> 12`.
    pub small_zone_batch: bool,
}

/// A set of patches that cannot stand alone.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "patch {patch} builds on {needs}, which is off; without it the code has no defined form; switch {needs} on"
)]
pub struct MissingPatch {
    pub patch: &'static str,
    pub needs: &'static str,
}

impl PcpRules {
    /// Before the series, as in v6.6.
    pub const V66: Self = PcpRules {
        prev_free_high_order: false,
        data_cache_slice: false,
        free_high_batch: false,
        batch_scale_limit: false,
        bounded_free_high: false,
        alloc_factor: false,
        high_range: false,
        auto_tuning: false,
        below_high: false,
        free_count: false,
        free_high_threshold: false,
        chunked_drain: false,
        small_zone_batch: false,
    };
    /// 6.1 stable: as v6.6, with the scale limit brought back.
    pub const K61: Self = PcpRules { batch_scale_limit: true, ..Self::V66 };
    /// The series up to patch 8, before its last patch.
    pub const V67_BEFORE_FREE_COUNT: Self = PcpRules { free_count: false, ..Self::K612 };
    /// 6.12, unchanged since the whole series in v6.7.
    pub const K612: Self = PcpRules {
        prev_free_high_order: true,
        data_cache_slice: true,
        free_high_batch: true,
        bounded_free_high: true,
        alloc_factor: true,
        high_range: true,
        auto_tuning: true,
        below_high: true,
        free_count: true,
        ..Self::K61
    };
    /// 6.16: the later start of a high-order drain.
    pub const K616: Self = PcpRules { free_high_threshold: true, ..Self::K612 };
    /// 7.2.
    pub const K72: Self = PcpRules { chunked_drain: true, small_zone_batch: true, ..Self::K616 };

    /// The nine patches of v6.7, in the order of the series.
    pub const SERIES: [Flag; 9] = [
        Flag::PcpKeepOnExit,
        Flag::PcpCacheSlice,
        Flag::PcpKeepHighOrderBatch,
        Flag::PcpRestrictScale,
        Flag::PcpScaleAllocate,
        Flag::PcpHighRange,
        Flag::PcpTuneHigh,
        Flag::PcpShrinkBelowHigh,
        Flag::PcpFreeCount,
    ];

    /// The first `patches` of the nine on top of v6.6.
    pub fn series(patches: u32) -> Self {
        Self::V66.with(Self::SERIES.into_iter().take(patches as usize).collect())
    }

    /// The rules of a modelled kernel; the 6.14 rework did not touch them.
    pub const fn of_version(version: Version) -> Self {
        match version {
            Version::K61 => Self::K61,
            Version::K612 | Version::K614Posted | Version::K614Merged => Self::K612,
            Version::K72 => Self::K72,
        }
    }

    /// These rules with patches added.
    #[must_use]
    pub fn with(self, flags: Flags) -> Self {
        flags.iter().fold(self, |rules, flag| rules.set(flag, true))
    }

    /// These rules with patches taken out again.
    #[must_use]
    pub fn without(self, flags: Flags) -> Self {
        flags.iter().fold(self, |rules, flag| rules.set(flag, false))
    }

    /// Switches one patch; those of reclaim change nothing here.
    fn set(mut self, flag: Flag, on: bool) -> Self {
        match flag {
            Flag::PcpKeepOnExit => self.prev_free_high_order = on,
            Flag::PcpCacheSlice => self.data_cache_slice = on,
            Flag::PcpKeepHighOrderBatch => self.free_high_batch = on,
            Flag::PcpRestrictScale => {
                self.batch_scale_limit = on;
                self.bounded_free_high = on;
            }
            Flag::PcpScaleAllocate => self.alloc_factor = on,
            Flag::PcpHighRange => self.high_range = on,
            Flag::PcpTuneHigh => self.auto_tuning = on,
            Flag::PcpShrinkBelowHigh => self.below_high = on,
            Flag::PcpFreeCount => self.free_count = on,
            Flag::PcpFreeHighThreshold => self.free_high_threshold = on,
            Flag::BatchedCounters
            | Flag::BulkMove
            | Flag::NextFolioPrefetch
            | Flag::AgingFeedback
            | Flag::TypeSelection
            | Flag::RefaultDetection
            | Flag::WorkingsetProtectionPosted
            | Flag::WorkingsetProtectionMerged
            | Flag::TestBeforeSet => {}
        }
        self
    }

    /// Whether every patch has those it builds on.
    pub fn check(&self) -> Result<(), MissingPatch> {
        let table = [
            ("free_high_batch", self.free_high_batch, "prev_free_high_order", self.prev_free_high_order),
            ("free_high_batch", self.free_high_batch, "data_cache_slice", self.data_cache_slice),
            ("auto_tuning", self.auto_tuning, "high_range", self.high_range),
            ("below_high", self.below_high, "auto_tuning", self.auto_tuning),
            ("free_high_threshold", self.free_high_threshold, "free_count", self.free_count),
            ("free_high_threshold", self.free_high_threshold, "high_range", self.high_range),
        ];
        match table.iter().find(|(_, patch, _, base)| *patch && !*base) {
            Some(&(patch, _, needs, _)) => Err(MissingPatch { patch, needs }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_series_is_what_6_12_carries() {
        assert_eq!(PcpRules::series(0), PcpRules::V66);
        assert_eq!(PcpRules::series(8), PcpRules::V67_BEFORE_FREE_COUNT);
        assert_eq!(PcpRules::series(9), PcpRules::K612);
    }

    #[test]
    fn the_series_adds_patch_by_patch() {
        let middle = PcpRules {
            prev_free_high_order: true,
            data_cache_slice: true,
            free_high_batch: true,
            batch_scale_limit: true,
            bounded_free_high: true,
            ..PcpRules::V66
        };
        assert_eq!(PcpRules::series(4), middle);
        assert_eq!(PcpRules::series(5), PcpRules { alloc_factor: true, ..middle });
        assert_eq!(PcpRules::series(0), PcpRules::V66);
    }

    #[test]
    fn a_patch_without_its_base_is_named() {
        for patches in 0..=9 {
            assert_eq!(PcpRules::series(patches).check(), Ok(()), "{patches}");
        }
        for rules in [PcpRules::K61, PcpRules::K616, PcpRules::K72] {
            assert_eq!(rules.check(), Ok(()));
        }
        let alone = PcpRules { auto_tuning: true, ..PcpRules::V66 };
        let missing = alone.check().expect_err("tuning needs a range");
        assert_eq!(
            missing.to_string(),
            "patch auto_tuning builds on high_range, which is off; without it the code has no defined form; \
             switch high_range on"
        );
    }
}
