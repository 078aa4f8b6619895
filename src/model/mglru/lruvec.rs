//! `struct lru_gen_folio` of one memcg, and how the shared code reaches it.

use super::bloom::Bloom;
use super::look_around;
use super::tier::Controller;
use crate::model::core::Core;
use crate::model::counter::LruSizes;
use crate::model::event::Event;
use crate::model::folio;
use crate::model::kernel::Kernel;
use crate::model::list::List;
use crate::model::list::unlink;
use crate::model::page::REFERENCED;
use crate::model::page::WORKINGSET;
use crate::model::policy::Policy;
use crate::model::policy::Reference;
use crate::model::reclaim::ScanControl;
use crate::model::rules::Placement;
use crate::model::rules::Protection;

pub const MIN_NR_GENS: u64 = 2;
pub const MAX_NR_GENS: usize = 4;
pub(super) const ZONES: usize = 2;

/// `struct lru_gen_folio`, with the state of page-table walks.
#[derive(Debug, Clone)]
pub struct Mglru {
    pub(super) max_seq: u64,
    /// By type: anon, file.
    pub(super) min_seq: [u64; 2],
    /// Accesses done when each generation was made.
    pub(super) timestamps: [u64; MAX_NR_GENS],
    pub(super) lists: [[[List; ZONES]; 2]; MAX_NR_GENS],
    /// What the counters say; lists differ from it by folios that a walk promoted.
    pub(super) nr_pages: [[[i64; ZONES]; 2]; MAX_NR_GENS],
    pub(super) controller: Controller,
    /// `mm_state.seq`.
    pub(super) walk_seq: u64,
    pub(super) bloom: Bloom,
    pub(super) unevictable: u64,
    pub(super) zones: usize,
}

#[inline]
pub(super) const fn gen_of(seq: u64) -> usize {
    seq as usize % MAX_NR_GENS
}

impl Mglru {
    pub fn max_seq(&self) -> u64 {
        self.max_seq
    }

    pub fn min_seq(&self) -> [u64; 2] {
        self.min_seq
    }

    /// Pages of generation `seq` by type, as the debugfs file shows them.
    pub fn generation(&self, seq: u64) -> [u64; 2] {
        [0, 1].map(|kind| self.size(seq, kind))
    }

    /// Folio indices of a type from the oldest to the youngest, list by list.
    pub fn folios(&self, core: &Core, kind: usize) -> Vec<u32> {
        let lists = (self.min_seq[kind]..=self.max_seq).flat_map(|seq| self.lists[gen_of(seq)][kind]);
        lists.flat_map(|list| list.from_tail(&core.folios)).collect()
    }

    /// Accesses between the birth of generation `seq` and `now`.
    pub fn age(&self, seq: u64, now: u64) -> u64 {
        now - self.timestamps[gen_of(seq)]
    }

    /// Average refaults and totals of a type by tier (`lru_gen_full`).
    pub fn averages(&self, kind: usize) -> ([u64; 4], [u64; 4]) {
        (self.controller.avg_refaulted[kind], self.controller.avg_total[kind])
    }

    /// Pages of generation `seq`, negative counts as none.
    #[inline]
    pub(super) fn size(&self, seq: u64, kind: usize) -> u64 {
        self.nr_pages[gen_of(seq)][kind].iter().map(|n| (*n).max(0) as u64).sum()
    }

    /// `get_nr_gens`.
    #[inline]
    pub(super) fn nr_gens(&self, kind: usize) -> u64 {
        self.max_seq - self.min_seq[kind] + 1
    }

    /// `lru_gen_is_active`.
    #[inline]
    pub(super) fn is_active(&self, generation: usize) -> bool {
        generation == gen_of(self.max_seq) || generation == gen_of(self.max_seq - 1)
    }

    /// `lru_gen_update_size` of one folio that moves from one generation to another.
    #[inline]
    pub(super) fn count_move(&self, core: &mut Core, from: Option<usize>, to: Option<usize>) {
        let stores = u64::from(from.is_some()) + u64::from(to.is_some());
        core.events.add(Event::SizeUpdateStore, stores);
        let updates = match (from, to) {
            (Some(from), Some(to)) => 2 * u64::from(!self.is_active(from) && self.is_active(to)),
            _ => 1,
        };
        core.events.add(Event::SizeUpdate, updates);
    }

    /// Whether a page-table walk does the aging.
    pub(super) fn walks(core: &Core) -> bool {
        core.platform.hw_young
    }
}

