//! Aging by page-table walk (`walk_mm`, `walk_pmd_range`, `walk_pte_range`,
//! `folio_update_gen`, `reset_batch_size`).
//!
//! One mm per memcg, its VMAs the mapped regions, each from the start of a page
//! table. A PMD counts as young when any of its PTEs is; the kernel would skip a
//! table that Bloom skipped before and that was not touched since.

use super::lruvec::Mglru;
use super::lruvec::gen_of;
use crate::model::access::Region;
use crate::model::access::RegionKind;
use crate::model::core::Core;
use crate::model::event::Event;
use crate::model::page::MAPPED;
use crate::model::page::REFERENCED;
use crate::model::page::REFS;
use crate::model::page::RESIDENT;
use crate::model::page::WORKINGSET;
use crate::model::page::YOUNG;
use crate::model::page::each_with;

/// PTRS_PER_PTE.
pub(super) const PTRS_PER_TABLE: u32 = 512;

impl Mglru {
    /// Walks every mm of `memcg` for generation `seq` (`iterate_mm_list`).
    pub(super) fn walk_mms(&mut self, core: &mut Core, memcg: usize, seq: u64, can_swap: bool) {
        // The filter that this walk fills is the next generation's.
        self.bloom.reset(seq + 1);
        let force = seq == 3;
        for index in 0..core.regions.len() {
            let region = core.regions[index];
            if usize::from(region.memcg) == memcg && !skips(&region, can_swap) {
                self.walk_region(core, &region, seq, force);
            }
        }
        self.walk_seq += 1;
    }

    /// `walk_pmd_range` over one VMA.
    fn walk_region(&mut self, core: &mut Core, region: &Region, seq: u64, force: bool) {
        let mut start = region.first;
        while start < region.end() {
            let table = start / PTRS_PER_TABLE;
            let end = ((table + 1) * PTRS_PER_TABLE).min(region.end());
            let states = &core.pages.state[start as usize..end as usize];
            let young = states.iter().fold(0, |any, state| any | state & YOUNG) != 0;
            if !young && !force {
                core.event(Event::WalkPmdNotYoung);
            } else if !force && !self.bloom.test(seq, u64::from(table)) {
                core.event(Event::WalkPmdBloom);
            } else {
                core.event(Event::WalkPmdScanned);
                let promoted = self.walk_table(core, start, end);
                if promoted * 8 >= end - start {
                    self.bloom.add(seq + 1, u64::from(table));
                }
            }
            start = end;
        }
    }

    /// `walk_pte_range`; returns how many PTEs were young.
    fn walk_table(&mut self, core: &mut Core, start: u32, end: u32) -> u32 {
        let mut pages = [0u32; PTRS_PER_TABLE as usize];
        let mut count = 0;
        let states = &core.pages.state[start as usize..end as usize];
        each_with(states, RESIDENT | MAPPED | YOUNG, |i| {
            pages[count] = start + i as u32;
            count += 1;
        });
        for page in &pages[..count] {
            core.pages.clear(*page, YOUNG);
            let folio = core.pages.slot[*page as usize];
            self.update_gen(core, folio);
        }
        let young = count as u32;
        core.events.add(Event::WalkPte, u64::from(end - start));
        core.events.add(Event::WalkPteYoung, u64::from(young));
        young
    }

    /// `folio_update_gen` to the youngest generation, and its count: the folio stays
    /// where it is until it is sorted.
    pub(super) fn update_gen(&mut self, core: &mut Core, folio: u32) {
        let record = *core.folio(folio);
        let state = core.pages.state(record.page);
        core.event(Event::UpdateGeneration);
        if core.rules.two_step() {
            if state & (REFERENCED | WORKINGSET) == 0 {
                core.pages.clear(record.page, REFS);
                core.pages.set(record.page, REFERENCED);
                return;
            }
        } else if record.generation().is_none() {
            core.pages.set(record.page, REFERENCED);
            return;
        }
        let Some(old) = record.generation() else {
            return;
        };
        if core.rules.two_step() {
            core.pages.clear(record.page, REFS | REFERENCED);
            core.pages.set(record.page, WORKINGSET);
        } else {
            core.pages.clear(record.page, REFS | REFERENCED | WORKINGSET);
        }
        let youngest = gen_of(self.max_seq);
        if old != youngest {
            core.folios.get_mut(folio).set_generation(Some(youngest));
            self.nr_pages[old][record.kind()][record.zone()] -= 1;
            self.nr_pages[youngest][record.kind()][record.zone()] += 1;
        }
    }
}

/// `should_skip_vma`.
fn skips(region: &Region, can_swap: bool) -> bool {
    region.kind == RegionKind::File
        || region.locked
        || !region.with_recency
        || region.kind.is_swap_backed() && !can_swap
}
