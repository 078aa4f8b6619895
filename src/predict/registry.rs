//! Which patches the model knows, and what an unknown one comes near to.
//!
//! A row holds names and a base, never a number: what a patch gains comes out of
//! events and costs.

use crate::model::flag::{Flag, Flags};

/// A known patch.
#[derive(Debug, Clone, Copy)]
pub struct KnownPatch {
    pub flag: Flag,
    /// All of these stand in its subject, in lower case.
    pub words: &'static [&'static str],
    /// Functions that it changes.
    pub functions: &'static [&'static str],
    /// Patches that it builds on: on in the kernel before it, too.
    pub base: &'static [Flag],
    /// What shows it best.
    pub workload: &'static str,
}

const fn known(
    flag: Flag,
    words: &'static [&'static str],
    functions: &'static [&'static str],
    base: &'static [Flag],
    workload: &'static str,
) -> KnownPatch {
    KnownPatch { flag, words, functions, base, workload }
}

const SORT: &[&str] = &["inc_min_seq", "scan_folios", "sort_folio", "folio_inc_gen"];
const PCP: &[&str] = &["nr_pcp_free", "nr_pcp_high", "free_unref_page_commit", "rmqueue_pcplist"];

/// Every patch with a flag that a forecast can be made for.
pub const KNOWN: [KnownPatch; 19] = [
    known(Flag::BatchedCounters, &["batch", "update", "counters"], SORT, &[], "fio"),
    known(Flag::BulkMove, &["bulk", "mov"], SORT, &[], "fio"),
    known(Flag::NextFolioPrefetch, &["prefetch", "next"], &["scan_folios", "inc_min_seq"], &[], "fio"),
    known(
        Flag::AgingFeedback,
        &["rework", "aging", "feedback"],
        &["should_run_aging", "get_nr_to_scan", "try_to_inc_min_seq"],
        &[],
        "fio",
    ),
    known(
        Flag::TypeSelection,
        &["rework", "type", "selection"],
        &["get_type_to_scan", "get_tier_idx", "read_ctrl_pos"],
        &[],
        "fio",
    ),
    known(
        Flag::RefaultDetection,
        &["rework", "refault", "detection"],
        &["lru_gen_test_recent", "lru_gen_refault"],
        &[],
        "fio",
    ),
    known(
        Flag::WorkingsetProtectionPosted,
        &["rework", "workingset", "protection"],
        &["folio_mark_accessed", "lru_gen_inc_refs", "lru_gen_folio_seq", "lru_gen_set_refs"],
        &[],
        "pread2",
    ),
    known(Flag::WorkingsetProtectionMerged, &["workingset", "protection", "merged"], &[], &[], "pread2"),
    known(
        Flag::TestBeforeSet,
        &["pread2", "regression"],
        &["lru_gen_inc_refs"],
        &[Flag::WorkingsetProtectionPosted],
        "pread2",
    ),
    known(Flag::PcpKeepOnExit, &["drain", "pcp", "exit"], PCP, &[], "sctp"),
    known(Flag::PcpCacheSlice, &["data", "cache", "slice"], &[], &[], "sctp"),
    known(Flag::PcpKeepHighOrderBatch, &["lock", "contention", "draining", "high-order"], PCP, &[], "sctp"),
    known(Flag::PcpRestrictScale, &["restrict", "batch", "scale"], PCP, &[], "sctp"),
    known(Flag::PcpScaleAllocate, &["scale", "batch", "allocated"], PCP, &[], "sctp"),
    known(Flag::PcpHighRange, &["framework", "high", "auto-tuning"], PCP, &[], "sctp"),
    known(Flag::PcpTuneHigh, &["tune", "high", "automatically"], PCP, &[], "sctp"),
    known(Flag::PcpShrinkBelowHigh, &["decrease", "high", "watermark"], PCP, &[], "sctp"),
    known(Flag::PcpFreeCount, &["detecting", "time", "consecutive", "free"], PCP, &[], "sctp"),
    known(Flag::PcpFreeHighThreshold, &["higher", "threshold", "high-order"], PCP, &[], "sctp"),
];

impl KnownPatch {
    /// The row of a flag.
    pub fn of(flag: Flag) -> &'static KnownPatch {
        &KNOWN[flag as usize]
    }

    fn is_titled(&self, title: &str) -> bool {
        self.words.iter().all(|word| title.contains(word))
    }

    /// Its functions among those given.
    fn touched(&self, functions: &[&str]) -> usize {
        self.functions.iter().filter(|name| functions.iter().any(|f| is_function(f, name))).count()
    }
}

/// A hunk names a function with its return type and parameters around it.
fn is_function(hunk: &str, name: &str) -> bool {
    hunk.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

/// The patch with this subject, if known. The longest match wins.
pub fn by_title(title: &str) -> Option<&'static KnownPatch> {
    let title = title.to_lowercase();
    KNOWN.iter().filter(|patch| patch.is_titled(&title)).max_by_key(|patch| patch.words.len())
}

/// Flags whose patches change the same functions, nearest first.
pub fn nearest(functions: &[&str]) -> Vec<Flag> {
    let mut near: Vec<(usize, Flag)> =
        KNOWN.iter().map(|patch| (patch.touched(functions), patch.flag)).filter(|(n, _)| *n > 0).collect();
    near.sort_by_key(|(count, flag)| (std::cmp::Reverse(*count), *flag));
    near.into_iter().map(|(_, flag)| flag).take(5).collect()
}

/// The kernel before these patches: what they build on and do not bring along.
pub fn base_of(flags: Flags) -> Flags {
    let needed = flags.iter().flat_map(|flag| KnownPatch::of(flag).base.iter().copied());
    needed.filter(|flag| !flags.has(*flag)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_flags() {
        for (i, row) in KNOWN.iter().enumerate() {
            assert_eq!(row.flag as usize, i, "{}", row.flag);
        }
    }

    #[test]
    fn subjects_find_their_flag() {
        for (title, flag) in [
            ("mm, lru_gen: batch update counters on aging", Flag::BatchedCounters),
            ("mm, lru_gen: try to prefetch next page when scanning LRU", Flag::NextFolioPrefetch),
            ("mm, lru_gen: move pages in bulk when aging", Flag::BulkMove),
            ("mm/mglru: rework workingset protection", Flag::WorkingsetProtectionPosted),
            ("mm, pcp: reduce detecting time of consecutive high order page freeing", Flag::PcpFreeCount),
        ] {
            assert_eq!(by_title(title).map(|p| p.flag), Some(flag), "{title}");
        }
        assert!(by_title("mm: memcg: fix a typo").is_none());
    }

    #[test]
    fn an_unknown_patch_names_its_neighbours() {
        let near = nearest(&["static int scan_folios(struct lruvec *lruvec,", "isolate_folios"]);
        assert_eq!(near, [Flag::BatchedCounters, Flag::BulkMove, Flag::NextFolioPrefetch]);
        assert!(nearest(&["shmem_get_inode"]).is_empty());
    }

    #[test]
    fn a_fix_has_the_patch_it_fixes_as_its_base() {
        let fix = Flags::NONE.with(Flag::TestBeforeSet);
        assert!(base_of(fix).has(Flag::WorkingsetProtectionPosted));
        assert_eq!(base_of(fix.with(Flag::WorkingsetProtectionPosted)), Flags::NONE);
    }
}
