//! What must hold between two accesses (7.4): lists, charges, generations, and
//! conservation of pages and swap slots.

use super::folio;
use super::kernel::Kernel;
use super::page::RESIDENT;
use super::policy::Policy;

impl<P: Policy> Kernel<P> {
    /// Panics when an invariant is broken. Walks all state: for tests and debugging.
    pub fn check(&self) {
        let core = &self.core;
        let mut resident = vec![[0u64; 2]; core.memcgs.len()];
        let mut on_lists = vec![0u64; core.memcgs.len()];
        let mut live = 0;
        let mut cached_slots = 0u64;
        for (index, record) in core.folios.iter() {
            live += 1;
            let page = record.page as usize;
            assert_eq!(core.pages.slot[page], index, "page {page} points back to its folio");
            assert!(core.pages.state[page] & RESIDENT != 0, "page {page} of a folio is resident");
            let memcg = core.memcg_of(index);
            resident[memcg][record.kind()] += 1;
            on_lists[memcg] += u64::from(record.has(folio::LRU));
            cached_slots += u64::from(record.has(folio::SWAPCACHE));
        }
        assert_eq!(live, core.folios.live(), "folios in use");
        let states = core.pages.state.iter().filter(|s| **s & RESIDENT != 0).count();
        assert_eq!(states, live, "resident pages");
        for (index, memcg) in core.memcgs.iter().enumerate() {
            assert_eq!(memcg.resident, resident[index], "resident pages of memcg {index}");
            let stock = if core.stock.memcg == index { core.stock.pages } else { 0 };
            let pages: u64 = memcg.resident.iter().sum();
            assert_eq!(memcg.charged, pages + stock, "charge of memcg {index}");
            assert!(memcg.limit.is_none_or(|limit| memcg.charged <= limit), "memcg {index} above its limit");
            let batched = self.waiting(index);
            assert_eq!(on_lists[index] + batched, pages, "listed and waiting folios of memcg {index}");
            let sizes = self.lruvecs[index].sizes();
            assert_eq!(sizes.evictable() + sizes.unevictable, on_lists[index], "sizes of memcg {index}");
            self.lruvecs[index].check(core, index);
        }
        self.check_swap(cached_slots);
    }

    fn check_swap(&self, cached_slots: u64) {
        let core = &self.core;
        assert!(core.swap.is_consistent(), "swap slots: {:?}", core.swap);
        let mut swapped = 0;
        for region in core.regions.iter().filter(|r| r.kind.is_swap_backed()) {
            swapped +=
                (region.first..region.end()).filter(|p| core.pages.shadow(*p).is_some()).count() as u64;
        }
        assert_eq!(core.swap.used(), swapped + cached_slots, "used swap slots");
        let charged: u64 = core.memcgs.iter().map(|m| m.swap_charged).sum();
        assert_eq!(charged, core.swap.used(), "swap charges");
    }

    fn waiting(&self, memcg: usize) -> u64 {
        self.core.add_batch.iter().filter(|f| self.core.memcg_of(**f) == memcg).count() as u64
    }
}
