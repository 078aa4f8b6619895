//! Page faults: first touch, swap-in, mapped files, and pages that lost their PTE.
//!
//! Follows `do_anonymous_page`, `do_swap_page` (the path of a synchronous device
//! skips the swap cache up to 6.12; 7.2 goes through it, with the same counts for
//! a page of one user) and `filemap_fault`.

use super::access::RegionKind;
use super::charge::OutOfMemory;
use super::counter::Counter;
use super::event::Event;
use super::folio;
use super::hit::SLOW;
use super::kernel::Kernel;
use super::page::DIRTY;
use super::page::MAPPED;
use super::page::REFERENCED;
use super::page::RESIDENT;
use super::page::SHADOW;
use super::page::YOUNG;
use super::policy::Policy;
use super::reclaim::Gfp;
use super::version::Version;

impl<P: Policy> Kernel<P> {
    /// A load or store that finds no usable PTE.
    pub fn fault(&mut self, page: u32, write: bool) -> Result<(), OutOfMemory> {
        let region = self.core.region_of(page);
        let memcg = usize::from(self.core.regions[region].memcg);
        let kind = self.core.regions[region].kind;
        let mapped = RESIDENT | MAPPED;
        if self.core.pages.state(page) & mapped == mapped {
            self.write_clean(page, memcg, kind);
            return Ok(());
        }
        self.core.count(memcg, Counter::PgFault, 1);
        let written = if write { DIRTY } else { 0 };
        if self.core.pages.is_resident(page) {
            self.core.event(Event::MinorFault);
            return self.map_resident(page, write);
        }
        let in_swap = kind.is_swap_backed() && self.core.pages.slot[page as usize] & SHADOW != 0;
        if in_swap {
            return self.swap_in(page, region, write);
        }
        match kind {
            RegionKind::Anon if !write => {
                // The zero page: no folio, no charge.
                self.core.event(Event::MinorFault);
                self.core.pages.set(page, YOUNG);
                Ok(())
            }
            RegionKind::Anon | RegionKind::Shmem => {
                self.core.event(Event::MinorFault);
                self.core.event(Event::PageZero);
                let dirty = if kind == RegionKind::Shmem { DIRTY } else { written };
                self.add_page(page, region, Gfp::USER, true, MAPPED | YOUNG | dirty)
            }
            RegionKind::MappedFile | RegionKind::File => {
                self.core.event(Event::MajorFault);
                self.core.count(memcg, Counter::PgMajFault, 1);
                self.core.vmstat.add(Counter::PgPgIn, 4);
                self.add_page(page, region, Gfp::USER, true, MAPPED | YOUNG)?;
                if write {
                    self.dirty_file(page);
                }
                Ok(())
            }
        }
    }

    /// A store through a clean PTE: without a dirty bit in hardware, or where the
    /// PTE is read-only (files, and anon read in by 6.1), it faults.
    fn write_clean(&mut self, page: u32, memcg: usize, kind: RegionKind) {
        let young = self.core.pages.state(page) & YOUNG != 0;
        let file = !kind.is_swap_backed();
        let platform = self.core.platform;
        let faults = file || !platform.hw_dirty || self.core.rules.is(Version::K61);
        if faults || !young && !platform.hw_young {
            self.core.event(Event::MinorFault);
            self.core.count(memcg, Counter::PgFault, 1);
        } else if !young {
            self.core.event(Event::YoungSet);
        }
        self.core.pages.set(page, YOUNG);
        if file {
            self.dirty_file(page);
            return;
        }
        self.core.pages.set(page, DIRTY);
        let folio = self.core.pages.slot[page as usize];
        if self.core.folio(folio).has(folio::SWAPCACHE) {
            // The slot no longer holds what the page does.
            self.drop_swap_cache(memcg, folio);
        }
    }

