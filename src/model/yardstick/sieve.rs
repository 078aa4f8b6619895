//! SIEVE (Zhang et al., NSDI 2024): as CLOCK, but a page that was hit keeps
//! its place, and the hand goes on from where it stopped.

use super::Cache;
use super::list::PageList;

#[derive(Debug, Clone)]
pub struct Sieve {
    list: PageList,
    visited: Vec<bool>,
    /// The next candidate; the tail if none.
    hand: Option<u32>,
    size: u32,
}

impl Sieve {
    pub fn new(pages: u32, size: u32) -> Self {
        let visited = vec![false; pages as usize];
        Sieve { list: PageList::new(pages), visited, hand: None, size: size.max(1) }
    }

    fn evict(&mut self) {
        let mut candidate = self.hand.or(self.list.tail());
        while let Some(page) = candidate {
            let newer = self.list.newer(page);
            if !self.visited[page as usize] {
                self.hand = newer;
                self.list.remove(page);
                return;
            }
            self.visited[page as usize] = false;
            candidate = newer.or(self.list.tail());
        }
    }
}

impl Cache for Sieve {
    fn access(&mut self, page: u32) -> bool {
        if self.list.contains(page) {
            self.visited[page as usize] = true;
            return true;
        }
        if self.list.len() == self.size {
            self.evict();
        }
        self.list.push_head(page);
        false
    }

    fn remove(&mut self, page: u32) {
        if !self.list.contains(page) {
            return;
        }
        if self.hand == Some(page) {
            self.hand = self.list.newer(page);
        }
        self.list.remove(page);
        self.visited[page as usize] = false;
    }

    fn resident(&self) -> u32 {
        self.list.len()
    }
}
