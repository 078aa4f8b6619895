//! First in, first out: a hit changes nothing.

use super::Cache;
use super::list::PageList;

#[derive(Debug, Clone)]
pub struct Fifo {
    list: PageList,
    size: u32,
}

impl Fifo {
    pub fn new(pages: u32, size: u32) -> Self {
        Fifo { list: PageList::new(pages), size: size.max(1) }
    }
}

impl Cache for Fifo {
    fn access(&mut self, page: u32) -> bool {
        if self.list.contains(page) {
            return true;
        }
        if self.list.len() == self.size {
            self.list.pop_tail();
        }
        self.list.push_head(page);
        false
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
