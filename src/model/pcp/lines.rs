//! Which struct-page lines a CPU still holds: a line misses if another CPU
//! touched it last, or this one touched too many others since.

use super::buddy::BuddyWork;

const NEVER: u64 = u64::MAX;
const TIME_BITS: u32 = 48;

/// The last toucher and time of each page's `struct page`, one line a page.
#[derive(Debug, Clone)]
pub(super) struct LineClock {
    /// CPU above [`TIME_BITS`], that CPU's time below.
    last: Vec<u64>,
    now: Vec<u64>,
    recent: u64,
}

impl LineClock {
    /// `recent` lines stay in a CPU's own cache.
    pub(super) fn new(pages: u32, cpus: u32, recent: u32) -> Self {
        LineClock {
            last: vec![NEVER; pages as usize],
            now: vec![0; cpus as usize],
            recent: u64::from(recent),
        }
    }

    pub(super) fn touch(&mut self, cpu: u32, pfn: u32, work: &mut BuddyWork) {
        let now = self.now[cpu as usize];
        let last = &mut self.last[pfn as usize];
        let time = *last & ((1 << TIME_BITS) - 1);
        let held = *last >> TIME_BITS == u64::from(cpu) && now - time <= self.recent;
        work.lines += 1;
        work.missed += u64::from(!held);
        *last = u64::from(cpu) << TIME_BITS | now;
        self.now[cpu as usize] = now + 1;
    }
}
