//! Native twins: the list operations that known patches change, over a real arena
//! of 64-byte records, so that their effect is measured on this processor without
//! their kernel. The forecast beside each uses only the profile's costs and the
//! twin's own work in cache, never its time over the large arena.

use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::bookkeeping::{COUNTER_LINES, size_update};
use super::chain::map;
use super::error::CalibrateError;
use super::machine::MachineUnderTest;
use super::memory::{beyond_cache, inside_l2};
use super::order::{ListOrder, order};
use super::parameter::Parameter;
use super::primitive::{Mapping, PageSize, Record, prefetch_for_write};
use super::profile::Costs;
use super::timing::{Budget, per_operation, per_pair, quantile, timed};
use crate::host::SysRoot;

/// Folios of a pass; one run moves in bulk.
const PASS: u64 = 64;
const LRU: u64 = 1 << 5;
/// A scan with its isolation is some 150 to 300 instructions a folio. The number is
/// none of those that the profile's shares are measured at.
const DECISIONS: u32 = 72;
const ROUNDS: usize = 9;

/// An operation of reclaim, as it was or as a patch makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twin {
    /// `scan_folios` that isolates, without and with a prefetch of the next folio.
    Prefetch,
    /// The same with decisions as long as the kernel's: a scan that only moves
    /// links is so short that a processor reaches the next folio by itself.
    PrefetchWithDecisions,
    /// Moves to the next generation with counters for each folio, or one a pass.
    BatchedCounters,
    /// The same moves one by one, or as one run a pass.
    BulkMove,
}

impl Twin {
    pub const ALL: [Twin; 4] =
        [Twin::Prefetch, Twin::PrefetchWithDecisions, Twin::BatchedCounters, Twin::BulkMove];

    pub const fn name(self) -> &'static str {
        match self {
            Twin::Prefetch => "prefetch, links only",
            Twin::PrefetchWithDecisions => "prefetch, decisions",
            Twin::BatchedCounters => "batched-counters",
            Twin::BulkMove => "bulk-move",
        }
    }
}

/// One twin in one order: nanoseconds a folio, before and after.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TwinRow {
    pub twin: &'static str,
    pub order: &'static str,
    pub before: f64,
    pub after: f64,
    /// Before less after: median and 90% range over the rounds.
    pub saved: f64,
    pub low: f64,
    pub high: f64,
    /// From the profile.
    pub forecast: f64,
    /// The processor's own reading ahead hides the misses of memory order, so
    /// the model makes no forecast of a prefetch there.
    pub scored: bool,
}

impl TwinRow {
    /// How far the forecast is off, as a share of what was measured.
    pub fn error(&self) -> Option<f64> {
        (self.scored && self.saved != 0.0).then(|| (self.forecast - self.saved).abs() / self.saved.abs())
    }
}

/// A list over an arena: records 0 and 1 are the heads, then five counter lines.
struct Arena {
    mapping: Mapping,
    counters: Mapping,
    /// The head of the full list, 0 or 1.
    full: u32,
    length: u64,
    taken: u64,
}

impl Arena {
    fn new(bytes: usize, places: &[u32]) -> Result<Self, CalibrateError> {
        let mut mapping = map(bytes + 4096, PageSize::Huge)?;
        let records = mapping.records_mut();
        records[1].prev = 1;
        records[1].next = 1;
        // `prev` of the head is the tail, the oldest: scanned first.
        let ring: Vec<u32> = std::iter::once(0).chain(places.iter().map(|place| place + 2)).collect();
        for (i, record) in ring.iter().enumerate() {
            let newer = ring[(i + 1) % ring.len()];
            records[*record as usize].prev = newer;
            records[newer as usize].next = *record;
        }
        let counters = map(4096, PageSize::Small)?;
        Ok(Arena { mapping, counters, full: 0, length: places.len() as u64, taken: 0 })
    }

