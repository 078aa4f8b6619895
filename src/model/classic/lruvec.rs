//! State of the classic LRU of one memcg, and list placement (`lruvec_add_folio`).

use super::shrink;
use crate::model::core::Core;
use crate::model::counter::Counter;
use crate::model::counter::LruSizes;
use crate::model::event::Event;
use crate::model::folio;
use crate::model::kernel::Kernel;
use crate::model::list::List;
use crate::model::list::unlink;
use crate::model::page;
use crate::model::policy::Policy;
use crate::model::policy::Reference;
use crate::model::reclaim::ScanControl;
use crate::model::version::Version;

pub(super) const ACTIVE_LIST: usize = 1;
/// Lists in the order that they are scanned: inactive_anon, active_anon, inactive_file, active_file.
pub(super) const LISTS: usize = 4;

/// `struct lruvec` under the classic LRU.
#[derive(Debug, Clone)]
pub struct Classic {
    pub(super) lists: [List; LISTS],
    /// Pages of each list (`lruvec_lru_size`).
    pub(super) sizes: [u64; LISTS],
    unevictable: u64,
    pub(super) anon_cost: u64,
    pub(super) file_cost: u64,
    pub(super) nonresident_age: u64,
    /// WORKINGSET_ACTIVATE by type at the end of the last reclaim.
    pub(super) refaults: [u64; 2],
    flushed: Flushed,
}

/// Statistics as `lruvec_page_state` reads them: those of the last flush, which
/// comes at whole multiples of the interval. Before the first, all are 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flushed {
    /// The flush after the one that sizes, and activations, were read at.
    next: u64,
    next_activate: u64,
    pub(super) sizes: LruSizes,
    pub(super) activate: [u64; 2],
}

/// Index of a list.
#[inline]
pub(super) fn list_of(kind: usize, active: bool) -> usize {
    2 * kind + usize::from(active) * ACTIVE_LIST
}

impl Classic {
    /// `lru_note_cost`, with the halving.
    pub(super) fn note_cost(&mut self, core: &Core, kind: usize, io: u64, rotated: u64) {
        let cost = if core.rules.is(Version::K61) { io } else { 32 * io + rotated };
        if cost == 0 && core.rules.is(Version::K72) {
            return;
        }
        if kind == 0 {
            self.anon_cost += cost;
        } else {
            self.file_cost += cost;
        }
        if self.anon_cost + self.file_cost > self.flushed_sizes(core).evictable() / 4 {
            self.anon_cost /= 2;
            self.file_cost /= 2;
        }
    }

    /// Sizes as decisions see them.
    #[inline]
    pub(super) fn flushed_sizes(&mut self, core: &Core) -> LruSizes {
        self.flushed(core).sizes
    }

    pub(super) fn flushed(&mut self, core: &Core) -> Flushed {
        if is_due(core, &mut self.flushed.next) {
            self.flushed.sizes = self.sizes();
        }
        self.flushed
    }

    /// `mem_cgroup_flush_stats`, which 6.1 calls before each scan, and which finds
    /// enough updates after any reclaim. Later kernels leave it to the interval.
    pub(super) fn flush_for_scan(&mut self, core: &Core, memcg: usize) {
        if core.rules.is(Version::K61) {
            self.flush_statistics(core, memcg);
        }
    }

    /// WORKINGSET_ACTIVATE by type, as of the last flush.
    pub(super) fn flushed_activate(&mut self, core: &Core, memcg: usize) -> [u64; 2] {
        if is_due(core, &mut self.flushed.next_activate) {
            self.flushed.activate = activations(core, memcg);
        }
        self.flushed.activate
    }

    /// `folio_referenced` over the page's VMA, clearing its young bit.
    #[inline]
    pub(super) fn folio_referenced(core: &mut Core, folio: u32) -> bool {
        let record = *core.folio(folio);
        let state = core.pages.state(record.page);
        if state & page::MAPPED == 0 {
            return false;
        }
        core.event(Event::RmapWalk);
        let seen = state & page::YOUNG != 0 && core.regions[record.region()].with_recency;
        if seen {
            core.pages.clear(record.page, page::YOUNG);
        }
        seen
    }
}

/// WORKINGSET_ACTIVATE by type.
fn activations(core: &Core, memcg: usize) -> [u64; 2] {
    let counters = &core.memcgs[memcg].counters;
    [Counter::WorkingsetActivateAnon, Counter::WorkingsetActivateFile].map(|counter| counters.get(counter))
}

/// Whether statistics were flushed since they were read last.
#[inline]
fn is_due(core: &Core, next: &mut u64) -> bool {
    let Some(interval) = core.platform.stats_flush else { return true };
    if core.accesses < *next {
        return false;
    }
    *next = (core.accesses / interval.max(1) + 1).saturating_mul(interval.max(1));
    true
}

