//! Least recently used, exactly: every hit moves its page to the head.

use super::Cache;
use super::list::PageList;

#[derive(Debug, Clone)]
pub struct Lru {
    list: PageList,
    size: u32,
}

impl Lru {
    pub fn new(pages: u32, size: u32) -> Self {
        Lru { list: PageList::new(pages), size: size.max(1) }
    }
}

impl Cache for Lru {
    fn access(&mut self, page: u32) -> bool {
        let hit = self.list.contains(page);
        if hit {
            self.list.remove(page);
        } else if self.list.len() == self.size {
            self.list.pop_tail();
        }
        self.list.push_head(page);
        hit
    }

    fn remove(&mut self, page: u32) {
        if self.list.contains(page) {
            self.list.remove(page);
        }
    }

    fn resident(&self) -> u32 {
        self.list.len()
    }
}
