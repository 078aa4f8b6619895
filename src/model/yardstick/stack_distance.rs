//! LRU stack distance: how many other pages were touched since a page's last
//! touch. A page still lies in an LRU cache of C pages if the distance is
//! below C, so one pass gives the misses of every size (Mattson et al., 1970).
//!
//! A Fenwick tree over touch times holds a mark at each page's last touch;
//! the distance is the marks after it. Times are packed anew when they run out.

const NEVER: u32 = u32::MAX;
const FIRST_TIMES: usize = 1024;

/// What a touch found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// Never touched, or forgotten.
    Cold,
    /// Distinct other pages touched since.
    Pages(u32),
}

/// The order in which pages were last touched.
#[derive(Debug, Clone)]
pub struct StackDistance {
    last: Vec<u32>,
    /// The page touched at each time, if that was its last touch.
    page_at: Vec<u32>,
    /// Fenwick tree, from 1.
    tree: Vec<u32>,
    now: usize,
    live: u32,
}

impl StackDistance {
    /// For page ids below `pages`.
    pub fn new(pages: u32) -> Self {
        StackDistance {
            last: vec![NEVER; pages as usize],
            page_at: vec![NEVER; FIRST_TIMES],
            tree: vec![0; FIRST_TIMES + 1],
            now: 0,
            live: 0,
        }
    }

    fn add(&mut self, time: usize, change: i32) {
        let mut at = time + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add_signed(change);
            at += at & at.wrapping_neg();
        }
    }

    /// Marks at or before this time.
    fn marks_until(&self, time: usize) -> u32 {
        let (mut at, mut sum) = (time + 1, 0);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        sum
    }

    /// Numbers the last touches anew, in order, with room for as many again.
    fn pack(&mut self) {
        let order: Vec<u32> = self.page_at.iter().copied().filter(|&page| page != NEVER).collect();
        let times = (order.len() * 2).max(FIRST_TIMES).next_power_of_two();
        self.now = order.len();
        for (time, &page) in order.iter().enumerate() {
            self.last[page as usize] = time as u32;
        }
        self.page_at = order;
        self.page_at.resize(times, NEVER);
        // Linear build: each node passes its sum on to its parent.
        self.tree = vec![0; times + 1];
        for at in 1..=times {
            self.tree[at] += u32::from(at <= self.now);
            let parent = at + (at & at.wrapping_neg());
            if parent <= times {
                self.tree[parent] += self.tree[at];
            }
        }
    }

    /// Touches a page.
    pub fn touch(&mut self, page: u32) -> Distance {
        if self.now == self.page_at.len() {
            self.pack();
        }
        let distance = match self.last[page as usize] {
            NEVER => {
                self.live += 1;
                Distance::Cold
            }
            time => {
                let newer = self.live - self.marks_until(time as usize);
                self.page_at[time as usize] = NEVER;
                self.add(time as usize, -1);
                Distance::Pages(newer)
            }
        };
        self.add(self.now, 1);
        self.page_at[self.now] = page;
        self.last[page as usize] = self.now as u32;
        self.now += 1;
        distance
    }

    /// Forgets a page, as if it had never been touched.
    pub fn forget(&mut self, page: u32) {
        let time = std::mem::replace(&mut self.last[page as usize], NEVER);
        if time != NEVER {
            self.page_at[time as usize] = NEVER;
            self.add(time as usize, -1);
            self.live -= 1;
        }
    }
}
