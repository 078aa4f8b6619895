//! `shrink_folio_list` and what it calls: swap-out, unmapping, freeing.
//!
//! Dirty file folios are never written by a direct reclaimer; a swap device is
//! written to at once or, when asynchronous, by a write that ends before the
//! next reclaim begins.

use super::counter::Counter;
use super::event::Event;
use super::folio;
use super::folio::Folio;
use super::kernel::Kernel;
use super::page::DIRTY;
use super::page::MAPPED;
use super::page::REFERENCED;
use super::page::YOUNG;
use super::platform::SwapKind;
use super::policy::Policy;
use super::policy::Reference;
use super::reclaim::ScanControl;

/// Folios freed in one go.
const FREE_BATCH: u64 = 31;

/// What a pass over a list did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShrinkResult {
    pub reclaimed: u64,
    /// Pages given to the swap device.
    pub pageout: u64,
    /// Dirty file folios that are not queued for writing.
    pub unqueued_dirty: u64,
}

enum Fate {
    Freed,
    Keep,
    Activate,
}

impl<P: Policy> Kernel<P> {
    /// Reclaims the folios of `list`, all of `memcg`, in order; survivors go to `kept`.
    pub fn shrink_folio_list(
        &mut self,
        memcg: usize,
        list: &[u32],
        scan: &mut ScanControl,
        kept: &mut Vec<u32>,
    ) -> ShrinkResult {
        let mut result = ShrinkResult::default();
        let mut batch = 0;
        scan.nr_scanned += list.len() as u64;
        self.core.events.add(Event::PageLock, list.len() as u64);
        for &folio in list {
            match self.shrink_folio(memcg, folio, scan, &mut result) {
                Fate::Freed => {
                    result.reclaimed += 1;
                    batch += 1;
                    if batch == FREE_BATCH {
                        self.free_batch(memcg, batch);
                        batch = 0;
                    }
                }
                Fate::Keep => kept.push(folio),
                Fate::Activate => {
                    self.activate_locked(memcg, folio);
                    kept.push(folio);
                }
            }
        }
        self.free_batch(memcg, batch);
        result
    }

    /// `mem_cgroup_uncharge_folios` and `free_unref_folios`.
    fn free_batch(&mut self, memcg: usize, pages: u64) {
        if pages > 0 {
            self.core.memcgs[memcg].charged -= pages;
            self.core.event(Event::UnchargeBatch);
            self.core.events.add(Event::FreeBatch, pages);
            self.core.events.add(Event::PageFree, pages);
        }
    }

    /// The label `activate_locked`.
    fn activate_locked(&mut self, memcg: usize, folio: u32) {
        let record = *self.core.folio(folio);
        let over_half = self.core.swap.over_half();
        if record.has(folio::SWAPCACHE) && self.core.memcgs[memcg].swap_full(over_half) {
            self.drop_swap_cache(memcg, folio);
        }
        if !record.has(folio::UNEVICTABLE) {
            self.core.set_active(folio);
            self.core.count(memcg, Counter::PgActivate, 1);
        }
    }

    fn shrink_folio(
        &mut self,
        memcg: usize,
        folio: u32,
        scan: &mut ScanControl,
        result: &mut ShrinkResult,
    ) -> Fate {
        let record = *self.core.folio(folio);
        let page = record.page;
        if record.has(folio::UNEVICTABLE) {
            return Fate::Keep;
        }
        let state = self.core.pages.state(page);
        if state & (MAPPED | REFERENCED) == (MAPPED | REFERENCED) && P::keeps_promoted(&self.core) {
            return Fate::Keep;
        }
        if record.has(folio::WRITEBACK) {
            self.core.folios.set(folio, folio::RECLAIM);
            return Fate::Activate;
        }
        let reference = P::check_references(self, folio, scan);
        match reference {
            Reference::Activate => return Fate::Activate,
            Reference::Keep => return Fate::Keep,
            Reference::Reclaim | Reference::ReclaimClean => {}
        }
        let anon = !record.has(folio::FILE);
        if anon && !record.has(folio::SWAPCACHE) {
            if !scan.gfp.io {
                return Fate::Keep;
            }
            if !self.is_shmem(&record) && !self.add_to_swap(memcg, folio) {
                return Fate::Activate;
            }
        }
        self.unmap(page);
        if self.core.pages.state(page) & DIRTY != 0
            && let Some(fate) = self.write_dirty(memcg, folio, reference, scan, result)
        {
            return fate;
        }
        self.remove_mapping(memcg, folio)
    }

