//! The buddy allocator of one zone: free lists by order and migrate type,
//! splitting, merging, and the struct-page lines each step touches
//! (`__rmqueue_smallest`, `expand`, `__rmqueue_fallback`, `__free_one_page`).
//!
//! Simplified: a pageblock changes its type only when a whole one is taken
//! from another type; there is no CMA, no isolation and no compaction.

use super::block::{MAX_ORDER, Migratetype, PCP_TYPES, PMD_ORDER};
use super::lines::LineClock;

const NONE: u32 = u32::MAX;
/// Not the first page of a free block.
const IN_USE: u8 = u8::MAX;
const ORDERS: usize = MAX_ORDER as usize + 1;

/// What one step under the zone lock cost beside the list operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BuddyWork {
    /// Halves put back while a larger block was cut down.
    pub splits: u64,
    /// Buddies joined.
    pub merges: u64,
    /// Struct-page lines looked at.
    pub lines: u64,
    /// Those the CPU had not touched lately: demand misses under the lock.
    pub missed: u64,
}

impl BuddyWork {
    /// Adds another step.
    pub fn add(&mut self, other: BuddyWork) {
        self.splits += other.splits;
        self.merges += other.merges;
        self.lines += other.lines;
        self.missed += other.missed;
    }
}

/// The free memory of a zone.
#[derive(Debug, Clone)]
pub struct Buddy {
    pages: u32,
    /// The order of the free block that starts here, or [`IN_USE`].
    order: Vec<u8>,
    next: Vec<u32>,
    previous: Vec<u32>,
    head: [[u32; PCP_TYPES]; ORDERS],
    tail: [[u32; PCP_TYPES]; ORDERS],
    /// Which list a free block is on.
    list_type: Vec<Migratetype>,
    pageblock: Vec<Migratetype>,
    free: u64,
    lines: LineClock,
}

impl Buddy {
    /// A zone whose pages are all free and movable, in the largest blocks
    /// that fit.
    pub fn new(pages: u32, cpus: u32, recent_lines: u32) -> Self {
        let length = pages as usize;
        let mut buddy = Buddy {
            pages,
            order: vec![IN_USE; length],
            next: vec![NONE; length],
            previous: vec![NONE; length],
            head: [[NONE; PCP_TYPES]; ORDERS],
            tail: [[NONE; PCP_TYPES]; ORDERS],
            list_type: vec![Migratetype::Movable; length],
            pageblock: vec![Migratetype::Movable; length.div_ceil(1 << PMD_ORDER)],
            free: u64::from(pages),
            lines: LineClock::new(pages, cpus, recent_lines),
        };
        let mut pfn = 0;
        while pfn < pages {
            let left = pages - pfn;
            let order = left.ilog2().min(MAX_ORDER);
            buddy.insert(pfn, order, Migratetype::Movable, true);
            pfn += 1 << order;
        }
        buddy
    }

    /// Free pages, those on per-CPU lists not counted (`NR_FREE_PAGES`).
    pub fn free_pages(&self) -> u64 {
        self.free
    }

    /// What the pageblock of this page is used for, which decides the list
    /// that the page goes to when freed (`get_pfnblock_migratetype`).
    pub fn pageblock_type(&self, pfn: u32) -> Migratetype {
        self.pageblock[(pfn >> PMD_ORDER) as usize]
    }

    /// Whether any free block has at least this order.
    pub fn has_block(&self, order: u32) -> bool {
        (order as usize..ORDERS).any(|o| self.head[o].iter().any(|&head| head != NONE))
    }

    fn insert(&mut self, pfn: u32, order: u32, migratetype: Migratetype, at_tail: bool) {
        let (o, m) = (order as usize, migratetype.index());
        let (before, after) = if at_tail { (self.tail[o][m], NONE) } else { (NONE, self.head[o][m]) };
        self.link(before, pfn, o, m);
        self.link(pfn, after, o, m);
        self.order[pfn as usize] = order as u8;
        self.list_type[pfn as usize] = migratetype;
    }

    /// Makes two blocks neighbours; `NONE` stands for the list's end.
    fn link(&mut self, before: u32, after: u32, order: usize, migratetype: usize) {
        if before == NONE {
            self.head[order][migratetype] = after;
        } else {
            self.next[before as usize] = after;
        }
        if after == NONE {
            self.tail[order][migratetype] = before;
        } else {
            self.previous[after as usize] = before;
        }
    }

