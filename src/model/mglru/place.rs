//! Where a folio is put (`lru_gen_add_folio`, `lru_gen_folio_seq`), and moving one
//! to the next generation (`folio_inc_gen`).

use super::lruvec::MAX_NR_GENS;
use super::lruvec::MIN_NR_GENS;
use super::lruvec::Mglru;
use super::lruvec::gen_of;
use crate::model::core::Core;
use crate::model::folio;
use crate::model::page::DIRTY;
use crate::model::page::REFERENCED;
use crate::model::page::REFS;
use crate::model::page::WORKINGSET;
use crate::model::rules::Placement;
use crate::model::version::Version;

impl Mglru {
    /// Puts a folio on the list of the generation that its flags choose now.
    #[inline]
    pub(super) fn place(&mut self, core: &mut Core, folio: u32, tail: bool) {
        let record = *core.folio(folio);
        if record.has(folio::UNEVICTABLE) {
            self.unevictable += 1;
            return;
        }
        let state = core.pages.state(record.page);
        let kind = record.kind();
        let seq = match core.rules.placement {
            Placement::K612 => self.seq_first(record.flags, state, kind, tail),
            placement => self.seq_reworked(placement, record.flags, state, kind, tail),
        };
        let generation = gen_of(seq);
        if record.has(folio::ACTIVE) {
            core.folios.clear(folio, folio::ACTIVE);
            if core.rules.placement == Placement::K612 && !core.rules.is(Version::K61) {
                core.pages.clear(record.page, REFS | REFERENCED);
            }
        }
        core.folios.get_mut(folio).set_generation(Some(generation));
        self.nr_pages[generation][kind][record.zone()] += 1;
        self.count_move(core, None, Some(generation));
        let list = self.lists[generation][kind][record.zone()];
        if tail {
            list.add_tail(&mut core.folios, folio);
        } else {
            list.add_head(&mut core.folios, folio);
        }
    }

    /// 6.1 to 6.12.
    #[inline]
    fn seq_first(&self, flags: u32, state: u8, kind: usize, tail: bool) -> u64 {
        if flags & folio::ACTIVE != 0 {
            self.max_seq
        } else if kind == 0 && flags & folio::SWAPCACHE == 0 || under_writing(flags, state) {
            self.max_seq - 1
        } else if tail || self.min_seq[kind] + MIN_NR_GENS >= self.max_seq {
            self.min_seq[kind]
        } else {
            self.min_seq[kind] + 1
        }
    }

    /// The 6.14 rework and 7.2.
    pub(super) fn seq_reworked(
        &self,
        placement: Placement,
        flags: u32,
        state: u8,
        kind: usize,
        tail: bool,
    ) -> u64 {
        let min_seq = self.min_seq[kind];
        let posted = placement == Placement::Posted;
        let oldest = if posted { min_seq } else { min_seq.max(self.max_seq + 1 - MAX_NR_GENS as u64) };
        let workingset = state & WORKINGSET != 0;
        let seq = if flags & folio::ACTIVE != 0 {
            if workingset { self.max_seq } else { self.max_seq - 1 }
        } else if tail {
            oldest
        } else if kind == 0 && flags & folio::SWAPCACHE == 0 || under_writing(flags, state) {
            if posted { min_seq + 1 } else { self.max_seq - 1 }
        } else {
            let younger = workingset || placement == Placement::K72 && state & REFERENCED != 0;
            oldest + u64::from(younger)
        };
        seq.max(min_seq)
    }

    /// `folio_inc_gen` of a folio of generation slot `old`: the new slot. Flags only;
    /// the caller moves and counts it.
    #[inline]
    pub(super) fn inc_gen(core: &mut Core, folio: u32, old: usize) -> usize {
        let record = core.folios.get_mut(folio);
        let now = record.generation().expect("on a list");
        if now != old {
            return now;
        }
        let next = (old + 1) % MAX_NR_GENS;
        record.set_generation(Some(next));
        let page = record.page;
        let kept = if core.rules.two_step() { 0 } else { WORKINGSET };
        core.pages.clear(page, REFS | REFERENCED | kept);
        next
    }
}

/// Being written, or about to be, because reclaim met it.
#[inline]
fn under_writing(flags: u32, state: u8) -> bool {
    flags & folio::RECLAIM != 0 && (flags & folio::WRITEBACK != 0 || state & DIRTY != 0)
}
