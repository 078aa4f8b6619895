//! CLOCK, that is, FIFO with a second chance: a page hit since it came or was
//! last passed goes round once more.

use super::Cache;
use super::list::PageList;

#[derive(Debug, Clone)]
pub struct Clock {
    list: PageList,
    referenced: Vec<bool>,
    size: u32,
}

impl Clock {
    pub fn new(pages: u32, size: u32) -> Self {
        Clock { list: PageList::new(pages), referenced: vec![false; pages as usize], size: size.max(1) }
    }

    fn evict(&mut self) {
        while let Some(page) = self.list.pop_tail() {
            if !self.referenced[page as usize] {
                return;
            }
            self.referenced[page as usize] = false;
            self.list.push_head(page);
        }
    }
}

impl Cache for Clock {
    fn access(&mut self, page: u32) -> bool {
        if self.list.contains(page) {
            self.referenced[page as usize] = true;
            return true;
        }
        if self.list.len() == self.size {
            self.evict();
        }
        self.list.push_head(page);
        false
    }

    fn remove(&mut self, page: u32) {
        if self.list.contains(page) {
            self.list.remove(page);
            self.referenced[page as usize] = false;
        }
    }

    fn resident(&self) -> u32 {
        self.list.len()
    }
}
