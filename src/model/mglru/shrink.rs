//! How often to evict and when to age: `should_run_aging`, `get_nr_to_scan`,
//! `try_to_shrink_lruvec`, and the debugfs eviction command.

use super::lruvec::MIN_NR_GENS;
use super::lruvec::Mglru;
use crate::model::kernel::Kernel;
use crate::model::reclaim::DEF_PRIORITY;
use crate::model::reclaim::Gfp;
use crate::model::reclaim::MAX_LRU_BATCH;
use crate::model::reclaim::MIN_LRU_BATCH;
use crate::model::reclaim::Reclaimer;
use crate::model::reclaim::ScanControl;
use crate::model::rules::Aging;

/// What `get_nr_to_scan` decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quota {
    Scan(u64),
    /// Aging was done instead; the caller stops.
    Aged,
}

impl Mglru {
    /// `evictable_min_seq`: the smaller of the types that can be evicted.
    pub(super) fn evictable_min_seq(&self, can_swap: bool) -> u64 {
        if can_swap { self.min_seq[0].min(self.min_seq[1]) } else { self.min_seq[1] }
    }

    /// `should_run_aging`: whether, and the evictable pages.
    pub(super) fn should_run_aging(&self, aging: Aging, can_swap: bool) -> (bool, u64) {
        let first = usize::from(!can_swap);
        let (mut total, mut young, mut old) = (0, 0, 0);
        for kind in first..2 {
            for seq in self.min_seq[kind]..=self.max_seq {
                let size = self.size(seq, kind);
                total += size;
                if seq == self.max_seq {
                    young += size;
                } else if seq + MIN_NR_GENS == self.max_seq {
                    old += size;
                }
            }
        }
        if matches!(aging, Aging::Generations | Aging::K72) {
            let oldest = self.evictable_min_seq(can_swap) + MIN_NR_GENS;
            let stalled = oldest > self.max_seq;
            return (oldest >= self.max_seq, if stalled && aging == Aging::Generations { 0 } else { total });
        }
        let oldest = self.min_seq[first] + MIN_NR_GENS;
        if oldest > self.max_seq {
            return (true, if aging == Aging::K61 { total } else { 0 });
        }
        let due = oldest == self.max_seq && (young * MIN_NR_GENS > total || old * (MIN_NR_GENS + 2) < total);
        (due, total)
    }
}

impl Kernel<Mglru> {
    /// `get_swappiness`: 0 when anon cannot be evicted.
    fn get_swappiness(&self, memcg: usize, scan: &ScanControl) -> u32 {
        let free = self.core.memcgs[memcg].free_swap(self.core.swap.free());
        if !scan.may_swap || free < MIN_LRU_BATCH { 0 } else { scan.swappiness }
    }

    /// `lru_gen_shrink_lruvec`.
    pub(super) fn lru_gen_shrink_lruvec(&mut self, memcg: usize, scan: &mut ScanControl) {
        self.lru_add_drain();
        let had_walk = scan.has_walk;
        match self.core.rules.aging {
            Aging::K61 => self.shrink_first(memcg, scan),
            Aging::Shares | Aging::Generations => self.shrink_by_quota(memcg, scan),
            Aging::K72 => self.shrink_by_batch(memcg, scan),
        }
        scan.has_walk = had_walk;
    }

    /// `get_nr_to_scan` from 6.12 to 6.14.
    pub(super) fn get_nr_to_scan(&mut self, memcg: usize, priority: i32, can_swap: bool) -> Quota {
        let lruvec = &self.lruvecs[memcg];
        let (due, total) = lruvec.should_run_aging(self.core.rules.aging, can_swap);
        if !due || priority == DEF_PRIORITY {
            return Quota::Scan(total >> priority);
        }
        let seq = lruvec.max_seq;
        if self.try_to_inc_max_seq(memcg, seq, can_swap) { Quota::Aged } else { Quota::Scan(0) }
    }