    /// A folio is there but no PTE: page cache, or the swap cache.
    fn map_resident(&mut self, page: u32, write: bool) -> Result<(), OutOfMemory> {
        self.core.event(Event::XarrayLookup);
        let folio = self.core.pages.slot[page as usize];
        let record = *self.core.folio(folio);
        self.core.pages.set(page, MAPPED | YOUNG);
        if record.has(folio::SWAPCACHE) {
            let memcg = self.core.memcg_of(folio);
            let over_half = self.core.swap.over_half();
            if write || self.core.memcgs[memcg].swap_full(over_half) {
                self.drop_swap_cache(memcg, folio);
            }
        }
        if write {
            if record.has(folio::FILE) {
                self.dirty_file(page);
            } else {
                self.core.pages.set(page, DIRTY);
            }
        }
        Ok(())
    }

    /// A major fault on a synchronous or asynchronous swap device.
    fn swap_in(&mut self, page: u32, region: usize, write: bool) -> Result<(), OutOfMemory> {
        let memcg = usize::from(self.core.regions[region].memcg);
        self.core.event(Event::MajorFault);
        self.core.event(Event::XarrayLookup);
        self.core.count(memcg, Counter::PgMajFault, 1);
        // Shmem pages come in dirty, since their slot is dropped at once.
        let shmem = self.core.regions[region].kind == RegionKind::Shmem;
        let dirty = if write || shmem { DIRTY } else { 0 };
        self.add_swapped_page(page, region, true, MAPPED | YOUNG | dirty)
    }

    /// Brings a page in from the swap device. The charge comes first: the slot is
    /// still in use while reclaim makes room, and stays so when there is none.
    pub fn add_swapped_page(
        &mut self,
        page: u32,
        region: usize,
        in_fault: bool,
        state: u8,
    ) -> Result<(), OutOfMemory> {
        let memcg = usize::from(self.core.regions[region].memcg);
        self.charge_page(memcg, Gfp::USER)?;
        self.core.vmstat.add(Counter::PswpIn, 1);
        self.core.memcgs[memcg].swap_charged -= 1;
        self.core.swap.give_back();
        self.insert_charged(page, region, in_fault, state);
        Ok(())
    }

    /// Charges and allocates a folio for `page`, accounts the refault and adds it
    /// to the LRU batch.
    #[inline]
    pub fn add_page(
        &mut self,
        page: u32,
        region: usize,
        gfp: Gfp,
        in_fault: bool,
        state: u8,
    ) -> Result<(), OutOfMemory> {
        let memcg = usize::from(self.core.regions[region].memcg);
        self.charge_page(memcg, gfp)?;
        self.insert_charged(page, region, in_fault, state);
        Ok(())
    }

    /// Charges a page, a second time without `__GFP_NORETRY` where the first gave up.
    #[inline]
    fn charge_page(&mut self, memcg: usize, gfp: Gfp) -> Result<(), OutOfMemory> {
        if !self.charge(memcg, gfp)? {
            let gfp = Gfp { no_retry: false, ..gfp };
            self.charge(memcg, gfp)?;
        }
        Ok(())
    }

    /// The part of `add_page` after the charge.
    #[inline]
    pub fn insert_charged(&mut self, page: u32, region: usize, in_fault: bool, state: u8) {
        let place = self.core.regions[region];
        let memcg = usize::from(place.memcg);
        let file = !place.kind.is_swap_backed();
        let folio = self.core.folios.allocate(page, region, file);
        if place.locked {
            self.core.folios.set(folio, folio::UNEVICTABLE);
        }
        self.core.event(Event::PageAllocate);
        self.core.memcgs[memcg].resident[usize::from(file)] += 1;
        let slot = std::mem::replace(&mut self.core.pages.slot[page as usize], folio);
        self.core.pages.state[page as usize] = state | RESIDENT;
        if slot & SHADOW != 0 {
            self.lruvecs[memcg].refault(&mut self.core, folio, slot, in_fault && place.with_recency);
        }
        self.folio_add_lru(folio, in_fault);
    }

