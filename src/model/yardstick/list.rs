//! A doubly linked list over page ids, with links in one array.

const NONE: u32 = u32::MAX;
/// Links of a page that is on no list.
const OFF: [u32; 2] = [NONE, NONE - 1];

/// Pages from the newest (head) to the oldest (tail); a page stands once.
#[derive(Debug, Clone)]
pub(super) struct PageList {
    /// Towards the head, towards the tail.
    links: Vec<[u32; 2]>,
    head: u32,
    tail: u32,
    length: u32,
}

impl PageList {
    pub(super) fn new(pages: u32) -> Self {
        PageList { links: vec![OFF; pages as usize], head: NONE, tail: NONE, length: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.length
    }

    pub(super) fn contains(&self, page: u32) -> bool {
        self.links[page as usize] != OFF
    }

    pub(super) fn tail(&self) -> Option<u32> {
        (self.tail != NONE).then_some(self.tail)
    }

    /// The next newer page.
    pub(super) fn newer(&self, page: u32) -> Option<u32> {
        let newer = self.links[page as usize][0];
        (newer != NONE).then_some(newer)
    }

    pub(super) fn push_head(&mut self, page: u32) {
        self.links[page as usize] = [NONE, self.head];
        match self.head {
            NONE => self.tail = page,
            head => self.links[head as usize][0] = page,
        }
        self.head = page;
        self.length += 1;
    }

    pub(super) fn remove(&mut self, page: u32) {
        let [newer, older] = self.links[page as usize];
        match newer {
            NONE => self.head = older,
            newer => self.links[newer as usize][1] = older,
        }
        match older {
            NONE => self.tail = newer,
            older => self.links[older as usize][0] = newer,
        }
        self.links[page as usize] = OFF;
        self.length -= 1;
    }

    pub(super) fn pop_tail(&mut self) -> Option<u32> {
        let tail = self.tail()?;
        self.remove(tail);
        Some(tail)
    }
}
