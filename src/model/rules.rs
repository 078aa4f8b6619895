//! What a version and its flags mean for reclaim: each difference between
//! kernels is one field here, read by the module that it changes.

use super::flag::Flag;
use super::flag::Flags;
use super::version::Version;

/// How accesses through file descriptors and page tables are counted (2.2, 2.5, 2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Referenced, workingset, then REFS; a young PTE promotes at once.
    Refs,
    /// Referenced, then REFS, workingset at the fifth; promotion in two steps.
    TwoStep,
}

/// Where folios are put (`lru_gen_add_folio`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    K612,
    Posted,
    Merged,
    K72,
}

/// When and how aging and eviction alternate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aging {
    /// Ages and goes on evicting in the same call.
    K61,
    /// By the share of young and old; one step per priority.
    Shares,
    /// By the number of generations alone.
    Generations,
    /// By the number, at each batch, going on in the same call.
    K72,
}

/// Everything that depends on the version or a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    pub version: Version,
    /// PAGEVEC_SIZE.
    pub batch: usize,
    pub protection: Protection,
    /// At saturation the workingset flag is written only if not already set.
    pub test_before_set: bool,
    pub placement: Placement,
    pub aging: Aging,
    /// Sum over tiers and gains 2 to 3 (2.6).
    pub type_by_sum: bool,
    /// Recent within four generations of the youngest (2.9).
    pub refault_by_distance: bool,
    pub batched_counters: bool,
    pub bulk_move: bool,
    pub prefetch: bool,
}

impl Rules {
    /// The rules of `version` with `flags` applied over it.
    pub fn new(version: Version, flags: Flags) -> Self {
        let mut rules = Rules::of_version(version);
        if flags.has(Flag::AgingFeedback) && rules.aging != Aging::K72 {
            rules.aging = Aging::Generations;
        }
        if flags.has(Flag::WorkingsetProtectionPosted) {
            rules.protection = Protection::TwoStep;
            rules.placement = Placement::Posted;
            rules.test_before_set = false;
        }
        if flags.has(Flag::WorkingsetProtectionMerged) {
            rules.protection = Protection::TwoStep;
            rules.placement = Placement::Merged;
            rules.test_before_set = true;
        }
        rules.test_before_set |= flags.has(Flag::TestBeforeSet);
        rules.type_by_sum |= flags.has(Flag::TypeSelection);
        rules.refault_by_distance |= flags.has(Flag::RefaultDetection);
        rules.batched_counters = flags.has(Flag::BatchedCounters);
        rules.bulk_move = flags.has(Flag::BulkMove);
        rules.prefetch = flags.has(Flag::NextFolioPrefetch);
        rules
    }

    fn of_version(version: Version) -> Self {
        let reworked = version >= Version::K614Posted;
        Rules {
            version,
            batch: if version == Version::K61 { 15 } else { 31 },
            protection: if reworked { Protection::TwoStep } else { Protection::Refs },
            test_before_set: version >= Version::K614Merged,
            placement: match version {
                Version::K61 | Version::K612 => Placement::K612,
                Version::K614Posted => Placement::Posted,
                Version::K614Merged => Placement::Merged,
                Version::K72 => Placement::K72,
            },
            aging: match version {
                Version::K61 => Aging::K61,
                Version::K612 => Aging::Shares,
                Version::K614Posted | Version::K614Merged => Aging::Generations,
                Version::K72 => Aging::K72,
            },
            type_by_sum: reworked,
            refault_by_distance: reworked,
            batched_counters: false,
            bulk_move: false,
            prefetch: false,
        }
    }

    pub const fn two_step(&self) -> bool {
        matches!(self.protection, Protection::TwoStep)
    }

    /// Generations of the two types move apart, with a clamp (2.7).
    pub const fn types_move_apart(&self) -> bool {
        matches!(self.aging, Aging::Generations | Aging::K72)
    }

    pub fn is(&self, version: Version) -> bool {
        self.version == version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_over_6_12_is_the_merged_rework() {
        let flags: Flags = [
            Flag::AgingFeedback,
            Flag::TypeSelection,
            Flag::RefaultDetection,
            Flag::WorkingsetProtectionMerged,
        ]
        .into_iter()
        .collect();
        let built = Rules::new(Version::K612, flags);
        let merged = Rules::new(Version::K614Merged, Flags::NONE);
        assert_eq!(Rules { version: merged.version, ..built }, merged);
    }

    #[test]
    fn the_fix_is_one_flag_over_the_posted_series() {
        assert!(!Rules::new(Version::K614Posted, Flags::NONE).test_before_set);
        assert!(Rules::new(Version::K614Posted, Flags::NONE.with(Flag::TestBeforeSet)).test_before_set);
    }
}
