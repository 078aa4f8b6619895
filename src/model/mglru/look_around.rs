//! References found through rmap: `folio_check_references`, `folio_referenced_one`
//! and `lru_gen_look_around`, which looks at the neighbours of a young PTE.

use super::lruvec::Mglru;
use super::lruvec::gen_of;
use super::walk::PTRS_PER_TABLE;
use crate::model::access::Region;
use crate::model::event::Event;
use crate::model::folio;
use crate::model::kernel::Kernel;
use crate::model::page::MAPPED;
use crate::model::page::REFERENCED;
use crate::model::page::REFS;
use crate::model::page::RESIDENT;
use crate::model::page::WORKINGSET;
use crate::model::page::YOUNG;
use crate::model::page::each_with;
use crate::model::policy::Reference;
use crate::model::reclaim::MIN_LRU_BATCH;
use crate::model::reclaim::ScanControl;
use crate::model::version::Version;

/// PTEs looked at, as pages.
const WINDOW: u32 = MIN_LRU_BATCH as u32;
/// 6.1: fewer folios are activated one by one.
const FEW: usize = 15;

/// `folio_check_references` under MGLRU.
#[inline]
pub(super) fn check_references(kernel: &mut Kernel<Mglru>, folio: u32, scan: &ScanControl) -> Reference {
    let core = &mut kernel.core;
    let record = *core.folio(folio);
    let state = core.pages.state(record.page);
    let region = core.regions[record.region()];
    let mut seen = false;
    if state & MAPPED != 0 {
        core.event(Event::RmapWalk);
        seen = state & YOUNG != 0 && region.with_recency;
        if seen {
            core.pages.clear(record.page, YOUNG);
            kernel.look_around(record.page, folio, &region, scan);
        }
    }
    let core = &mut kernel.core;
    let state = core.pages.state(record.page);
    let referenced = state & REFERENCED != 0;
    let file = record.has(folio::FILE);
    if core.rules.two_step() {
        if region.locked {
            return Reference::Activate;
        }
        if !seen {
            return Reference::Reclaim;
        }
        return if kernel.set_refs(folio) { Reference::Activate } else { Reference::Keep };
    }
    core.pages.clear(record.page, REFERENCED);
    if region.locked {
        return Reference::Activate;
    }
    if seen {
        core.pages.set(record.page, REFERENCED);
        let activate = referenced || region.exec && file;
        return if activate { Reference::Activate } else { Reference::Keep };
    }
    // A file folio whose flag was set while isolated is not written for.
    if referenced && file { Reference::ReclaimClean } else { Reference::Reclaim }
}

impl Kernel<Mglru> {
    /// `lru_gen_set_refs`: true when the folio was referenced before.
    pub(super) fn set_refs(&mut self, folio: u32) -> bool {
        let page = self.core.folio(folio).page;
        let state = self.core.pages.state(page);
        if state & (REFERENCED | WORKINGSET) == 0 {
            self.core.pages.clear(page, REFS);
            self.core.pages.set(page, REFERENCED);
            return false;
        }
        if self.core.rules.is(Version::K72) && self.core.refs(state) <= 1 {
            if state & REFERENCED == 0 {
                self.core.pages.set(page, REFERENCED);
            } else {
                self.core.pages.state[page as usize] += crate::model::page::REFS_ONE;
            }
            return true;
        }
        self.core.pages.clear(page, REFS | REFERENCED);
        self.core.pages.set(page, WORKINGSET);
        true
    }

    /// `lru_gen_look_around`, the found PTE's young bit being cleared already.
    fn look_around(&mut self, page: u32, found: u32, region: &Region, scan: &ScanControl) {
        let first = self.core.rules.is(Version::K61);
        let (start, end) = window(page, region);
        if end - start == 1 && !first {
            return;
        }
        self.core.event(Event::LookAround);
        let anon_too = !self.core.folio(found).has(folio::FILE) || first || self.core.rules.is(Version::K72);
        let neighbours = self.young_neighbours(start, end, anon_too);
        let young = neighbours.len() as u32 + 1;
        self.core.events.add(Event::LookAroundPte, u64::from(end - start));
        self.core.events.add(Event::LookAroundYoung, u64::from(young));
        if first {
            // The window includes the found folio, which is isolated.
            self.core.pages.set(page, REFERENCED);
        }
        let at_once = scan.has_walk || first && self.movable(&neighbours) >= FEW;
        for &neighbour in &neighbours {
            self.promote_neighbour(neighbour, at_once);
        }
        self.scratch.neighbours = neighbours;
        if Mglru::walks(&self.core) && young * 8 >= end - start {
            let memcg = usize::from(region.memcg);
            let lruvec = &mut self.lruvecs[memcg];
            lruvec.bloom.add(lruvec.max_seq, u64::from(page / PTRS_PER_TABLE));
        }
    }