impl Policy for Classic {
    fn new(core: &mut Core) -> Self {
        Classic {
            lists: std::array::from_fn(|_| List::new(&mut core.folios)),
            sizes: [0; LISTS],
            unevictable: 0,
            anon_cost: 0,
            file_cost: 0,
            nonresident_age: 0,
            refaults: [0; 2],
            flushed: {
                let first = core.platform.stats_flush.unwrap_or(0);
                Flushed { next: first, next_activate: first, ..Flushed::default() }
            },
        }
    }

    #[inline]
    fn add_folio(&mut self, core: &mut Core, folio: u32) {
        let record = core.folio(folio);
        if record.has(folio::UNEVICTABLE) {
            self.unevictable += 1;
            return;
        }
        let list = list_of(record.kind(), record.has(folio::ACTIVE));
        self.lists[list].add_head(&mut core.folios, folio);
        self.sizes[list] += 1;
    }

    fn add_folio_tail(&mut self, core: &mut Core, folio: u32) {
        let record = core.folio(folio);
        let list = list_of(record.kind(), record.has(folio::ACTIVE));
        self.lists[list].add_tail(&mut core.folios, folio);
        self.sizes[list] += 1;
    }

    #[inline]
    fn delete_folio(&mut self, core: &mut Core, folio: u32) {
        let record = core.folio(folio);
        if record.has(folio::UNEVICTABLE) {
            self.unevictable -= 1;
            return;
        }
        let list = list_of(record.kind(), record.has(folio::ACTIVE));
        unlink(&mut core.folios, folio);
        self.sizes[list] -= 1;
    }

    #[inline]
    fn before_add(_core: &mut Core, _folio: u32, _in_fault: bool) {}

    #[inline]
    fn eviction(&mut self, core: &mut Core, folio: u32) -> u32 {
        self.pack_shadow(core, folio)
    }

    fn refault(&mut self, core: &mut Core, folio: u32, shadow: u32, _in_fault: bool) {
        self.workingset_refault(core, folio, shadow);
    }

    fn activate_accessed(kernel: &mut Kernel<Self>, folio: u32) {
        if kernel.core.folio(folio).has(folio::LRU) {
            kernel.folio_activate(folio);
        } else if kernel.core.folio(folio).has(folio::BATCHED) {
            kernel.core.set_active(folio);
        }
        let memcg = kernel.core.memcg_of(folio);
        kernel.lruvecs[memcg].nonresident_age += 1;
    }

    fn check_references(kernel: &mut Kernel<Self>, folio: u32, _scan: &mut ScanControl) -> Reference {
        shrink::check_references(&mut kernel.core, folio)
    }

    fn keeps_promoted(_core: &Core) -> bool {
        false
    }

    fn shrink_lruvec(kernel: &mut Kernel<Self>, memcg: usize, scan: &mut ScanControl) {
        kernel.shrink_lruvec(memcg, scan);
    }

    fn prepare(kernel: &mut Kernel<Self>, memcg: usize, scan: &mut ScanControl) {
        kernel.prepare_scan_control(memcg, scan);
    }

    fn finish(kernel: &mut Kernel<Self>, memcg: usize) {
        let activate = kernel.lruvecs[memcg].flushed_activate(&kernel.core, memcg);
        kernel.lruvecs[memcg].refaults = activate;
    }

    fn flush_statistics(&mut self, core: &Core, memcg: usize) {
        self.flushed.sizes = self.sizes();
        self.flushed.activate = activations(core, memcg);
    }

    fn sizes(&self) -> LruSizes {
        let [inactive_anon, active_anon, inactive_file, active_file] = self.sizes;
        LruSizes {
            active: [active_anon, active_file],
            inactive: [inactive_anon, inactive_file],
            unevictable: self.unevictable,
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
    }

    fn check(&self, core: &Core, memcg: usize) {
        for (i, list) in self.lists.iter().enumerate() {
            let mut length = 0;
            for folio in list.from_tail(&core.folios) {
                let record = core.folio(folio);
                assert_eq!(list_of(record.kind(), record.has(folio::ACTIVE)), i, "folio on the wrong list");
                assert!(record.has(folio::LRU) && core.memcg_of(folio) == memcg);
                let copy = core.pages.state(record.page) & page::ACTIVE != 0;
                assert_eq!(copy, record.has(folio::ACTIVE), "copy of PG_active");
                length += 1;
            }
            assert_eq!(length, self.sizes[i], "length of list {i}");
        }
    }
}