    fn remove(&mut self, pfn: u32) {
        let at = pfn as usize;
        let (order, migratetype) = (self.order[at] as usize, self.list_type[at].index());
        self.link(self.previous[at], self.next[at], order, migratetype);
        self.order[at] = IN_USE;
    }

    /// Takes a block off the smallest list that can serve, else off the
    /// largest block of another type. `None` if nothing is large enough.
    pub fn allocate(
        &mut self,
        cpu: u32,
        order: u32,
        migratetype: Migratetype,
        work: &mut BuddyWork,
    ) -> Option<u32> {
        let own = (order as usize..ORDERS).find(|&o| self.head[o][migratetype.index()] != NONE);
        let (from, list) = match own {
            Some(from) => (from as u32, migratetype),
            None => self.fallback(order, migratetype)?,
        };
        let pfn = self.head[from as usize][list.index()];
        self.lines.touch(cpu, pfn, work);
        self.remove(pfn);
        let mut rest = list;
        if list != migratetype && from >= PMD_ORDER {
            // Whole pageblocks change sides, so that types do not mix inside one.
            let first = (pfn >> PMD_ORDER) as usize;
            self.pageblock[first..first + (1 << (from - PMD_ORDER))].fill(migratetype);
            rest = migratetype;
        }
        for half in (order..from).rev() {
            let upper = pfn + (1 << half);
            self.lines.touch(cpu, upper, work);
            self.insert(upper, half, rest, false);
            work.splits += 1;
        }
        self.free -= 1 << order;
        Some(pfn)
    }

    /// The largest block of another type.
    fn fallback(&self, order: u32, migratetype: Migratetype) -> Option<(u32, Migratetype)> {
        (order..=MAX_ORDER).rev().find_map(|o| {
            let types = migratetype.fallbacks();
            let found = types.into_iter().find(|m| self.head[o as usize][m.index()] != NONE)?;
            Some((o, found))
        })
    }

    /// Gives a block back and joins it with its buddies.
    pub fn free(&mut self, cpu: u32, pfn: u32, order: u32, work: &mut BuddyWork) {
        debug_assert!(self.order[pfn as usize] == IN_USE, "page {pfn} is free already");
        self.free += 1 << order;
        let (mut pfn, mut order) = (pfn, order);
        self.lines.touch(cpu, pfn, work);
        while order < MAX_ORDER {
            let buddy = pfn ^ (1 << order);
            if !self.is_free(cpu, buddy, order, work) {
                break;
            }
            self.remove(buddy);
            work.merges += 1;
            pfn &= buddy;
            order += 1;
        }
        let at_tail = self.may_merge_soon(cpu, pfn, order, work);
        let migratetype = self.pageblock[(pfn >> PMD_ORDER) as usize];
        self.insert(pfn, order, migratetype, at_tail);
    }

    /// Whether a free block of exactly this order starts here; looking costs a line.
    fn is_free(&mut self, cpu: u32, pfn: u32, order: u32, work: &mut BuddyWork) -> bool {
        if pfn.checked_add(1 << order).is_none_or(|end| end > self.pages) {
            return false;
        }
        self.lines.touch(cpu, pfn, work);
        self.order[pfn as usize] == order as u8
    }

    /// A block whose parent's buddy is free goes to the tail: its own buddy
    /// may follow soon (`buddy_merge_likely`).
    fn may_merge_soon(&mut self, cpu: u32, pfn: u32, order: u32, work: &mut BuddyWork) -> bool {
        if order >= MAX_ORDER - 1 {
            return false;
        }
        let parent = pfn & !(1 << order);
        self.is_free(cpu, parent ^ (1 << (order + 1)), order + 1, work)
    }

    /// Checks lists against counts; for tests and debug builds.
    pub fn assert_consistent(&self) {
        let mut free = 0;
        for order in 0..ORDERS {
            for migratetype in Migratetype::ALL {
                let mut pfn = self.head[order][migratetype.index()];
                let mut last = NONE;
                while pfn != NONE {
                    let at = pfn as usize;
                    assert_eq!(self.order[at] as usize, order, "order of {pfn}");
                    assert_eq!(self.list_type[at], migratetype, "type of {pfn}");
                    assert_eq!(self.previous[at], last, "link before {pfn}");
                    assert!(pfn.is_multiple_of(1 << order), "{pfn} is not aligned to order {order}");
                    free += 1u64 << order;
                    last = pfn;
                    pfn = self.next[at];
                }
                assert_eq!(self.tail[order][migratetype.index()], last, "tail of order {order}");
            }
        }
        assert_eq!(free, self.free, "free pages on lists against the count");
    }
}
