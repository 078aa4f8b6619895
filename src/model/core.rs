//! What both policies share: pages, folios, memcgs, swap, batches and counts.

use std::hint::black_box;

use super::access::Region;
use super::counter::Counter;
use super::counter::Counters;
use super::event::Event;
use super::event::Events;
use super::folio;
use super::folio::Arena;
use super::folio::Folio;
use super::memcg::Memcg;
use super::memcg::Stock;
use super::page::ACTIVE;
use super::page::PageTable;
use super::page::REFERENCED;
use super::page::REFS;
use super::page::WORKINGSET;
use super::page::refs_field;
use super::platform::Platform;
use super::rules::Rules;
use super::swap::Swap;
use super::version::PolicyKind;

/// Shared state.
#[derive(Debug, Clone)]
pub struct Core {
    pub rules: Rules,
    pub platform: Platform,
    pub policy: PolicyKind,
    pub pages: PageTable,
    pub folios: Arena,
    pub regions: Vec<Region>,
    pub memcgs: Vec<Memcg>,
    pub stock: Stock,
    pub swap: Swap,
    /// The processor's `lru_add` batch.
    pub add_batch: Vec<u32>,
    /// Its `lru_activate` batch (used with several processors).
    pub activate_batch: Vec<u32>,
    /// Folios under writeback, in order of submission.
    pub writeback: Vec<u32>,
    /// Pages of dirty file folios, in order of dirtying.
    pub dirty_pages: Vec<u32>,
    /// Machine-wide counters (`/proc/vmstat`).
    pub vmstat: Counters,
    pub events: Events,
    /// Accesses done.
    pub accesses: u64,
    /// PF_MEMALLOC: the task is reclaiming.
    pub reclaiming: bool,
    last_region: usize,
}

impl Core {
    pub fn new(
        rules: Rules,
        platform: Platform,
        policy: PolicyKind,
        regions: &[Region],
        memcgs: Vec<Memcg>,
        swap_pages: u64,
    ) -> Self {
        let pages = regions.iter().map(Region::end).max().unwrap_or(0);
        Core {
            rules,
            platform,
            policy,
            pages: PageTable::new(pages),
            folios: Arena::new(platform.low_zone_pages),
            regions: regions.to_vec(),
            memcgs,
            stock: Stock::default(),
            swap: Swap::new(swap_pages, rules.version),
            add_batch: Vec::with_capacity(rules.batch),
            activate_batch: Vec::with_capacity(rules.batch),
            writeback: Vec::new(),
            dirty_pages: Vec::new(),
            vmstat: Counters::default(),
            events: Events::default(),
            accesses: 0,
            reclaiming: false,
            last_region: 0,
        }
    }

    /// Index of the region that holds `page`.
    #[inline]
    pub fn region_of(&mut self, page: u32) -> usize {
        if !self.regions[self.last_region].contains(page) {
            let above = self.regions.partition_point(|r| r.first <= page);
            self.last_region = above.checked_sub(1).expect("regions start at or below every page");
        }
        self.last_region
    }

    #[inline]
    pub fn folio(&self, index: u32) -> &Folio {
        self.folios.get(index)
    }

    #[inline]
    pub fn page_state(&self, index: u32) -> u8 {
        self.pages.state(self.folios.get(index).page)
    }

    #[inline]
    pub fn memcg_of(&self, index: u32) -> usize {
        usize::from(self.regions[self.folios.get(index).region()].memcg)
    }

    /// Reads the state byte and slot of each folio's page: what follows then finds
    /// them in the cache, instead of waiting for one after the other.
    #[inline]
    pub fn look_ahead(&self, folios: &[u32]) {
        let mut seen = 0;
        for folio in folios {
            let page = self.folios.get(*folio).page as usize;
            seen ^= self.pages.slot[page] ^ u32::from(self.pages.state[page]);
        }
        black_box(seen);
    }

