//! Countable events of the paths that the model follows, for pricing.
//!
//! Each has the number of its row in the model's description (E1 to E44); a row
//! that differs by outcome has one event for each outcome. Counts add up over a
//! phase; nothing here knows a cost.

macro_rules! events {
    ($($variant:ident $number:literal $name:literal,)*) => {
        /// One event, or one outcome of it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Event { $($variant,)* }

        impl Event {
            pub const ALL: &'static [Event] = &[$(Event::$variant,)*];

            /// The row it belongs to, 1 to 44.
            pub const fn number(self) -> u8 {
                match self { $(Event::$variant => $number,)* }
            }

            pub const fn name(self) -> &'static str {
                match self { $(Event::$variant => $name,)* }
            }
        }
    };
}

events! {
    AccessMapRead 1 "access_map_read",
    AccessMapWrite 1 "access_map_write",
    AccessFileRead 1 "access_file_read",
    AccessFileWrite 1 "access_file_write",
    AccessFileReadAgain 1 "access_file_read_again",
    AccessFree 1 "access_free",
    YoungSet 2 "young_set",
    MinorFault 3 "minor_fault",
    MajorFault 4 "major_fault",
    PageAllocate 5 "page_alloc",
    PcpRefill 6 "pcp_refill",
    PageFree 7 "page_free",
    PcpDrain 8 "pcp_drain",
    BuddyDirect 9 "buddy_direct",
    PageZero 10 "page_zero",
    ChargeStock 11 "charge_stock",
    ChargeHierarchy 12 "charge_hier_ok",
    ChargeHierarchyFailed 12 "charge_hier_fail",
    ReclaimBegin 13 "reclaim_begin",
    ReclaimPriority 13 "reclaim_priority",
    AddBatch 14 "lru_add_batch",
    AddBatchFolio 14 "lru_add_batch_folio",
    LruLock 15 "lru_lock",
    ScanFolio 16 "scan_folio",
    PrefetchIssue 17 "prefetch_issue",
    SortPromoted 18 "sort_promoted",
    SortProtected 19 "sort_protected",
    ListMove 20 "list_move",
    ListSplice 20 "list_splice",
    SizeUpdate 21 "size_update",
    SizeUpdateStore 21 "size_update_store",
    SizeUpdateBatched 22 "size_update_batched",
    Isolate 23 "isolate_folio",
    Putback 24 "putback_folio",
    Aging 25 "aging",
    AgingRefused 25 "aging_refused",
    WalkPmdNotYoung 26 "walk_pmd_not_young",
    WalkPmdBloom 26 "walk_pmd_bloom",
    WalkPmdScanned 26 "walk_pmd_scanned",
    WalkPte 27 "walk_pte",
    WalkPteYoung 27 "walk_pte_young",
    UpdateGeneration 28 "update_gen",
    IncMinSeqMove 29 "inc_min_seq_move",
    IncMinSeqRestart 29 "inc_min_seq_restart",
    RmapWalk 30 "rmap_walk",
    LookAround 31 "look_around",
    LookAroundPte 31 "look_around_pte",
    LookAroundYoung 31 "look_around_young",
    ShrinkActive 32 "shrink_active",
    ShrinkInactive 32 "shrink_inactive",
    EvictPass 32 "evict_pass",
    AddToSwap 33 "add_to_swap",
    SlotRefill 33 "slot_refill",
    UnmapPte 34 "unmap_pte",
    TlbFlush 35 "tlb_flush",
    CopyUser 36 "copy_user",
    CopyDevice 36 "copy_device",
    ZeroCheck 37 "zero_check",
    XarrayInsert 38 "xarray_insert",
    XarrayDelete 38 "xarray_delete",
    XarrayLookup 38 "xarray_lookup",
    ShadowStore 39 "shadow_store",
    RefaultRecent 39 "refault_recent",
    RefaultDistant 39 "refault_distant",
    MarkReferenced 40 "mark_first",
    MarkWorkingset 40 "mark_set_workingset",
    MarkCompareExchange 40 "mark_cmpxchg",
    MarkSaturated 40 "mark_saturated_read",
    MarkAtomicSet 40 "mark_atomic_set",
    RefcountChange 41 "refcount_rmw",
    PageLock 42 "page_lock",
    Syscall 43 "syscall",
    UnchargeBatch 44 "uncharge_batch",
    FreeBatch 44 "free_batch_folio",
}

const COUNT: usize = Event::ALL.len();

/// How often each event happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Events([u64; COUNT]);

impl Default for Events {
    fn default() -> Self {
        Events([0; COUNT])
    }
}

impl Events {
    #[inline]
    pub fn add(&mut self, event: Event, count: u64) {
        self.0[event as usize] += count;
    }

    #[inline]
    pub fn one(&mut self, event: Event) {
        self.0[event as usize] += 1;
    }

    pub fn get(&self, event: Event) -> u64 {
        self.0[event as usize]
    }

    /// Sum over the outcomes of row `number`.
    pub fn row(&self, number: u8) -> u64 {
        Event::ALL.iter().filter(|e| e.number() == number).map(|e| self.get(*e)).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Event, u64)> {
        Event::ALL.iter().map(|e| (*e, self.get(*e)))
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Events) -> Events {
        let mut out = Events::default();
        for (to, (now, before)) in out.0.iter_mut().zip(self.0.iter().zip(earlier.0)) {
            *to = now - before;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_an_event() {
        for number in 1..=44u8 {
            assert!(Event::ALL.iter().any(|e| e.number() == number), "E{number}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = Event::ALL.iter().map(|e| e.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Event::ALL.len());
    }

    #[test]
    fn differences_and_rows_add_up() {
        let mut events = Events::default();
        events.add(Event::RefaultRecent, 2);
        let before = events.clone();
        events.one(Event::RefaultDistant);
        assert_eq!(events.row(39), 3);
        assert_eq!(events.since(&before).row(39), 1);
    }
}
