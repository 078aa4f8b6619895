//! One eviction pass: `isolate_folios`, `evict_folios`.

use super::lruvec::MIN_NR_GENS;
use super::lruvec::Mglru;
use super::scan::Target;
use crate::model::event::Event;
use crate::model::folio;
use crate::model::kernel::Kernel;
use crate::model::page::DIRTY;
use crate::model::page::MAPPED;
use crate::model::page::REFERENCED;
use crate::model::page::REFS;
use crate::model::page::WORKINGSET;
use crate::model::reclaim::MAX_LRU_BATCH;
use crate::model::reclaim::Progress;
use crate::model::reclaim::ScanControl;
use crate::model::rules::Aging;
use crate::model::version::Version;

/// What `evict_folios` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    /// Its return value: 0 ends the caller's loop.
    pub(super) progress: u64,
    /// Whether anon was taken.
    pub(super) anon: bool,
}

impl Kernel<Mglru> {
    /// `isolate_folios`: the type that was taken, and the progress.
    fn isolate_folios(
        &mut self,
        memcg: usize,
        (swappiness, budget): (u32, u64),
        scan: &ScanControl,
        out: &mut Vec<u32>,
    ) -> (usize, u64) {
        let (mut kind, mut tier) = self.first_type(memcg, swappiness, scan);
        let budget = budget.min(MAX_LRU_BATCH);
        let evictable_types = if swappiness == 0 { 1 } else { 2 };
        for turn in 0..evictable_types {
            if turn > 0 {
                tier = None;
            }
            let lruvec = &self.lruvecs[memcg];
            let tier_limit = tier.unwrap_or_else(|| {
                lruvec.controller.tier_limit(lruvec.min_seq, kind, self.core.rules.type_by_sum)
            });
            let target = Target { kind, tier_limit, budget };
            let done = self.scan_folios(memcg, target, scan, out);
            let mut progress = done.progress(budget);
            if self.core.rules.aging == Aging::K72 {
                // The type is switched only if nothing was looked at.
                progress = done.scanned;
                if done.scanned > 0 && done.isolated == 0 {
                    progress += self.scan_folios(memcg, target, scan, out).scanned;
                }
            }
            if progress > 0 {
                return (kind, progress);
            }
            kind = 1 - kind;
        }
        (1 - kind, 0)
    }

    /// The type to try first, and its tier limit where that was found with it.
    fn first_type(&self, memcg: usize, swappiness: u32, scan: &ScanControl) -> (usize, Option<usize>) {
        let lruvec = &self.lruvecs[memcg];
        let rules = &self.core.rules;
        if rules.type_by_sum {
            let kind = match swappiness {
                0 | 1 => 1,
                200.. => 0,
                _ => lruvec.controller.type_by_sum(lruvec.min_seq, u64::from(swappiness)),
            };
            return (kind, None);
        }
        if swappiness == 0 {
            (1, None)
        } else if lruvec.min_seq[0] < lruvec.min_seq[1] {
            (0, None)
        } else if swappiness == 1 {
            (1, None)
        } else if swappiness == 200 {
            (0, None)
        } else if !scan.gfp.io && !rules.is(Version::K61) {
            (1, None)
        } else {
            let (kind, tier) = lruvec.controller.type_and_tier(lruvec.min_seq, u64::from(swappiness));
            (kind, Some(tier))
        }
    }

    /// `evict_folios`.
    pub(super) fn evict_folios(
        &mut self,
        memcg: usize,
        swappiness: u32,
        scan: &mut ScanControl,
        budget: u64,
    ) -> Pass {
        self.core.event(Event::EvictPass);
        self.core.event(Event::LruLock);
        let mut isolated = std::mem::take(&mut self.scratch.isolated);
        isolated.clear();
        let can_swap = swappiness > 0;
        if self.core.rules.aging == Aging::K72 {
            self.lruvecs[memcg].try_to_inc_min_seq(&self.core, can_swap, swappiness);
        }
        let (kind, mut progress) = self.isolate_folios(memcg, (swappiness, budget), scan, &mut isolated);
        let lruvec = &mut self.lruvecs[memcg];
        progress += u64::from(lruvec.try_to_inc_min_seq(&self.core, can_swap, swappiness));
        if self.out_of_generations(memcg, can_swap) {
            progress = 0;
        }
        if !isolated.is_empty() {
            self.shrink_isolated(memcg, kind, scan, &mut isolated);
        }
        self.scratch.isolated = isolated;
        Pass { progress, anon: kind == 0 }
    }

