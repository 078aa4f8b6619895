//! `sort_folio` and `isolate_folio`: what happens to one folio at the tail of the
//! oldest generation.

use super::lruvec::Mglru;
use super::lruvec::gen_of;
use crate::model::core::Core;
use crate::model::core::refs_of;
use crate::model::core::tier_of;
use crate::model::counter::Counter;
use crate::model::counter::of_type;
use crate::model::event::Event;
use crate::model::folio;
use crate::model::folio::Folio;
use crate::model::list::List;
use crate::model::page::DIRTY;
use crate::model::page::REFERENCED;
use crate::model::page::REFS;
use crate::model::page::WORKINGSET;
use crate::model::reclaim::ScanControl;
use crate::model::version::Version;

/// What became of a folio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sorted {
    /// To be isolated.
    Evictable,
    /// Promoted by a walk: moved to the head of its own generation.
    Promoted,
    /// Moved to the next generation.
    Protected,
    /// In the run that moves in bulk at the end.
    InRun,
}

/// Refs 4 and workingset: protected whatever the tier.
const LAZILY_PROMOTED: u32 = 5;

impl Mglru {
    /// `sort_folio` of a folio taken off the tail of its list.
    #[inline]
    pub(super) fn sort_folio(
        &mut self,
        core: &mut Core,
        folio: u32,
        kind: usize,
        tier_limit: usize,
    ) -> Sorted {
        let record = *core.folio(folio);
        let seq = self.min_seq[kind];
        let oldest = gen_of(seq);
        let generation = record.generation().expect("on a list");
        if generation != oldest {
            self.lists[generation][kind][record.zone()].add_head(&mut core.folios, folio);
            core.event(Event::SortPromoted);
            core.event(Event::ListMove);
            return Sorted::Promoted;
        }
        let state = core.pages.state(record.page);
        // Most folios have none of these: tier 0.
        if state & (REFERENCED | REFS | WORKINGSET) != 0 {
            let two_step = core.rules.two_step();
            let refs = refs_of(two_step, state);
            let tier = tier_of(two_step, state);
            let lazily = refs + u32::from(state & WORKINGSET != 0) == LAZILY_PROMOTED;
            let saturated = if two_step { lazily } else { refs == 4 };
            if tier > tier_limit || saturated {
                if !(two_step && lazily) {
                    self.controller.note_protected(seq, kind, tier);
                }
                if core.rules.is(Version::K61) {
                    let memcg = core.memcg_of(folio);
                    let activate =
                        of_type(kind, Counter::WorkingsetActivateAnon, Counter::WorkingsetActivateFile);
                    core.count(memcg, activate, 1);
                }
                return self.protect(core, folio, oldest);
            }
        }
        if core.rules.is(Version::K61) && waits_for_writing(&record, state) {
            core.folios.set(folio, folio::RECLAIM);
            let next = self.move_to_next(core, folio, oldest);
            self.lists[next][kind][record.zone()].add_head(&mut core.folios, folio);
            return Sorted::Protected;
        }
        Sorted::Evictable
    }

    /// A protected folio goes to the tail of the next generation, reworked to the head.
    fn protect(&mut self, core: &mut Core, folio: u32, oldest: usize) -> Sorted {
        core.event(Event::SortProtected);
        let record = *core.folio(folio);
        let next = self.move_to_next(core, folio, oldest);
        if core.rules.bulk_move {
            return Sorted::InRun;
        }
        let list: List = self.lists[next][record.kind()][record.zone()];
        if core.rules.two_step() {
            list.add_head(&mut core.folios, folio);
        } else {
            list.add_tail(&mut core.folios, folio);
        }
        core.event(Event::ListMove);
        Sorted::Protected
    }

    /// `folio_inc_gen` with its count.
    fn move_to_next(&mut self, core: &mut Core, folio: u32, old: usize) -> usize {
        let next = Mglru::inc_gen(core, folio, old);
        let record = *core.folio(folio);
        self.nr_pages[old][record.kind()][record.zone()] -= 1;
        self.nr_pages[next][record.kind()][record.zone()] += 1;
        // With batched counters one update for the list follows at its end.
        if !core.rules.batched_counters {
            self.count_move(core, Some(old), Some(next));
        }
        next
    }

    /// `isolate_folio` of a folio taken off its list: false leaves it aside.
    #[inline]
    pub(super) fn isolate_folio(core: &mut Core, folio: u32, scan: &ScanControl) -> bool {
        let record = *core.folio(folio);
        let state = core.pages.state(record.page);
        if !scan.gfp.io && !core.rules.is(Version::K72) {
            let dirty = state & DIRTY != 0;
            let anon = !record.has(folio::FILE);
            let first = core.rules.is(Version::K61);
            if dirty && (anon || first) || anon && !record.has(folio::SWAPCACHE) {
                return false;
            }
        }
        if core.rules.is(Version::K61) {
            core.folios.clear(folio, folio::RECLAIM);
        }
        if core.rules.two_step() {
            if state & REFERENCED == 0 {
                core.pages.clear(record.page, REFS);
            }
        } else if state & REFERENCED == 0 {
            core.pages.clear(record.page, REFS | WORKINGSET);
        } else {
            core.pages.clear(record.page, REFERENCED);
        }
        let record = core.folios.get_mut(folio);
        record.flags &= !(folio::LRU | folio::GEN_MASK);
        true
    }
}

/// 6.1: locked, under writeback, or a dirty file folio (not lazyfree).
fn waits_for_writing(record: &Folio, state: u8) -> bool {
    record.has(folio::WRITEBACK) || record.has(folio::FILE) && state & DIRTY != 0
}