    /// `try_to_shrink_lruvec` of 6.12 and 6.14: reclaim for a memcg finishes its quota.
    fn shrink_by_quota(&mut self, memcg: usize, scan: &mut ScanControl) {
        let swappiness = self.get_swappiness(memcg, scan);
        let mut scanned = 0;
        while let Quota::Scan(quota) = self.get_nr_to_scan(memcg, scan.priority, swappiness > 0) {
            if quota == 0 {
                break;
            }
            let pass = self.evict_folios(memcg, swappiness, scan, MAX_LRU_BATCH);
            scanned += pass.progress;
            if pass.progress == 0 || scanned >= quota {
                break;
            }
        }
    }

    /// `lru_gen_shrink_lruvec` of 6.1: ages and goes on.
    fn shrink_first(&mut self, memcg: usize, scan: &mut ScanControl) {
        let first_seq = self.lruvecs[memcg].max_seq;
        let mut scanned = 0;
        let mut swapped = false;
        loop {
            let swappiness = self.get_swappiness(memcg, scan);
            let can_swap = swappiness > 0;
            let lruvec = &self.lruvecs[memcg];
            let (due, total) = lruvec.should_run_aging(Aging::K61, can_swap);
            let seq = lruvec.max_seq;
            let aged = due && scan.priority < DEF_PRIORITY && self.try_to_inc_max_seq(memcg, seq, can_swap);
            scan.has_walk |= aged && Mglru::walks(&self.core);
            let lruvec = &self.lruvecs[memcg];
            // Without aging a lruvec of two generations has nothing to evict.
            let stalled = due && !aged && lruvec.min_seq[usize::from(!can_swap)] + MIN_NR_GENS > seq;
            let quota = if stalled { 0 } else { total >> scan.priority };
            if quota == 0 {
                break;
            }
            let pass = self.evict_folios(memcg, swappiness, scan, MAX_LRU_BATCH);
            swapped |= pass.anon;
            scanned += pass.progress;
            let enough = scan.nr_reclaimed >= scan.nr_to_reclaim && swapped;
            let aged_twice = self.lruvecs[memcg].max_seq - first_seq > 1;
            if pass.progress == 0 || scanned >= quota || enough || aged_twice {
                break;
            }
        }
    }

    /// `try_to_shrink_lruvec` of 7.2: batches of 64, aging between them, and an end
    /// as soon as enough was reclaimed.
    fn shrink_by_batch(&mut self, memcg: usize, scan: &mut ScanControl) {
        let swappiness = self.get_swappiness(memcg, scan);
        let can_swap = swappiness > 0;
        let (_, total) = self.lruvecs[memcg].should_run_aging(Aging::K72, can_swap);
        let quota = total >> scan.priority;
        let mut scanned = 0;
        while scanned < quota {
            let lruvec = &self.lruvecs[memcg];
            let (seq, oldest) = (lruvec.max_seq, lruvec.evictable_min_seq(can_swap) + MIN_NR_GENS);
            if oldest > seq || oldest == seq && scan.priority < DEF_PRIORITY {
                let aged = self.try_to_inc_max_seq(memcg, seq, can_swap);
                scan.has_walk |= aged && Mglru::walks(&self.core);
            }
            let budget = (quota - scanned).min(MIN_LRU_BATCH);
            let pass = self.evict_folios(memcg, swappiness, scan, budget);
            scanned += pass.progress;
            if pass.progress == 0 || scan.nr_reclaimed >= scan.nr_to_reclaim {
                break;
            }
        }
    }

    /// The debugfs command `-`: evicts up to `pages` of generations up to `seq`.
    /// `None` when refused; else the pages freed.
    pub fn debugfs_evict(&mut self, memcg: usize, seq: u64, swappiness: u32, pages: u64) -> Option<u64> {
        self.lru_add_drain();
        if seq + MIN_NR_GENS > self.lruvecs[memcg].max_seq {
            return None;
        }
        let mut scan = ScanControl::new(pages, Gfp::USER, Reclaimer::Debugfs, swappiness);
        scan.priority = 0;
        scan.has_walk = true;
        let outer = std::mem::replace(&mut self.core.reclaiming, true);
        while self.lruvecs[memcg].min_seq[usize::from(swappiness == 0)] <= seq && scan.nr_reclaimed < pages {
            if self.evict_folios(memcg, swappiness, &mut scan, MAX_LRU_BATCH).progress == 0 {
                break;
            }
        }
        self.core.reclaiming = outer;
        Some(scan.nr_reclaimed)
    }
}
