//! Belady's MIN: evicts the page whose next use is farthest. It must know the
//! whole future, so it is made from the accesses that it will serve.

use std::collections::BinaryHeap;

use crate::model::access::Access;
use crate::model::access::AccessKind;

use super::Cache;

/// No further use, or not resident.
const NEVER: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub struct Belady {
    /// The next use of the page served at each place of the future.
    future: Vec<u64>,
    place: usize,
    /// The next use of each resident page; what the heap is checked against.
    next: Vec<Option<u64>>,
    /// Resident pages by next use; entries left behind by a later hit are
    /// dropped when they surface.
    heap: BinaryHeap<(u64, u32)>,
    resident: u32,
    size: u32,
}

impl Belady {
    pub fn new(accesses: &[Access], pages: u32, size: u32) -> Self {
        let mut seen = vec![NEVER; pages as usize];
        let mut future = vec![NEVER; accesses.len()];
        for (place, access) in accesses.iter().enumerate().rev() {
            let next = &mut seen[access.page as usize];
            // A page that is freed first is never used again as this page.
            if access.kind == AccessKind::Free {
                *next = NEVER;
            } else {
                future[place] = *next;
                *next = place as u64;
            }
        }
        let next = vec![None; pages as usize];
        Belady { future, place: 0, next, heap: BinaryHeap::new(), resident: 0, size: size.max(1) }
    }

    fn evict(&mut self) {
        while let Some((use_at, page)) = self.heap.pop() {
            if self.next[page as usize] == Some(use_at) {
                self.next[page as usize] = None;
                self.resident -= 1;
                return;
            }
        }
    }
}

impl Cache for Belady {
    /// Panics if called more often than accesses were announced.
    fn access(&mut self, page: u32) -> bool {
        let next_use = self.future[self.place];
        self.place += 1;
        let hit = self.next[page as usize].is_some();
        if !hit {
            if self.resident == self.size {
                self.evict();
            }
            self.resident += 1;
        }
        self.next[page as usize] = Some(next_use);
        self.heap.push((next_use, page));
        hit
    }

    fn remove(&mut self, page: u32) {
        self.place += 1;
        if self.next[page as usize].take().is_some() {
            self.resident -= 1;
        }
    }

    fn resident(&self) -> u32 {
        self.resident
    }
}