    /// Isolates or moves `count` folios off the tail; the other list fills up, and
    /// when it has all it becomes the full one.
    #[inline(always)]
    fn scan(&mut self, count: u64, (twin, patched): (Twin, bool)) -> Duration {
        let mut left = count.div_ceil(PASS);
        timed(|| {
            while left > 0 {
                if self.taken + PASS > self.length {
                    self.refill();
                }
                match (twin, patched) {
                    (Twin::Prefetch, false) => self.isolate::<false, 0>(),
                    (Twin::Prefetch, true) => self.isolate::<true, 0>(),
                    (Twin::PrefetchWithDecisions, false) => self.isolate::<false, DECISIONS>(),
                    (Twin::PrefetchWithDecisions, true) => self.isolate::<true, DECISIONS>(),
                    (Twin::BatchedCounters, false) => self.promote::<true, false>(),
                    (Twin::BatchedCounters, true) | (Twin::BulkMove, false) => self.promote::<false, false>(),
                    (Twin::BulkMove, true) => self.promote::<false, true>(),
                }
                self.taken += PASS;
                left -= 1;
            }
            black_box(self.mapping.records()[0].prev);
        })
    }

    /// Puts the remainder over and turns the lists round: a splice, no walk.
    fn refill(&mut self) {
        let (from, to) = (self.full, 1 - self.full);
        let records = self.mapping.records_mut();
        let (newest, oldest) = (records[from as usize].next, records[from as usize].prev);
        if oldest != from {
            run_move_to(records, (oldest, newest), to);
        }
        self.full = to;
        self.taken = 0;
    }

    /// `scan_folios` and `isolate_folio` for one pass.
    #[inline(always)]
    fn isolate<const PREFETCH: bool, const STEPS: u32>(&mut self) {
        let (from, to) = (self.full, 1 - self.full);
        let counters = &self.counters.records()[..COUNTER_LINES];
        let records = self.mapping.records_mut();
        let mut at = records[from as usize].prev;
        for _ in 0..PASS {
            let next = records[at as usize].prev;
            if PREFETCH {
                prefetch_for_write(&records[next as usize]);
            }
            let record = &records[at as usize];
            let flags = record.flags.load(Relaxed);
            if flags >> 60 != 0 {
                // Another generation; does not happen, but must be looked at.
                break;
            }
            decide(record, STEPS);
            record.refcount.fetch_add(1, Relaxed);
            record.flags.fetch_xor(LRU, Relaxed);
            list_move_to(records, at, to);
            size_update(counters);
            at = next;
        }
    }

    /// `sort_folio` of protected folios: the generation changes, the folio moves on.
    #[inline(always)]
    fn promote<const EACH: bool, const BULK: bool>(&mut self) {
        let (from, to) = (self.full, 1 - self.full);
        let counters = &self.counters.records()[..COUNTER_LINES];
        let records = self.mapping.records_mut();
        let first = records[from as usize].prev;
        let mut at = first;
        let mut last = first;
        for _ in 0..PASS {
            let next = records[at as usize].prev;
            let record = &records[at as usize];
            let flags = record.flags.load(Relaxed);
            let _ = record.flags.compare_exchange(flags, flags ^ (3 << 8), Relaxed, Relaxed);
            if !BULK {
                list_move_to(records, at, to);
            }
            if EACH {
                size_update(counters);
            }
            last = at;
            at = next;
        }
        if BULK {
            run_move_to(records, (first, last), to);
        }
        if !EACH {
            size_update(counters);
        }
    }
}

/// Steps that each need the one before, and the first of which needs the folio.
#[inline(always)]
fn decide(record: &Record, steps: u32) {
    let mut value = record.refcount.load(Relaxed);
    for _ in 0..steps {
        value = black_box(value.wrapping_mul(0x9e37_79b9) ^ (value >> 15));
    }
    black_box(value);
}

/// To the newest end, so that the other list keeps the order of the scan.
#[inline(always)]
fn list_move_to(records: &mut [Record], record: u32, head: u32) {
    // Towards the tail is `next` here: the newest lies at `next` of the head.
    let (older, newer) = (records[record as usize].next, records[record as usize].prev);
    records[older as usize].prev = newer;
    records[newer as usize].next = older;
    let youngest = records[head as usize].next;
    records[youngest as usize].prev = record;
    records[record as usize].next = youngest;
    records[record as usize].prev = head;
    records[head as usize].next = record;
}