impl Policy for Mglru {
    fn new(core: &mut Core) -> Self {
        let lists = std::array::from_fn(|_| {
            std::array::from_fn(|_| std::array::from_fn(|_| List::new(&mut core.folios)))
        });
        Mglru {
            max_seq: 3,
            min_seq: [0, 0],
            timestamps: [0; MAX_NR_GENS],
            lists,
            nr_pages: [[[0; ZONES]; 2]; MAX_NR_GENS],
            controller: Controller::new(core.platform.hist_gens),
            walk_seq: 2,
            bloom: Bloom::default(),
            unevictable: 0,
            zones: 1 + usize::from(core.platform.low_zone_pages.is_some()),
        }
    }

    #[inline]
    fn add_folio(&mut self, core: &mut Core, folio: u32) {
        self.place(core, folio, false);
    }

    fn add_folio_tail(&mut self, core: &mut Core, folio: u32) {
        self.place(core, folio, true);
    }

    /// `lru_gen_del_folio`.
    #[inline]
    fn delete_folio(&mut self, core: &mut Core, folio: u32) {
        let record = *core.folio(folio);
        let Some(generation) = record.generation() else {
            self.unevictable -= u64::from(record.has(folio::UNEVICTABLE));
            return;
        };
        unlink(&mut core.folios, folio);
        self.nr_pages[generation][record.kind()][record.zone()] -= 1;
        self.count_move(core, Some(generation), None);
        core.folios.get_mut(folio).set_generation(None);
    }

    /// A fault sets active; in 7.2 only for a folio of the working set.
    #[inline]
    fn before_add(core: &mut Core, folio: u32, in_fault: bool) {
        if !in_fault || core.folio(folio).has(folio::UNEVICTABLE) {
            return;
        }
        let page = core.folio(folio).page;
        if core.rules.placement != Placement::K72 || core.pages.state(page) & WORKINGSET != 0 {
            core.folios.set(folio, folio::ACTIVE);
        } else if core.pages.state(page) & REFERENCED == 0 {
            core.pages.set(page, REFERENCED);
            core.event(Event::MarkReferenced);
        }
    }

    #[inline]
    fn eviction(&mut self, core: &mut Core, folio: u32) -> u32 {
        self.pack_shadow(core, folio)
    }

    #[inline]
    fn refault(&mut self, core: &mut Core, folio: u32, shadow: u32, in_fault: bool) {
        self.lru_gen_refault(core, folio, shadow, in_fault);
    }

    fn activate_accessed(_kernel: &mut Kernel<Self>, _folio: u32) {
        unreachable!("no access activates under MGLRU: the table settles all of them");
    }

    #[inline]
    fn check_references(kernel: &mut Kernel<Self>, folio: u32, scan: &mut ScanControl) -> Reference {
        look_around::check_references(kernel, folio, scan)
    }

    /// `folio_update_gen` set referenced while it was isolated.
    #[inline]
    fn keeps_promoted(core: &Core) -> bool {
        core.rules.protection == Protection::Refs
    }

    fn shrink_lruvec(kernel: &mut Kernel<Self>, memcg: usize, scan: &mut ScanControl) {
        kernel.lru_gen_shrink_lruvec(memcg, scan);
    }

    #[inline]
    fn prepare(_kernel: &mut Kernel<Self>, _memcg: usize, _scan: &mut ScanControl) {}

    #[inline]
    fn finish(_kernel: &mut Kernel<Self>, _memcg: usize) {}

    fn sizes(&self) -> LruSizes {
        let mut sizes = LruSizes { unevictable: self.unevictable, ..LruSizes::default() };
        for kind in 0..2 {
            for seq in self.min_seq[kind]..=self.max_seq {
                let class = if self.is_active(gen_of(seq)) { &mut sizes.active } else { &mut sizes.inactive };
                class[kind] += self.size(seq, kind);
            }
        }
        sizes
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.bloom.bytes()
    }

    fn check(&self, core: &Core, memcg: usize) {
        let mut counted = [[[0i64; ZONES]; 2]; MAX_NR_GENS];
        for kind in 0..2 {
            assert!((MIN_NR_GENS..=MAX_NR_GENS as u64).contains(&self.nr_gens(kind)), "generations");
            for (generation, lists) in self.lists.iter().enumerate() {
                for (zone, list) in lists[kind].iter().enumerate() {
                    for folio in list.from_tail(&core.folios) {
                        let record = core.folio(folio);
                        assert_eq!(
                            (record.kind(), record.zone()),
                            (kind, zone),
                            "list of generation {generation}"
                        );
                        assert!(record.has(folio::LRU) && !record.has(folio::ACTIVE));
                        assert_eq!(core.memcg_of(folio), memcg);
                        let now = record.generation().expect("a generation while on a list");
                        counted[now][kind][zone] += 1;
                    }
                }
            }
        }
        assert_eq!(counted, self.nr_pages, "sizes of generations");
        if !core.rules.types_move_apart() {
            assert!(self.min_seq[0] <= self.min_seq[1], "anon never passes file: {:?}", self.min_seq);
        }
    }
}
