//! What the page allocator did: events E5 to E9, every zone-lock hold with the
//! pages it moved and the work under it.

use crate::model::event::{Event, Events};

use super::buddy::BuddyWork;

/// Why pages went back to the buddy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DrainReason {
    /// The lists held as many pages as they may.
    High,
    /// High-order pages were freed in a row.
    FreeHigh,
    /// The tick lowered the limit.
    Decay,
    /// Asked for: a CPU went away, memory ran out, an isolation.
    Explicit,
}

impl DrainReason {
    pub const ALL: [Self; 4] = [Self::High, Self::FreeHigh, Self::Decay, Self::Explicit];

    pub const fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::FreeHigh => "free_high",
            Self::Decay => "decay",
            Self::Explicit => "explicit",
        }
    }
}

/// Zone-lock holds of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HoldCounts {
    /// Times the lock was taken.
    pub holds: u64,
    pub blocks: u64,
    pub pages: u64,
    /// Most pages moved in one hold: the longest wait of another CPU.
    pub most_pages: u64,
    pub work: BuddyWork,
}

impl HoldCounts {
    pub(super) fn record(&mut self, blocks: u64, pages: u64, work: BuddyWork) {
        self.holds += 1;
        self.blocks += blocks;
        self.pages += pages;
        self.most_pages = self.most_pages.max(pages);
        self.work.add(work);
    }

    fn since(&self, earlier: &Self) -> Self {
        HoldCounts {
            holds: self.holds - earlier.holds,
            blocks: self.blocks - earlier.blocks,
            pages: self.pages - earlier.pages,
            most_pages: self.most_pages,
            work: BuddyWork {
                splits: self.work.splits - earlier.work.splits,
                merges: self.work.merges - earlier.work.merges,
                lines: self.work.lines - earlier.work.lines,
                missed: self.work.missed - earlier.work.missed,
            },
        }
    }
}

/// All counts of a zone since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PcpCounts {
    /// E5: allocations that found a page on their CPU's list.
    pub pcp_hit: u64,
    /// E6: refills, one hold each.
    pub refill: HoldCounts,
    /// E7: blocks put on a list.
    pub pcp_free: u64,
    /// E8: drains by [`DrainReason`].
    drain: [HoldCounts; 4],
    /// E9: blocks taken from or given to the buddy without a list.
    pub buddy_direct: HoldCounts,
    /// `pgalloc`: pages allocated.
    pub pgalloc: u64,
    /// `pgfree`: pages freed.
    pub pgfree: u64,
}

impl PcpCounts {
    pub fn drain(&self, reason: DrainReason) -> &HoldCounts {
        &self.drain[reason as usize]
    }

    pub(super) fn drain_mut(&mut self, reason: DrainReason) -> &mut HoldCounts {
        &mut self.drain[reason as usize]
    }

    /// Every hold of the zone lock, whatever for.
    pub fn zone_lock(&self) -> HoldCounts {
        let mut all = self.refill;
        for other in self.drain.iter().chain([&self.buddy_direct]) {
            all.holds += other.holds;
            all.blocks += other.blocks;
            all.pages += other.pages;
            all.most_pages = all.most_pages.max(other.most_pages);
            all.work.add(other.work);
        }
        all
    }

    /// What was added after an earlier reading; the largest hold stays that of
    /// the whole run.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut drain = self.drain;
        for (now, then) in drain.iter_mut().zip(&earlier.drain) {
            *now = now.since(then);
        }
        PcpCounts {
            pcp_hit: self.pcp_hit - earlier.pcp_hit,
            refill: self.refill.since(&earlier.refill),
            pcp_free: self.pcp_free - earlier.pcp_free,
            drain,
            buddy_direct: self.buddy_direct.since(&earlier.buddy_direct),
            pgalloc: self.pgalloc - earlier.pgalloc,
            pgfree: self.pgfree - earlier.pgfree,
        }
    }

    /// Adds these counts to those that other parts of the model made. A core
    /// that counts its own allocations and frees must leave out E5 and E7.
    pub fn add_to(&self, events: &mut Events) {
        events.add(Event::PageAllocate, self.pcp_hit);
        events.add(Event::PcpRefill, self.refill.holds);
        events.add(Event::PageFree, self.pcp_free);
        events.add(Event::PcpDrain, self.drain.iter().map(|d| d.holds).sum());
        events.add(Event::BuddyDirect, self.buddy_direct.holds);
    }

    /// The counts as rows of event code, name and number.
    pub fn events(&self) -> Vec<(&'static str, String, u64)> {
        let mut rows = vec![("E5", "page_alloc_pcp_hit".to_owned(), self.pcp_hit)];
        let mut holds = |code, name: &str, of: &HoldCounts| {
            let parts = [
                ("holds", of.holds),
                ("blocks", of.blocks),
                ("pages", of.pages),
                ("splits", of.work.splits),
                ("merges", of.work.merges),
                ("lines", of.work.lines),
                ("missed", of.work.missed),
            ];
            rows.extend(parts.map(|(part, count)| (code, format!("{name}.{part}"), count)));
        };
        holds("E6", "pcp_refill", &self.refill);
        for reason in DrainReason::ALL {
            holds("E8", &format!("pcp_drain.{}", reason.name()), self.drain(reason));
        }
        holds("E9", "buddy_direct", &self.buddy_direct);
        rows.insert(8, ("E7", "pcp_free".to_owned(), self.pcp_free));
        rows
    }
}