    fn is_shmem(&self, record: &Folio) -> bool {
        self.core.regions[record.region()].kind == super::access::RegionKind::Shmem
    }

    /// `add_to_swap`: a slot and the swap cache; the folio becomes dirty.
    fn add_to_swap(&mut self, memcg: usize, folio: u32) -> bool {
        let free = self.core.memcgs[memcg].free_swap(u64::MAX);
        if free == 0 {
            return false;
        }
        let Some(slot) = self.core.swap.take() else {
            return false;
        };
        self.core.memcgs[memcg].swap_charged += 1;
        self.core.event(Event::AddToSwap);
        self.core.events.add(Event::SlotRefill, u64::from(slot.refilled));
        self.core.events.add(Event::PageZero, u64::from(slot.first_use));
        self.core.folios.set(folio, folio::SWAPCACHE);
        let page = self.core.folio(folio).page;
        self.core.pages.set(page, DIRTY);
        true
    }

    /// Gives the slot of a folio in the swap cache back (`folio_free_swap`).
    pub fn drop_swap_cache(&mut self, memcg: usize, folio: u32) {
        self.core.folios.clear(folio, folio::SWAPCACHE);
        self.core.event(Event::XarrayDelete);
        self.core.swap.give_back();
        self.core.memcgs[memcg].swap_charged -= 1;
        let page = self.core.folio(folio).page;
        self.core.pages.set(page, DIRTY);
    }

    /// `try_to_unmap`, and the flush that a dirty PTE needs at once.
    #[inline]
    fn unmap(&mut self, page: u32) {
        let state = self.core.pages.state(page);
        if state & MAPPED != 0 {
            self.core.event(Event::UnmapPte);
            if state & DIRTY != 0 {
                self.core.event(Event::TlbFlush);
            }
            self.core.pages.clear(page, MAPPED | YOUNG);
        }
    }

    /// The dirty branch; `None` goes on to free the folio.
    fn write_dirty(
        &mut self,
        memcg: usize,
        folio: u32,
        reference: Reference,
        scan: &ScanControl,
        result: &mut ShrinkResult,
    ) -> Option<Fate> {
        let record = *self.core.folio(folio);
        if record.has(folio::FILE) {
            self.core.folios.set(folio, folio::RECLAIM);
            self.core.vmstat.add(Counter::NrVmscanImmediate, 1);
            result.unqueued_dirty += 1;
            return Some(Fate::Activate);
        }
        let may_enter = scan.gfp.fs || record.has(folio::SWAPCACHE) && scan.gfp.io;
        if reference == Reference::ReclaimClean || !may_enter || record.has(folio::BATCHED) {
            return Some(Fate::Keep);
        }
        if !record.has(folio::SWAPCACHE) && !self.add_to_swap(memcg, folio) {
            return Some(Fate::Activate);
        }
        result.pageout += 1;
        self.core.vmstat.add(Counter::PswpOut, 1);
        self.core.pages.clear(record.page, DIRTY);
        if self.core.platform.swap == SwapKind::Asynchronous {
            self.core.folios.set(folio, folio::WRITEBACK | folio::RECLAIM);
            self.core.writeback.push(folio);
            return Some(Fate::Keep);
        }
        None
    }

    /// `__remove_mapping` and the free: the slot gets the shadow entry.
    fn remove_mapping(&mut self, memcg: usize, folio: u32) -> Fate {
        let record = *self.core.folio(folio);
        if record.has(folio::BATCHED) {
            return Fate::Keep;
        }
        let shadow = self.lruvecs[memcg].eviction(&mut self.core, folio);
        let page = record.page as usize;
        self.core.pages.slot[page] = shadow;
        self.core.pages.state[page] = 0;
        self.core.memcgs[memcg].resident[record.kind()] -= 1;
        self.core.folios.release(folio);
        Fate::Freed
    }
}
