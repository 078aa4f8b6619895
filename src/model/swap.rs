//! The swap device: how many slots are free, and the slot caches in front.
//!
//! Follows `mm/swap_slots.c` (`folio_alloc_swap`, `free_swap_slot`) of 6.12:
//! slots are taken from the device 64 at a time and given back 64 at a time, so
//! the free count, which decides whether anon can be reclaimed, moves in lots.
//! 7.2 has no such caches.

use super::version::Version;

/// SWAP_SLOTS_CACHE_SIZE.
const CACHE: u64 = 64;
/// The cache is used above so many free slots for each processor, dropped below the other.
const CACHE_ON: u64 = 320;
const CACHE_OFF: u64 = 128;

/// One swap device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    total: u64,
    /// `get_nr_swap_pages`: free and in no cache.
    free: u64,
    /// Slots taken ahead.
    cached: u64,
    /// Slots given back, not yet counted as free.
    returned: u64,
    used: u64,
    /// Most slots used at once: a ramdisk page is allocated at the first write.
    touched: u64,
    has_cache: bool,
    cache_on: bool,
}

/// A slot, and whether taking it refilled the cache or touched a new device page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenSlot {
    pub refilled: bool,
    pub first_use: bool,
}

impl Swap {
    pub fn new(total: u64, version: Version) -> Self {
        let has_cache = version != Version::K72;
        Swap {
            total,
            free: total,
            cached: 0,
            returned: 0,
            used: 0,
            touched: 0,
            has_cache,
            cache_on: has_cache,
        }
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// `get_nr_swap_pages`.
    #[inline]
    pub fn free(&self) -> u64 {
        self.free
    }

    pub fn used(&self) -> u64 {
        self.used
    }

    /// `vm_swap_full`: over half used.
    pub fn over_half(&self) -> bool {
        self.free * 2 < self.total
    }

    fn check_cache(&mut self) {
        if self.has_cache {
            if self.cache_on && self.free < CACHE_OFF {
                self.cache_on = false;
                self.free += self.cached + self.returned;
                self.cached = 0;
                self.returned = 0;
            } else if !self.cache_on && self.free > CACHE_ON {
                self.cache_on = true;
            }
        }
    }

    /// `folio_alloc_swap`.
    #[inline]
    pub fn take(&mut self) -> Option<TakenSlot> {
        let mut refilled = false;
        if self.cached == 0 {
            self.check_cache();
            let lot = if self.cache_on { CACHE } else { 1 }.min(self.free);
            if lot == 0 {
                return None;
            }
            refilled = self.cache_on;
            self.free -= lot;
            self.cached = lot;
        }
        self.cached -= 1;
        self.used += 1;
        let first_use = self.used > self.touched;
        self.touched = self.touched.max(self.used);
        Some(TakenSlot { refilled, first_use })
    }

    /// `free_swap_slot`.
    #[inline]
    pub fn give_back(&mut self) {
        self.used -= 1;
        if !self.cache_on {
            self.free += 1;
            return;
        }
        if self.returned >= CACHE {
            self.free += self.returned;
            self.returned = 0;
        }
        self.returned += 1;
    }

    /// Slots are conserved: free, cached, returned or used.
    pub fn is_consistent(&self) -> bool {
        self.free + self.cached + self.returned + self.used == self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_counts_move_in_lots_of_64() {
        let mut swap = Swap::new(1000, Version::K612);
        assert!(swap.take().is_some_and(|s| s.refilled && s.first_use));
        assert_eq!(swap.free(), 936);
        for _ in 0..63 {
            assert!(!swap.take().expect("free slots").refilled);
        }
        assert_eq!((swap.free(), swap.used()), (936, 64));
        for _ in 0..64 {
            swap.give_back();
        }
        assert_eq!((swap.free(), swap.used()), (936, 0));
        swap.take();
        swap.give_back();
        assert_eq!(swap.free(), 936, "64 returned slots and one in the cache's place");
        assert!(swap.is_consistent());
    }

    #[test]
    fn near_full_it_works_without_cache_to_the_last_slot() {
        for version in [Version::K612, Version::K72] {
            let mut swap = Swap::new(500, version);
            let mut taken = 0;
            while swap.take().is_some() {
                taken += 1;
            }
            assert_eq!((taken, swap.free(), swap.used()), (500, 0, 500));
            assert!(swap.is_consistent());
            swap.give_back();
            assert!(swap.take().is_some());
        }
    }
}
