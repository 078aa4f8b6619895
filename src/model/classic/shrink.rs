//! `shrink_active_list`, `shrink_inactive_list` and `isolate_lru_folios`.

use super::lruvec::Classic;
use super::lruvec::list_of;
use crate::model::core::Core;
use crate::model::counter::Counter;
use crate::model::event::Event;
use crate::model::folio;
use crate::model::kernel::Kernel;
use crate::model::page;
use crate::model::policy::Reference;
use crate::model::reclaim::Progress;
use crate::model::reclaim::ScanControl;
use crate::model::version::Version;

/// `folio_check_references` of the classic LRU.
#[inline]
pub(super) fn check_references(core: &mut Core, folio: u32) -> Reference {
    let record = *core.folio(folio);
    let seen = Classic::folio_referenced(core, folio);
    let region = core.regions[record.region()];
    let referenced = core.pages.state(record.page) & page::REFERENCED != 0;
    core.pages.clear(record.page, page::REFERENCED);
    if region.locked {
        return Reference::Activate;
    }
    let file = record.has(folio::FILE);
    if seen {
        core.pages.set(record.page, page::REFERENCED);
        let activate = referenced || region.exec && file;
        return if activate { Reference::Activate } else { Reference::Keep };
    }
    if referenced && file { Reference::ReclaimClean } else { Reference::Reclaim }
}

impl Kernel<Classic> {
    /// `isolate_lru_folios`: takes up to `count` folios from the tail.
    fn isolate(&mut self, memcg: usize, list: usize, count: u64, out: &mut Vec<u32>) {
        self.core.event(Event::LruLock);
        let lruvec = &mut self.lruvecs[memcg];
        let lists = lruvec.lists[list];
        while (out.len() as u64) < count
            && let Some(folio) = lists.pop_tail(&mut self.core.folios)
        {
            out.push(folio);
        }
        self.core.look_ahead(out);
        for folio in out.iter() {
            self.core.folios.clear(*folio, folio::LRU);
        }
        let taken = out.len() as u64;
        lruvec.sizes[list] -= taken;
        self.core.events.add(Event::ScanFolio, taken);
        self.core.events.add(Event::PrefetchIssue, taken);
        self.core.events.add(Event::Isolate, taken);
        self.core.event(Event::SizeUpdateBatched);
    }

    /// `shrink_active_list`.
    pub(super) fn shrink_active_list(&mut self, memcg: usize, kind: usize, count: u64, scan: &ScanControl) {
        self.lru_add_drain();
        let mut taken = std::mem::take(&mut self.scratch.isolated);
        taken.clear();
        self.isolate(memcg, list_of(kind, true), count, &mut taken);
        self.core.event(Event::ShrinkActive);
        self.count_refill(memcg, scan, taken.len() as u64);
        let mut rotated = 0;
        for &folio in &taken {
            let exec = self.core.regions[self.core.folio(folio).region()].exec;
            let seen = Classic::folio_referenced(&mut self.core, folio);
            if seen && exec && kind == 1 {
                rotated += 1;
                continue;
            }
            self.core.clear_active(folio);
            let page = self.core.folio(folio).page;
            self.core.pages.set(page, page::WORKINGSET);
        }
        self.core.event(Event::LruLock);
        for &folio in &taken {
            self.putback(memcg, folio);
        }
        self.core.count(memcg, Counter::PgDeactivate, taken.len() as u64 - rotated);
        if rotated > 0 && !self.core.rules.is(Version::K61) {
            self.lruvecs[memcg].note_cost(&self.core, kind, 0, rotated);
        }
        self.scratch.isolated = taken;
    }

    /// `move_folios_to_lru` of one folio: to the head of the list its flags choose.
    fn putback(&mut self, memcg: usize, folio: u32) {
        self.core.event(Event::Putback);
        self.put_on_list(folio);
        if self.core.folio(folio).has(folio::ACTIVE) {
            self.lruvecs[memcg].nonresident_age += 1;
        }
    }

    /// `shrink_inactive_list`; returns the pages freed.
    pub(super) fn shrink_inactive_list(
        &mut self,
        memcg: usize,
        kind: usize,
        count: u64,
        scan: &mut ScanControl,
    ) -> u64 {
        self.lru_add_drain();
        let mut taken = std::mem::take(&mut self.scratch.isolated);
        let mut kept = std::mem::take(&mut self.scratch.kept);
        taken.clear();
        kept.clear();
        self.isolate(memcg, list_of(kind, false), count, &mut taken);
        let scanned = taken.len() as u64;
        self.count_progress(memcg, scan, Progress::Scan, kind, scanned);
        let mut reclaimed = 0;
        if scanned > 0 {
            self.core.event(Event::ShrinkInactive);
            let result = self.shrink_folio_list(memcg, &taken, scan, &mut kept);
            reclaimed = result.reclaimed;
            self.core.event(Event::LruLock);
            for &folio in &kept {
                self.putback(memcg, folio);
            }
            self.count_progress(memcg, scan, Progress::Steal, kind, reclaimed);
            self.lruvecs[memcg].note_cost(&self.core, kind, result.pageout, scanned - reclaimed);
            if result.unqueued_dirty == scanned {
                self.write_back(memcg);
            }
        }
        self.scratch.isolated = taken;
        self.scratch.kept = kept;
        reclaimed
    }
}
