//! S3-FIFO (Yang et al., SOSP 2023): a small queue of a tenth that new pages
//! must survive, a main queue with reinsertion, and a list of ghosts as long
//! as the main queue.

use super::Cache;
use super::list::PageList;

/// Hits that a page is credited with at most.
const MOST_HITS: u8 = 3;
/// Hits that carry a page from the small queue to the main one.
const PROMOTE: u8 = 2;

#[derive(Debug, Clone)]
pub struct S3Fifo {
    small: PageList,
    main: PageList,
    ghost: PageList,
    hits: Vec<u8>,
    small_size: u32,
    size: u32,
}

impl S3Fifo {
    pub fn new(pages: u32, size: u32) -> Self {
        let list = || PageList::new(pages);
        let size = size.max(1);
        S3Fifo {
            small: list(),
            main: list(),
            ghost: list(),
            hits: vec![0; pages as usize],
            small_size: (size / 10).max(1),
            size,
        }
    }

    /// Frees a place; a page may only move from small to main on the way.
    fn evict(&mut self) {
        while self.resident() >= self.size {
            if self.small.len() >= self.small_size || self.main.len() == 0 {
                self.evict_small();
            } else {
                self.evict_main();
            }
        }
    }

    fn evict_small(&mut self) {
        let Some(page) = self.small.pop_tail() else { return };
        let hits = std::mem::take(&mut self.hits[page as usize]);
        if hits >= PROMOTE {
            self.main.push_head(page);
        } else {
            if self.ghost.len() > 0 && self.ghost.len() >= self.size - self.small_size {
                self.ghost.pop_tail();
            }
            self.ghost.push_head(page);
        }
    }

    fn evict_main(&mut self) {
        while let Some(page) = self.main.pop_tail() {
            let hits = &mut self.hits[page as usize];
            if *hits == 0 {
                return;
            }
            *hits -= 1;
            self.main.push_head(page);
        }
    }
}

impl Cache for S3Fifo {
    fn access(&mut self, page: u32) -> bool {
        if self.small.contains(page) || self.main.contains(page) {
            let hits = &mut self.hits[page as usize];
            *hits = (*hits + 1).min(MOST_HITS);
            return true;
        }
        // Before the eviction, which may push the ghost out.
        let returns = self.ghost.contains(page);
        if returns {
            self.ghost.remove(page);
        }
        self.evict();
        if returns {
            self.main.push_head(page);
        } else {
            self.small.push_head(page);
        }
        false
    }

    fn remove(&mut self, page: u32) {
        for list in [&mut self.small, &mut self.main, &mut self.ghost] {
            if list.contains(page) {
                list.remove(page);
            }
        }
        self.hits[page as usize] = 0;
    }

    fn resident(&self) -> u32 {
        self.small.len() + self.main.len()
    }
}
