//! Shadow entries and refault distance (`workingset_eviction`,
//! `workingset_refault`, `workingset_test_recent`, `workingset_activation`).
//!
//! A shadow keeps the low 30 bits of the eviction counter here, the kernel 46 on
//! a machine of one node: distances beyond 2^30 evictions of one memcg would
//! alias, which at a page each is 4 TiB of reclaim.

use super::lruvec::Classic;
use crate::model::core::Core;
use crate::model::counter::Counter;
use crate::model::counter::LruSizes;
use crate::model::counter::of_type;
use crate::model::event::Event;
use crate::model::page::SHADOW;
use crate::model::page::WORKINGSET;

const WORKINGSET_BIT: u32 = 1 << 30;
const AGE_BITS: u32 = 30;

/// Evictions and activations since the shadow was made, by counters of `bits` bits.
pub fn refault_distance(now: u64, evicted: u64, bits: u32) -> u64 {
    now.wrapping_sub(evicted) & ((1 << bits) - 1)
}

/// A distance and the list sizes it is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distance {
    pub distance: u64,
    /// 0 anon, 1 file.
    pub kind: usize,
    pub sizes: LruSizes,
    pub free_swap: bool,
}

impl Distance {
    /// `workingset_test_recent`: it would have stayed in a memory of this size.
    pub fn is_recent(&self) -> bool {
        let sizes = &self.sizes;
        let mut size = sizes.active[1];
        if self.kind == 0 {
            size += sizes.inactive[1];
        }
        if self.free_swap {
            size += sizes.active[0];
            if self.kind == 1 {
                size += sizes.inactive[0];
            }
        }
        self.distance <= size
    }
}

impl Classic {
    /// `workingset_eviction`.
    #[inline]
    pub(super) fn pack_shadow(&mut self, core: &Core, folio: u32) -> u32 {
        let state = core.page_state(folio);
        let age = (self.nonresident_age & ((1 << AGE_BITS) - 1)) as u32;
        self.nonresident_age += 1;
        SHADOW | if state & WORKINGSET != 0 { WORKINGSET_BIT } else { 0 } | age
    }

    /// `workingset_refault`.
    pub(super) fn workingset_refault(&mut self, core: &mut Core, folio: u32, shadow: u32) {
        let memcg = core.memcg_of(folio);
        let kind = core.folio(folio).kind();
        core.count(memcg, of_type(kind, Counter::WorkingsetRefaultAnon, Counter::WorkingsetRefaultFile), 1);
        let evicted = u64::from(shadow & ((1 << AGE_BITS) - 1));
        let distance = Distance {
            distance: refault_distance(self.nonresident_age, evicted, AGE_BITS),
            kind,
            sizes: self.flushed_sizes(core),
            free_swap: core.memcgs[memcg].free_swap(core.swap.free()) > 0,
        };
        if !distance.is_recent() {
            core.event(Event::RefaultDistant);
            return;
        }
        core.event(Event::RefaultRecent);
        core.set_active(folio);
        self.nonresident_age += 1;
        core.count(memcg, of_type(kind, Counter::WorkingsetActivateAnon, Counter::WorkingsetActivateFile), 1);
        if shadow & WORKINGSET_BIT != 0 {
            let page = core.folio(folio).page;
            core.pages.set(page, WORKINGSET);
            self.note_cost(core, kind, 1, 0);
            let restore = of_type(kind, Counter::WorkingsetRestoreAnon, Counter::WorkingsetRestoreFile);
            core.count(memcg, restore, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(active: [u64; 2], inactive: [u64; 2]) -> LruSizes {
        LruSizes { active, inactive, unevictable: 0 }
    }

    #[test]
    fn distances_by_hand_values() {
        let distance = refault_distance(1800, 1000, 46);
        assert_eq!(distance, 800);
        let file = Distance { distance, kind: 1, sizes: sizes([50, 700], [50, 0]), free_swap: true };
        assert!(file.is_recent());
        assert!(!Distance { free_swap: false, ..file }.is_recent());
        let anon = Distance { distance, kind: 0, sizes: sizes([19, 300], [0, 480]), free_swap: true };
        assert!(!anon.is_recent());
        assert!(Distance { sizes: sizes([20, 300], [0, 480]), ..anon }.is_recent());
    }

    #[test]
    fn the_counter_wraps() {
        assert_eq!(refault_distance((1 << 46) + 50, (1 << 46) - 100, 46), 150);
        assert_eq!(refault_distance((1 << 30) + 5, (1 << 30) - 5, 30), 10);
    }
}