    /// Nothing more can be evicted before aging.
    fn out_of_generations(&self, memcg: usize, can_swap: bool) -> bool {
        let lruvec = &self.lruvecs[memcg];
        if self.core.rules.types_move_apart() {
            lruvec.evictable_min_seq(can_swap) + MIN_NR_GENS > lruvec.max_seq
        } else {
            lruvec.nr_gens(usize::from(!can_swap)) == MIN_NR_GENS
        }
    }

    /// The second half: shrink, and put the survivors back; clean ones are tried twice.
    fn shrink_isolated(&mut self, memcg: usize, kind: usize, scan: &mut ScanControl, list: &mut Vec<u32>) {
        let mut kept = std::mem::take(&mut self.scratch.kept);
        let mut retry = std::mem::take(&mut self.scratch.retry);
        let mut retried = false;
        loop {
            kept.clear();
            retry.clear();
            let result = self.shrink_folio_list(memcg, list, scan, &mut kept);
            scan.nr_reclaimed += result.reclaimed;
            for &folio in &kept {
                if self.judge_survivor(memcg, folio, retried) {
                    retry.push(folio);
                }
            }
            self.core.event(Event::LruLock);
            if retry.is_empty() {
                self.put_back(&kept);
            } else {
                let survivors: Vec<u32> = kept.iter().copied().filter(|f| !retry.contains(f)).collect();
                self.put_back(&survivors);
            }
            self.count_progress(memcg, scan, Progress::Steal, kind, result.reclaimed);
            if result.unqueued_dirty > 0 && result.unqueued_dirty == list.len() as u64 {
                self.write_back(memcg);
            }
            if retry.is_empty() {
                break;
            }
            retried = true;
            std::mem::swap(list, &mut retry);
        }
        self.scratch.kept = kept;
        self.scratch.retry = retry;
    }

    /// `move_folios_to_lru`.
    fn put_back(&mut self, folios: &[u32]) {
        for &folio in folios {
            self.core.event(Event::Putback);
            self.put_on_list(folio);
        }
    }

    /// What a survivor becomes; true: it is tried again at once.
    #[inline]
    fn judge_survivor(&mut self, memcg: usize, folio: u32, retried: bool) -> bool {
        let core = &mut self.core;
        let record = *core.folio(folio);
        if record.has(folio::UNEVICTABLE) {
            return false;
        }
        let state = core.pages.state(record.page);
        let writing = record.has(folio::WRITEBACK);
        let busy = state & (MAPPED | DIRTY) != 0 || writing || record.has(folio::ACTIVE);
        if core.rules.two_step() {
            if !busy && !retried {
                return true;
            }
            self.activate_if_oldest(memcg, folio);
            return false;
        }
        if record.has(folio::RECLAIM) && (state & DIRTY != 0 || writing) {
            if state & WORKINGSET != 0 {
                core.pages.set(record.page, REFERENCED);
            }
            return false;
        }
        if retried || busy || state & REFERENCED != 0 {
            core.clear_refs_flags(folio);
            core.folios.set(folio, folio::ACTIVE);
            return false;
        }
        true
    }

    /// Reworked: a survivor is made active only if it would land in the oldest generation.
    fn activate_if_oldest(&mut self, memcg: usize, folio: u32) {
        let record = *self.core.folio(folio);
        let page = record.page;
        let state = self.core.pages.state(page);
        let lruvec = &self.lruvecs[memcg];
        let placement = self.core.rules.placement;
        let seq = lruvec.seq_reworked(placement, record.flags, state, record.kind(), false);
        if seq == lruvec.min_seq[record.kind()] {
            self.core.pages.clear(page, REFS | REFERENCED);
            self.core.folios.set(folio, folio::ACTIVE);
        }
    }
}