/// The same for the run from `oldest` to `newest`.
#[inline(always)]
fn run_move_to(records: &mut [Record], (oldest, newest): (u32, u32), head: u32) {
    let (older, newer) = (records[oldest as usize].next, records[newest as usize].prev);
    records[older as usize].prev = newer;
    records[newer as usize].next = older;
    let youngest = records[head as usize].next;
    records[youngest as usize].prev = oldest;
    records[oldest as usize].next = youngest;
    records[newest as usize].prev = head;
    records[head as usize].next = newest;
}

/// Runs every twin in every order and forecasts each from `costs`.
pub fn twins(root: &SysRoot, costs: &Costs, seed: u64) -> Result<Vec<TwinRow>, CalibrateError> {
    let machine = MachineUnderTest::here(root);
    machine.pin(0);
    let budget = Budget { sample: Duration::from_millis(12), samples: 3 };
    let mut rows = Vec::new();
    for list_order in ListOrder::ALL {
        let most = beyond_cache(&machine) / 64;
        let large = order(list_order, most, seed);
        let small: Vec<u32> = order(ListOrder::Shuffled, inside_l2(&machine) / 2 / 64, seed);
        for twin in Twin::ALL {
            rows.push(row(twin, list_order, (&large, &small), budget, costs)?);
        }
    }
    machine.unpin();
    Ok(rows)
}

fn row(
    twin: Twin,
    list_order: ListOrder,
    (large, small): (&[u32], &[u32]),
    budget: Budget,
    costs: &Costs,
) -> Result<TwinRow, CalibrateError> {
    let bytes = |places: &[u32]| (places.iter().copied().max().unwrap_or(0) as usize + 3) * 64;
    let mut arena = Arena::new(bytes(large), large)?;
    let mut cached = Arena::new(bytes(small), small)?;
    let (mut before, mut after, mut saved) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let pair =
            per_pair(twin.name(), budget, |count, patched| arena.scan(count.max(PASS), (twin, patched)))?;
        before.push(pair.before);
        after.push(pair.after);
        saved.push(pair.saved);
    }
    let work = per_operation(twin.name(), budget, |count| cached.scan(count.max(PASS), (twin, false)))?;
    Ok(TwinRow {
        twin: twin.name(),
        order: list_order.name(),
        before: quantile(&mut before, 0.5),
        after: quantile(&mut after, 0.5),
        saved: quantile(&mut saved, 0.5),
        low: quantile(&mut saved, 0.05),
        high: quantile(&mut saved, 0.95),
        forecast: forecast(twin, work, costs),
        scored: list_order != ListOrder::Memory || matches!(twin, Twin::BatchedCounters | Twin::BulkMove),
    })
}

/// What the costs say that the patch saves, in nanoseconds a folio.
fn forecast(twin: Twin, work: f64, costs: &Costs) -> f64 {
    let passes = 1.0 / PASS as f64;
    match twin {
        Twin::Prefetch | Twin::PrefetchWithDecisions => {
            costs.hidden(costs.get(Parameter::Miss), work) - costs.get(Parameter::PrefetchIssue).max(0.0)
        }
        Twin::BatchedCounters => costs.get(Parameter::PerCpu) * (1.0 - passes),
        Twin::BulkMove => costs.get(Parameter::ListMove) - costs.get(Parameter::ListSplice) * passes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(arena: &Arena, head: u32) -> Vec<u32> {
        let records = arena.mapping.records();
        let mut found = Vec::new();
        let mut at = records[head as usize].prev;
        while at != head {
            assert_eq!(records[records[at as usize].next as usize].prev, at);
            found.push(at - 2);
            at = records[at as usize].prev;
        }
        found
    }

    #[test]
    fn every_twin_keeps_all_folios_and_their_order() {
        let places: Vec<u32> = (0..256).rev().collect();
        for twin in Twin::ALL {
            for patched in [false, true] {
                let mut arena = Arena::new(300 * 64, &places).expect("memory");
                arena.scan(128, (twin, patched));
                assert_eq!(scanned(&arena, 0), places[128..], "{twin:?} {patched}");
                let moved = scanned(&arena, 1);
                assert_eq!(moved.len(), 128, "{twin:?} {patched}");
                assert_eq!(moved, places[..128], "{twin:?} {patched}");
                arena.scan(192, (twin, patched));
                assert_eq!(scanned(&arena, 0).len() + scanned(&arena, 1).len(), 256);
            }
        }
    }
}
