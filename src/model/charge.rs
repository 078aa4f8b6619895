//! Charging a page to a memcg (`try_charge_memcg`), which may reclaim first.

use thiserror::Error;

use super::counter::Counter;
use super::event::Event;
use super::kernel::Kernel;
use super::memcg::CHARGE_BATCH;
use super::policy::Policy;
use super::reclaim::Gfp;
use super::reclaim::SWAP_CLUSTER_MAX;

/// MAX_RECLAIM_RETRIES.
const MAX_RECLAIM_RETRIES: u32 = 16;

/// A memcg from which nothing more can be reclaimed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "memcg {memcg} is full at {charged} pages and nothing can be reclaimed, so the kernel would kill its task; \
     raise the limit, the swap size or the swappiness"
)]
pub struct OutOfMemory {
    pub memcg: usize,
    pub charged: u64,
}

impl<P: Policy> Kernel<P> {
    /// Charges one page. `Ok(false)` when the caller may not retry and the charge failed.
    #[inline]
    pub fn charge(&mut self, memcg: usize, gfp: Gfp) -> Result<bool, OutOfMemory> {
        if self.core.stock.consume(memcg) {
            self.core.event(Event::ChargeStock);
            return Ok(true);
        }
        self.charge_slow(memcg, gfp)
    }

    fn charge_slow(&mut self, memcg: usize, gfp: Gfp) -> Result<bool, OutOfMemory> {
        let mut batch = CHARGE_BATCH;
        let mut retries = MAX_RECLAIM_RETRIES;
        let mut drained = false;
        loop {
            if self.core.stock.consume(memcg) {
                self.core.event(Event::ChargeStock);
                return Ok(true);
            }
            if self.try_batch(memcg, &mut batch) {
                return Ok(true);
            }
            self.core.memcgs[memcg].counters.add(Counter::MemcgMax, 1);
            let reclaimed = self.try_to_free_mem_cgroup_pages(memcg, SWAP_CLUSTER_MAX, gfp, false);
            if self.core.memcgs[memcg].margin() >= 1 {
                continue;
            }
            if !drained {
                drained = true;
                self.drain_stock();
                continue;
            }
            if gfp.no_retry {
                return Ok(false);
            }
            if reclaimed > 0 {
                continue;
            }
            if retries == 0 {
                self.core.memcgs[memcg].counters.add(Counter::MemcgOom, 1);
                return Err(OutOfMemory { memcg, charged: self.core.memcgs[memcg].charged });
            }
            retries -= 1;
        }
    }

    /// `page_counter_try_charge` of a batch, then of one page.
    fn try_batch(&mut self, memcg: usize, batch: &mut u64) -> bool {
        loop {
            if self.core.memcgs[memcg].try_charge(*batch) {
                self.core.event(Event::ChargeHierarchy);
                if *batch > 1
                    && let Some((other, pages)) = self.core.stock.refill(memcg, *batch - 1)
                {
                    self.core.memcgs[other].charged -= pages;
                }
                return true;
            }
            self.core.event(Event::ChargeHierarchyFailed);
            if *batch == 1 {
                return false;
            }
            *batch = 1;
        }
    }

    /// `drain_all_stock`.
    pub fn drain_stock(&mut self) {
        if let Some((memcg, pages)) = self.core.stock.drain() {
            self.core.memcgs[memcg].charged -= pages;
        }
    }
}
