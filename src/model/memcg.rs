//! One memory cgroup: its charge, limit and counters, and the processor's stock
//! of charges taken ahead (`consume_stock`, `refill_stock`).
//!
//! Memcgs are siblings below the root, each with its own limit.

use super::counter::Counters;

/// MEMCG_CHARGE_BATCH.
pub const CHARGE_BATCH: u64 = 64;

/// One memcg.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memcg {
    /// `memory.max` in pages; `None` is "max".
    pub limit: Option<u64>,
    /// `memory.swap.max` in pages.
    pub swap_limit: Option<u64>,
    pub swappiness: u32,
    /// The page counter: resident pages and the stock.
    pub charged: u64,
    pub swap_charged: u64,
    /// Resident pages, by type.
    pub resident: [u64; 2],
    pub dirty: u64,
    pub counters: Counters,
}

impl Memcg {
    pub fn new(limit: Option<u64>, swappiness: u32) -> Self {
        Memcg {
            limit,
            swap_limit: None,
            swappiness,
            charged: 0,
            swap_charged: 0,
            resident: [0, 0],
            dirty: 0,
            counters: Counters::default(),
        }
    }

    /// `mem_cgroup_margin`.
    #[inline]
    pub fn margin(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.charged))
    }

    /// `page_counter_try_charge`.
    #[inline]
    pub fn try_charge(&mut self, pages: u64) -> bool {
        let fits = self.margin() >= pages;
        if fits {
            self.charged += pages;
        }
        fits
    }

    /// `mem_cgroup_get_nr_swap_pages`, `free` being those of the device.
    #[inline]
    pub fn free_swap(&self, free: u64) -> u64 {
        self.swap_limit.map_or(free, |limit| free.min(limit.saturating_sub(self.swap_charged)))
    }

    /// `mem_cgroup_swap_full`.
    pub fn swap_full(&self, device_over_half: bool) -> bool {
        device_over_half || self.swap_limit.is_some_and(|limit| self.swap_charged * 2 >= limit)
    }
}

/// The stock of one processor: one memcg's charges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stock {
    pub memcg: usize,
    pub pages: u64,
}

impl Stock {
    #[inline]
    pub fn consume(&mut self, memcg: usize) -> bool {
        let hit = self.memcg == memcg && self.pages > 0;
        self.pages -= u64::from(hit);
        hit
    }

    /// Puts `pages` of `memcg` in; gives back what it held for another, or all
    /// when it grows above the batch. Returns what to uncharge.
    pub fn refill(&mut self, memcg: usize, pages: u64) -> Option<(usize, u64)> {
        let other = (self.memcg != memcg && self.pages > 0).then_some((self.memcg, self.pages));
        if self.memcg != memcg {
            *self = Stock { memcg, pages: 0 };
        }
        self.pages += pages;
        if self.pages > CHARGE_BATCH {
            let all = (memcg, self.pages);
            self.pages = 0;
            return Some(all);
        }
        other
    }

    pub fn drain(&mut self) -> Option<(usize, u64)> {
        let held = (self.pages > 0).then_some((self.memcg, self.pages));
        self.pages = 0;
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stock_serves_one_memcg() {
        let mut stock = Stock::default();
        assert_eq!(stock.refill(0, 63), None);
        assert!(stock.consume(0) && !stock.consume(1));
        assert_eq!(stock.refill(1, 63), Some((0, 62)));
        assert_eq!(stock.refill(1, 2), Some((1, 65)), "above 64 it is given back whole");
        assert_eq!(stock.drain(), None);
    }

    #[test]
    fn charges_stop_at_the_limit() {
        let mut memcg = Memcg::new(Some(100), 60);
        assert!(memcg.try_charge(64) && !memcg.try_charge(64) && memcg.try_charge(36));
        assert_eq!(memcg.margin(), 0);
        assert_eq!(memcg.free_swap(7), 7);
        memcg.swap_limit = Some(10);
        memcg.swap_charged = 5;
        assert_eq!(memcg.free_swap(7), 5);
        assert!(memcg.swap_full(false));
    }
}