    /// Adds to a counter of a memcg; one of those that the machine counts alike.
    #[inline]
    pub fn count(&mut self, memcg: usize, counter: Counter, count: u64) {
        self.memcgs[memcg].counters.add(counter, count);
    }

    #[inline]
    pub fn event(&mut self, event: Event) {
        self.events.one(event);
    }

    #[inline]
    pub fn is_classic(&self) -> bool {
        self.policy == PolicyKind::Classic
    }

    /// Sets PG_active; the classic LRU keeps a copy in the page's byte.
    #[inline]
    pub fn set_active(&mut self, index: u32) {
        self.folios.set(index, folio::ACTIVE);
        if self.is_classic() {
            let page = self.folios.get(index).page;
            self.pages.set(page, ACTIVE);
        }
    }

    #[inline]
    pub fn clear_active(&mut self, index: u32) {
        self.folios.clear(index, folio::ACTIVE);
        if self.is_classic() {
            let page = self.folios.get(index).page;
            self.pages.clear(page, ACTIVE);
        }
    }

    /// MGLRU, K612: REFS plus workingset, 0 to 4. Reworked: referenced ? REFS + 1 : 0.
    #[inline]
    pub fn refs(&self, state: u8) -> u32 {
        refs_of(self.rules.two_step(), state)
    }

    /// MGLRU tier of a folio (`lru_tier_from_refs`).
    #[inline]
    pub fn tier(&self, state: u8) -> usize {
        tier_of(self.rules.two_step(), state)
    }

    /// Clears REFS, referenced and workingset (LRU_REFS_MASK and LRU_REFS_FLAGS).
    #[inline]
    pub fn clear_refs_flags(&mut self, index: u32) {
        let page = self.folios.get(index).page;
        self.pages.clear(page, REFS | REFERENCED | WORKINGSET);
    }
}

/// Accesses through file descriptors that a state byte stands for.
pub const fn refs_of(two_step: bool, state: u8) -> u32 {
    if two_step {
        if state & REFERENCED != 0 { refs_field(state) as u32 + 1 } else { 0 }
    } else {
        refs_field(state) as u32 + (state & WORKINGSET != 0) as u32
    }
}

/// `lru_tier_from_refs`.
pub const fn tier_of(two_step: bool, state: u8) -> usize {
    let refs = refs_of(two_step, state);
    if two_step {
        if state & WORKINGSET != 0 { 3 } else { order_base_2(refs) }
    } else {
        order_base_2(refs + 1)
    }
}

/// ceil(log2(n)), 0 for 0.
pub const fn order_base_2(n: u32) -> usize {
    if n <= 1 { 0 } else { (u32::BITS - (n - 1).leading_zeros()) as usize }
}

#[cfg(test)]
mod tests {
    use super::super::access::AccessKind;
    use super::super::flag::Flags;
    use super::super::hit::HitTable;
    use super::super::page::RESIDENT;
    use super::super::version::Version;
    use super::*;

    #[test]
    fn tier_after_n_reads() {
        for (version, refs) in [(Version::K612, None), (Version::K614Merged, Some([0, 1, 2, 3, 4, 4, 4, 4]))]
        {
            let rules = Rules::new(version, Flags::NONE);
            let table = HitTable::new(&rules, &Platform::UML, PolicyKind::Mglru);
            let mut state = RESIDENT;
            for (n, tier) in [0, 0, 1, 2, 2, 3, 3, 3].into_iter().enumerate() {
                assert_eq!(tier_of(rules.two_step(), state), tier, "{version} after {n} reads");
                if let Some(refs) = refs {
                    assert_eq!(refs_of(true, state), refs[n]);
                }
                let workingset_from = if rules.two_step() { 5 } else { 2 };
                assert_eq!(state & WORKINGSET != 0, n >= workingset_from, "{version} after {n}");
                state = table.entry(AccessKind::FileRead, state) as u8;
            }
        }
    }
}