    /// A file page becomes dirty (`folio_mark_dirty`).
    pub fn dirty_file(&mut self, page: u32) {
        if self.core.pages.state(page) & DIRTY != 0 {
            return;
        }
        self.core.pages.set(page, DIRTY);
        let folio = self.core.pages.slot[page as usize];
        let memcg = self.core.memcg_of(folio);
        self.core.memcgs[memcg].dirty += 1;
        self.core.dirty_pages.push(page);
        self.core.vmstat.add(Counter::NrDirtied, 1);
        let background = self.core.memcgs[memcg].limit.map(|l| l / 10);
        if background.is_some_and(|most| self.core.memcgs[memcg].dirty > most) {
            self.write_back(memcg);
        }
    }

    /// The flusher writes the dirty file pages of `memcg`; the writes end at once.
    pub fn write_back(&mut self, memcg: usize) {
        let pages = std::mem::take(&mut self.core.dirty_pages);
        for page in pages {
            if self.core.pages.state(page) & (DIRTY | RESIDENT) != (DIRTY | RESIDENT) {
                continue;
            }
            let folio = self.core.pages.slot[page as usize];
            if self.core.memcg_of(folio) != memcg {
                self.core.dirty_pages.push(page);
                continue;
            }
            self.core.pages.clear(page, DIRTY);
            self.core.memcgs[memcg].dirty -= 1;
            self.core.vmstat.add(Counter::NrWritten, 1);
            if self.core.folio(folio).has(folio::RECLAIM) {
                self.rotate_reclaimable(folio);
            }
        }
    }

    /// Unmaps and drops `page`: its folio, swap slot or cache copy.
    pub fn free_page(&mut self, page: u32) {
        let region = self.core.region_of(page);
        let place = self.core.regions[region];
        let memcg = usize::from(place.memcg);
        if !self.core.pages.is_resident(page) {
            let slot = std::mem::replace(&mut self.core.pages.slot[page as usize], 0);
            self.core.pages.state[page as usize] = 0;
            if slot & SHADOW != 0 && place.kind.is_swap_backed() {
                self.core.memcgs[memcg].swap_charged -= 1;
                self.core.swap.give_back();
            }
            return;
        }
        // Freeing unmapped folios drains the processor's batches first.
        self.lru_add_drain();
        let folio = self.core.pages.slot[page as usize];
        let record = *self.core.folio(folio);
        if record.has(folio::WRITEBACK) {
            self.end_writeback();
        }
        if record.has(folio::SWAPCACHE) {
            self.drop_swap_cache(memcg, folio);
        }
        if record.has(folio::FILE) && self.core.pages.state(page) & DIRTY != 0 {
            self.core.memcgs[memcg].dirty -= 1;
        }
        if record.has(folio::LRU) {
            self.lruvecs[memcg].delete_folio(&mut self.core, folio);
        }
        self.core.pages.slot[page as usize] = 0;
        self.core.pages.state[page as usize] = 0;
        self.core.memcgs[memcg].resident[record.kind()] -= 1;
        self.core.folios.release(folio);
        self.core.memcgs[memcg].charged -= 1;
        self.core.event(Event::PageFree);
        self.core.event(Event::UnchargeBatch);
    }

    /// `folio_mark_accessed`, also where it is slow.
    pub fn mark_accessed(&mut self, table: &super::hit::HitTable, page: u32) {
        let state = self.core.pages.state(page);
        let entry = table.entry(super::access::AccessKind::FileRead, state);
        if entry & SLOW == 0 {
            self.core.pages.state[page as usize] = entry as u8;
            let mut tally = super::hit::Tally::default();
            tally.add(entry);
            tally.flush(&mut self.core.events, 1);
            return;
        }
        let folio = self.core.pages.slot[page as usize];
        if !self.core.folio(folio).has(folio::UNEVICTABLE) {
            P::activate_accessed(self, folio);
            self.core.pages.clear(page, REFERENCED);
        }
    }
}
