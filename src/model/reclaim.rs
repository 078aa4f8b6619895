//! Reclaim for a memcg: the priority loop of `do_try_to_free_pages`,
//! `memory.reclaim`, and the counters that both policies keep.

use super::counter::Counter;
use super::counter::of_type;
use super::event::Event;
use super::kernel::Kernel;
use super::policy::Policy;
use super::version::Version;

pub const SWAP_CLUSTER_MAX: u64 = 32;
pub const DEF_PRIORITY: i32 = 12;
/// MIN_LRU_BATCH.
pub const MIN_LRU_BATCH: u64 = 64;
/// MAX_LRU_BATCH.
pub const MAX_LRU_BATCH: u64 = 4096;

/// What the allocation that reclaims may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gfp {
    /// __GFP_IO.
    pub io: bool,
    /// __GFP_FS.
    pub fs: bool,
    /// __GFP_NORETRY: readahead.
    pub no_retry: bool,
}

impl Gfp {
    /// A page fault.
    pub const USER: Gfp = Gfp { io: true, fs: true, no_retry: false };
    /// A buffered read: `memalloc_nofs`, and readahead's flags.
    pub const READ: Gfp = Gfp { io: true, fs: false, no_retry: true };
    /// The single page that a read asks for after readahead failed.
    pub const READ_RETRY: Gfp = Gfp { io: true, fs: false, no_retry: false };
}

/// Who reclaims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reclaimer {
    /// A task at the limit of its memcg.
    Direct,
    /// `memory.reclaim`.
    Proactive,
    /// The lru_gen debugfs file: no target memcg, priority 0.
    Debugfs,
}

/// `struct scan_control`.
#[derive(Debug, Clone)]
pub struct ScanControl {
    pub nr_to_reclaim: u64,
    pub nr_reclaimed: u64,
    pub nr_scanned: u64,
    pub priority: i32,
    pub gfp: Gfp,
    pub may_swap: bool,
    pub reclaimer: Reclaimer,
    /// Swappiness as `sc_swappiness` gives it.
    pub swappiness: u32,
    /// Classic: costs and decisions of `prepare_scan_control`.
    pub anon_cost: u64,
    pub file_cost: u64,
    pub may_deactivate: [bool; 2],
    pub force_deactivate: bool,
    pub skipped_deactivate: bool,
    pub cache_trim_mode: bool,
    /// MGLRU: an `mm_walk` exists, so look-around batches its updates.
    pub has_walk: bool,
}

impl ScanControl {
    pub fn new(nr_to_reclaim: u64, gfp: Gfp, reclaimer: Reclaimer, swappiness: u32) -> Self {
        ScanControl {
            nr_to_reclaim,
            nr_reclaimed: 0,
            nr_scanned: 0,
            priority: DEF_PRIORITY,
            gfp,
            may_swap: true,
            reclaimer,
            swappiness,
            anon_cost: 0,
            file_cost: 0,
            may_deactivate: [false; 2],
            force_deactivate: false,
            skipped_deactivate: false,
            cache_trim_mode: false,
            has_walk: false,
        }
    }
}

/// Scanned, stolen or refilled pages, by what they count as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    Scan,
    Steal,
}

impl<P: Policy> Kernel<P> {
    /// PGSCAN and PGSTEAL of the reclaimer's class and of the type.
    #[inline]
    pub fn count_progress(
        &mut self,
        memcg: usize,
        scan: &ScanControl,
        what: Progress,
        kind: usize,
        pages: u64,
    ) {
        let scanned = what == Progress::Scan;
        let proactive = scan.reclaimer == Reclaimer::Proactive && self.core.rules.is(Version::K72);
        let class = match (scanned, proactive) {
            (true, false) => Counter::PgScanDirect,
            (true, true) => Counter::PgScanProactive,
            (false, false) => Counter::PgStealDirect,
            (false, true) => Counter::PgStealProactive,
        };
        self.core.memcgs[memcg].counters.add(class, pages);
        if self.counts_globally(scan) {
            self.core.vmstat.add(class, pages);
        }
        let by_type = if scanned {
            of_type(kind, Counter::PgScanAnon, Counter::PgScanFile)
        } else {
            of_type(kind, Counter::PgStealAnon, Counter::PgStealFile)
        };
        self.core.vmstat.add(by_type, pages);
    }

    /// PGREFILL, under the same rule.
    #[inline]
    pub fn count_refill(&mut self, memcg: usize, scan: &ScanControl, pages: u64) {
        self.core.memcgs[memcg].counters.add(Counter::PgRefill, pages);
        if self.counts_globally(scan) {
            self.core.vmstat.add(Counter::PgRefill, pages);
        }
    }

    /// Machine-wide counters leave out reclaim for a memcg's limit until 7.2.
    fn counts_globally(&self, scan: &ScanControl) -> bool {
        scan.reclaimer == Reclaimer::Debugfs || self.core.rules.is(Version::K72)
    }

    /// `try_to_free_mem_cgroup_pages`; returns the pages freed.
    pub fn try_to_free_mem_cgroup_pages(
        &mut self,
        memcg: usize,
        pages: u64,
        gfp: Gfp,
        proactive: bool,
    ) -> u64 {
        let reclaimer = if proactive { Reclaimer::Proactive } else { Reclaimer::Direct };
        let swappiness = self.core.memcgs[memcg].swappiness;
        let mut scan = ScanControl::new(pages.max(SWAP_CLUSTER_MAX), gfp, reclaimer, swappiness);
        scan.has_walk = proactive && !self.core.rules.is(Version::K61);
        self.core.event(Event::ReclaimBegin);
        if !self.core.writeback.is_empty() {
            self.end_writeback();
        }
        let outer = std::mem::replace(&mut self.core.reclaiming, true);
        self.do_try_to_free_pages(memcg, &mut scan);
        self.core.reclaiming = outer;
        scan.nr_reclaimed
    }

    fn do_try_to_free_pages(&mut self, memcg: usize, scan: &mut ScanControl) {
        loop {
            scan.priority = DEF_PRIORITY;
            loop {
                scan.nr_scanned = 0;
                self.core.event(Event::ReclaimPriority);
                P::prepare(self, memcg, scan);
                P::shrink_lruvec(self, memcg, scan);
                if scan.nr_reclaimed >= scan.nr_to_reclaim {
                    break;
                }
                scan.priority -= 1;
                if scan.priority < 0 {
                    break;
                }
            }
            P::finish(self, memcg);
            if scan.nr_reclaimed > 0 || !scan.skipped_deactivate {
                return;
            }
            scan.force_deactivate = true;
            scan.skipped_deactivate = false;
        }
    }

    /// Writes `pages` to `memory.reclaim`; returns how many were freed.
    pub fn memory_reclaim(&mut self, memcg: usize, pages: u64) -> u64 {
        let mut done = 0;
        let mut failures = MAX_PROACTIVE_FAILURES;
        while done < pages {
            let rest = pages - done;
            let share = if self.core.rules.is(Version::K61) { rest } else { rest / 4 };
            // The file drains the batches before its last try.
            if failures == 0 {
                self.lru_add_drain();
            }
            let freed = self.try_to_free_mem_cgroup_pages(memcg, share, Gfp::USER, true);
            if freed == 0 {
                if failures == 0 {
                    break;
                }
                failures -= 1;
            }
            done += freed;
        }
        done
    }
}

const MAX_PROACTIVE_FAILURES: u32 = 16;