    /// Folios on a list that is not the youngest: those in the bitmap of 6.1.
    fn movable(&self, neighbours: &[u32]) -> usize {
        let generation = |folio: &&u32| {
            let memcg = self.core.memcg_of(**folio);
            let youngest = gen_of(self.lruvecs[memcg].max_seq);
            self.core.folio(**folio).generation().is_some_and(|generation| generation != youngest)
        };
        neighbours.iter().filter(generation).count()
    }

    /// Clears the young bits of the window; returns their folios.
    fn young_neighbours(&mut self, start: u32, end: u32, anon_too: bool) -> Vec<u32> {
        let mut found = std::mem::take(&mut self.scratch.neighbours);
        found.clear();
        let pages = &mut self.core.pages;
        let slots = &pages.slot[start as usize..end as usize];
        let states = &mut pages.state[start as usize..end as usize];
        each_with(states, RESIDENT | MAPPED | YOUNG, |i| found.push(i as u32));
        for place in &mut found {
            let index = *place as usize;
            *place = slots[index];
            // A private mapping of a file may hold anon pages, which stay as they are.
            if anon_too || self.core.folios.get(*place).has(folio::FILE) {
                states[index] &= !YOUNG;
            } else {
                *place = u32::MAX;
            }
        }
        if !anon_too {
            found.retain(|folio| *folio != u32::MAX);
        }
        self.core.folios.look_ahead(&found);
        found
    }

    fn promote_neighbour(&mut self, folio: u32, at_once: bool) {
        let memcg = self.core.memcg_of(folio);
        let lruvec = &mut self.lruvecs[memcg];
        let youngest = gen_of(lruvec.max_seq);
        let generation = self.core.folio(folio).generation();
        if at_once {
            // 6.1 leaves the flags of a folio that is in the youngest already.
            if !(self.core.rules.is(Version::K61) && generation == Some(youngest)) {
                lruvec.update_gen(&mut self.core, folio);
            }
            return;
        }
        if self.core.rules.two_step() {
            if self.set_refs(folio) && generation.is_some_and(|g| g != youngest) {
                self.folio_activate(folio);
            }
            return;
        }
        match generation {
            None => {
                let page = self.core.folio(folio).page;
                self.core.pages.set(page, REFERENCED);
            }
            Some(generation) if generation != youngest => {
                self.core.clear_refs_flags(folio);
                self.folio_activate(folio);
            }
            Some(_) => {}
        }
    }
}

/// The window around `page`: its page table and VMA, cut to 64 pages.
fn window(page: u32, region: &Region) -> (u32, u32) {
    let table = page / PTRS_PER_TABLE * PTRS_PER_TABLE;
    let start = table.max(region.first);
    let end = (table + PTRS_PER_TABLE).min(region.end());
    if end - start <= WINDOW {
        (start, end)
    } else if page - start < WINDOW / 2 {
        (start, start + WINDOW)
    } else if end - page < WINDOW / 2 {
        (end - WINDOW, end)
    } else {
        (page - WINDOW / 2, page + WINDOW / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::access::RegionKind;

    #[test]
    fn windows_stay_in_table_and_region() {
        let region = Region::new(0, 10_000, RegionKind::Anon);
        assert_eq!(window(10, &region), (0, 64));
        assert_eq!(window(100, &region), (68, 132));
        assert_eq!(window(510, &region), (448, 512));
        assert_eq!(window(512, &region), (512, 576));
        let small = Region::new(100, 20, RegionKind::Anon);
        assert_eq!(window(110, &small), (100, 120));
    }
}
