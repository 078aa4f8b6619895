//! What an access to a page does when nothing but its state byte changes.
//!
//! Follows the hardware (young and dirty bits) and `folio_mark_accessed` with
//! `folio_inc_refs` (K61, K612) and `lru_gen_inc_refs` (6.14 on) as one table:
//! state and kind of access give the next state and what to count. Entries that
//! need more (a miss, a fault, an activation) are marked slow.

use super::access::AccessKind;
use super::event::Event;
use super::event::Events;
use super::page::ACTIVE;
use super::page::DIRTY;
use super::page::MAPPED;
use super::page::REFERENCED;
use super::page::REFS;
use super::page::REFS_ONE;
use super::page::RESIDENT;
use super::page::WORKINGSET;
use super::page::YOUNG;
use super::platform::Platform;
use super::rules::Protection;
use super::rules::Rules;
use super::version::PolicyKind;

/// Bit of an entry: the state byte alone does not settle the access.
pub const SLOW: u64 = 1 << 8;
/// Most accesses between two `Tally::flush`: each count has eight bits.
pub const TALLY_LIMIT: usize = 255;
const FIRST_COUNT: u32 = 16;

/// Counts an entry may carry, in the order of their bit fields.
const COUNTED: [Event; 6] = [
    Event::YoungSet,
    Event::MinorFault,
    Event::MarkReferenced,
    Event::MarkWorkingset,
    Event::MarkCompareExchange,
    Event::MarkAtomicSet,
];

fn count(event: Event) -> u64 {
    let field = COUNTED.iter().position(|e| *e == event).expect("an event that entries count");
    1 << (FIRST_COUNT + 8 * field as u32)
}

/// One entry for each kind of access and state.
#[derive(Debug, Clone)]
pub struct HitTable(Box<[[u64; 256]; 8]>);

impl HitTable {
    pub fn new(rules: &Rules, platform: &Platform, policy: PolicyKind) -> Self {
        let mut table = Box::new([[SLOW; 256]; 8]);
        for kind in AccessKind::ALL {
            for state in 0..=255u8 {
                table[kind as usize][state as usize] = match kind {
                    AccessKind::MapRead => map_read(platform, state),
                    AccessKind::MapWrite => map_write(platform, state),
                    AccessKind::FileRead => file_read(rules, policy, state),
                    AccessKind::FileWrite if state & DIRTY != 0 => file_read(rules, policy, state),
                    AccessKind::FileReadAgain if state & RESIDENT != 0 => u64::from(state),
                    _ => SLOW,
                };
            }
        }
        HitTable(table)
    }

    #[inline]
    pub fn entry(&self, kind: AccessKind, state: u8) -> u64 {
        self.0[kind as usize & 7][state as usize]
    }
}

/// Counts collected from entries.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally(u64);

impl Tally {
    #[inline]
    pub fn add(&mut self, entry: u64) {
        self.0 += entry >> FIRST_COUNT;
    }

    /// Moves the counts of `marks` calls of `folio_mark_accessed` and any number of
    /// loads and stores into `events`; returns the minor faults among them.
    #[inline]
    pub fn flush(&mut self, events: &mut Events, marks: u64) -> u64 {
        let field = |n: u32| self.0 >> (8 * n) & 0xff;
        for (n, event) in COUNTED.iter().enumerate() {
            events.add(*event, field(n as u32));
        }
        let written = field(2) + field(3) + field(4) + field(5);
        events.add(Event::MarkSaturated, marks - written);
        let faults = field(1);
        self.0 = 0;
        faults
    }
}

fn map_read(platform: &Platform, state: u8) -> u64 {
    if state & RESIDENT == 0 {
        // A young state without a folio is the zero page.
        return if state & YOUNG != 0 { u64::from(state) } else { SLOW };
    }
    if state & MAPPED == 0 {
        return SLOW;
    }
    if state & YOUNG != 0 || !platform.young_on_read {
        return u64::from(state);
    }
    let how = if platform.hw_young { Event::YoungSet } else { Event::MinorFault };
    u64::from(state | YOUNG) + count(how)
}

/// A store to a clean page is slow: a file must account for it.
fn map_write(platform: &Platform, state: u8) -> u64 {
    let usable = RESIDENT | MAPPED | DIRTY;
    if state & usable != usable {
        return SLOW;
    }
    if state & YOUNG != 0 {
        return u64::from(state);
    }
    let how = if platform.hw_young { Event::YoungSet } else { Event::MinorFault };
    u64::from(state | YOUNG) + count(how)
}

fn file_read(rules: &Rules, policy: PolicyKind, state: u8) -> u64 {
    if state & RESIDENT == 0 {
        return SLOW;
    }
    match (policy, rules.protection) {
        (PolicyKind::Classic, _) => classic_mark(state),
        (PolicyKind::Mglru, Protection::Refs) => inc_refs(state),
        (PolicyKind::Mglru, Protection::TwoStep) => lru_gen_inc_refs(rules, state),
    }
}

fn classic_mark(state: u8) -> u64 {
    if state & REFERENCED == 0 {
        u64::from(state | REFERENCED) + count(Event::MarkReferenced)
    } else if state & ACTIVE == 0 {
        SLOW
    } else {
        u64::from(state)
    }
}

fn inc_refs(state: u8) -> u64 {
    if state & REFERENCED == 0 {
        u64::from(state | REFERENCED) + count(Event::MarkReferenced)
    } else if state & WORKINGSET == 0 {
        u64::from(state | WORKINGSET) + count(Event::MarkWorkingset)
    } else if state & REFS != REFS {
        u64::from(state + REFS_ONE) + count(Event::MarkCompareExchange)
    } else {
        u64::from(state)
    }
}

fn lru_gen_inc_refs(rules: &Rules, state: u8) -> u64 {
    if state & REFERENCED == 0 {
        u64::from(state & !REFS | REFERENCED) + count(Event::MarkReferenced)
    } else if state & REFS != REFS {
        u64::from(state + REFS_ONE) + count(Event::MarkCompareExchange)
    } else if state & WORKINGSET == 0 {
        u64::from(state | WORKINGSET) + count(Event::MarkWorkingset)
    } else if rules.test_before_set {
        u64::from(state)
    } else {
        u64::from(state) + count(Event::MarkAtomicSet)
    }
}
