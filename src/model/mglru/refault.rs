//! Shadow entries (`lru_gen_eviction`, `lru_gen_test_recent`, `lru_gen_refault`).
//!
//! A shadow keeps 28 bits of the sequence number here; the kernel has 18 to 44,
//! and neither wraps in a run.

use super::lruvec::MAX_NR_GENS;
use super::lruvec::Mglru;
use crate::model::core::Core;
use crate::model::core::order_base_2;
use crate::model::counter::Counter;
use crate::model::counter::of_type;
use crate::model::event::Event;
use crate::model::page::REFS;
use crate::model::page::REFS_ONE;
use crate::model::page::SHADOW;
use crate::model::page::WORKINGSET;
use crate::model::version::Version;

const WORKINGSET_BIT: u32 = 1 << 30;
const REFS_SHIFT: u32 = 28;
const SEQ_MASK: u32 = (1 << REFS_SHIFT) - 1;
/// BIT(LRU_REFS_WIDTH).
const REFS_LIMIT: u32 = 4;

impl Mglru {
    #[inline]
    pub(super) fn pack_shadow(&mut self, core: &Core, folio: u32) -> u32 {
        let record = core.folio(folio);
        let state = core.pages.state(record.page);
        let kind = record.kind();
        let refs = core.refs(state);
        let seq = self.min_seq[kind];
        self.controller.note_evicted(seq, kind, core.tier(state));
        let workingset = if core.rules.two_step() { state & WORKINGSET != 0 } else { refs != 0 };
        SHADOW
            | if workingset { WORKINGSET_BIT } else { 0 }
            | refs.saturating_sub(1) << REFS_SHIFT
            | seq as u32 & SEQ_MASK
    }

    fn is_recent(&self, core: &Core, seq: u32, kind: usize) -> bool {
        if core.rules.refault_by_distance {
            let distance = (self.max_seq as u32).wrapping_sub(seq) & SEQ_MASK;
            distance < MAX_NR_GENS as u32 || distance > SEQ_MASK - MAX_NR_GENS as u32
        } else {
            seq == self.min_seq[kind] as u32 & SEQ_MASK
        }
    }

    pub(super) fn lru_gen_refault(&mut self, core: &mut Core, folio: u32, shadow: u32, in_fault: bool) {
        let memcg = core.memcg_of(folio);
        let kind = core.folio(folio).kind();
        let recent = self.is_recent(core, shadow & SEQ_MASK, kind);
        let first = core.rules.is(Version::K61);
        if recent || !first {
            let refault = of_type(kind, Counter::WorkingsetRefaultAnon, Counter::WorkingsetRefaultFile);
            core.count(memcg, refault, 1);
        }
        core.event(if recent { Event::RefaultRecent } else { Event::RefaultDistant });
        if !recent {
            return;
        }
        let workingset = shadow & WORKINGSET_BIT != 0;
        let packed = shadow >> REFS_SHIFT & (REFS_LIMIT - 1);
        let page = core.folio(folio).page;
        let (activate, restore) = if core.rules.two_step() {
            let refs = packed + 1;
            let tier = if workingset { 3 } else { order_base_2(refs) };
            self.controller.note_refaulted(self.min_seq[kind], kind, tier);
            if workingset {
                core.pages.set(page, WORKINGSET);
            } else {
                core.pages.set(page, (refs as u8 - 1) * REFS_ONE);
            }
            let posted = core.rules.placement == crate::model::rules::Placement::Posted;
            (in_fault && (workingset || posted), workingset)
        } else {
            let refs = packed + u32::from(workingset);
            self.controller.note_refaulted(self.min_seq[kind], kind, order_base_2(refs + 1));
            let restore = in_fault || refs >= REFS_LIMIT - 1;
            if restore {
                core.pages.set(page, REFS | WORKINGSET);
            }
            (!first, restore)
        };
        if activate {
            core.count(
                memcg,
                of_type(kind, Counter::WorkingsetActivateAnon, Counter::WorkingsetActivateFile),
                1,
            );
        }
        if restore {
            core.count(
                memcg,
                of_type(kind, Counter::WorkingsetRestoreAnon, Counter::WorkingsetRestoreFile),
                1,
            );
        }
    }
}
