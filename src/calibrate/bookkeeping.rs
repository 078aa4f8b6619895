//! Counters and list links: what reclaim writes for each folio beside the folio.

use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::chain::{Chain, map};
use super::error::CalibrateError;
use super::machine::MachineUnderTest;
use super::memory::{inside_l2, inside_llc, work};
use super::parameter::Parameter;
use super::primitive::{Mapping, PageSize, Record};
use super::round::Group;
use super::timing::{Budget, per_operation, per_pair, timed};
use crate::stats::random::Chance;

/// Lines of one size update: node, memcg, lruvec, zone and the rstat tree.
pub const COUNTER_LINES: usize = 5;
/// A per-processor difference above this goes to the shared counter.
const THRESHOLD: u64 = 125;
/// Records of a list that stays in the second-level cache.
const LIST: u32 = 2048;
/// Steps of work beside which the cost of an update is seen.
const STEPS: u32 = 12;
/// Folios of a run that moves in bulk.
const RUN: u32 = 64;

/// `__update_lru_size`: a difference on each of five lines, spilled when large.
#[inline(always)]
pub fn size_update(lines: &[Record]) {
    for line in lines {
        let difference = line.mapping_word().load(Relaxed) + 1;
        if difference > THRESHOLD {
            line.flags.fetch_add(difference, Relaxed);
            line.mapping_word().store(0, Relaxed);
        } else {
            line.mapping_word().store(difference, Relaxed);
        }
    }
}

/// Per-processor counters, hot and polluted. The hot ones are what they add to a
/// list walk with some work: alone, each update would wait for the one before.
pub struct Counters {
    hot: Mapping,
    list: Chain,
    cold: Mapping,
    order: Vec<u32>,
    place: usize,
}

impl Counters {
    pub fn new(machine: &MachineUnderTest, seed: u64) -> Result<Self, CalibrateError> {
        let cold = map(inside_llc(machine), PageSize::Huge)?;
        let sets = cold.records().len() / COUNTER_LINES;
        let mut order: Vec<u32> = (0..sets as u32).collect();
        Chance::stream(seed, 2).shuffle(&mut order);
        let list = Chain::shuffled(inside_l2(machine) / 2, PageSize::Small, seed)?;
        Ok(Counters { hot: map(4096, PageSize::Small)?, list, cold, order, place: 0 })
    }

    fn cold(&mut self, count: u64) -> Duration {
        let records = self.cold.records();
        let mut place = self.place;
        let took = timed(|| {
            for _ in 0..count {
                let first = self.order[place] as usize * COUNTER_LINES;
                size_update(&records[first..first + COUNTER_LINES]);
                place = (place + 1) % self.order.len();
            }
        });
        self.place = place;
        took
    }
}

impl Group for Counters {
    fn round(&mut self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError> {
        let lines = &self.hot.records()[..COUNTER_LINES];
        let hot = per_pair("c_percpu", budget, |count, counts| match counts {
            false => self.list.visit(count, |record, _| work(record, STEPS)),
            true => self.list.visit(count, |record, _| {
                work(record, STEPS);
                size_update(lines);
            }),
        })?;
        let cold = per_operation("c_percpu_cold", budget, |count| self.cold(count))?;
        Ok(vec![(Parameter::PerCpu, -hot.saved), (Parameter::PerCpuCold, cold)])
    }
}

/// Two lists of the kernel's form over one arena: records 0 and 1 are the heads.
pub struct Lists {
    mapping: Mapping,
}

/// `list_del` and `list_add_tail` of one record.
#[inline(always)]
pub fn list_move(records: &mut [Record], record: u32, head: u32) {
    let (prev, next) = (records[record as usize].prev, records[record as usize].next);
    records[prev as usize].next = next;
    records[next as usize].prev = prev;
    let last = records[head as usize].prev;
    records[last as usize].next = record;
    records[record as usize].prev = last;
    records[record as usize].next = head;
    records[head as usize].prev = record;
}

/// `list_bulk_move_tail` of the run from `first` to `last`.
#[inline(always)]
pub fn list_splice(records: &mut [Record], (first, last): (u32, u32), head: u32) {
    let (before, after) = (records[first as usize].prev, records[last as usize].next);
    records[before as usize].next = after;
    records[after as usize].prev = before;
    let tail = records[head as usize].prev;
    records[tail as usize].next = first;
    records[first as usize].prev = tail;
    records[last as usize].next = head;
    records[head as usize].prev = last;
}

impl Lists {
    pub fn new() -> Result<Self, CalibrateError> {
        let mut mapping = map((LIST as usize + 2) * 64, PageSize::Small)?;
        let records = mapping.records_mut();
        records[1].prev = 1;
        records[1].next = 1;
        // All others on the first list, in order: head, 2, 3, …
        let count = LIST + 2;
        let ring: Vec<u32> = std::iter::once(0).chain(2..count).collect();
        for (i, record) in ring.iter().enumerate() {
            let following = ring[(i + 1) % ring.len()];
            records[*record as usize].next = following;
            records[following as usize].prev = *record;
        }
        Ok(Lists { mapping })
    }

    /// Walks the first list from its front, with work at each record; moves each to
    /// the tail behind it, or leaves it.
    fn single(&mut self, count: u64, moves: bool) -> Duration {
        let records = self.mapping.records_mut();
        timed(|| {
            let mut at = records[0].next;
            for _ in 0..count {
                let next = records[at as usize].next;
                if at != 0 {
                    work(&records[at as usize], STEPS);
                    if moves {
                        list_move(records, at, 0);
                    }
                }
                at = next;
            }
            black_box(at);
        })
    }

    /// Runs of fixed records: 2 to 65, 66 to 129, …
    fn runs(&mut self, count: u64) -> Duration {
        let records = self.mapping.records_mut();
        let runs = LIST / RUN;
        timed(|| {
            for i in 0..count {
                let first = 2 + (i % u64::from(runs)) as u32 * RUN;
                list_splice(records, (first, first + RUN - 1), 0);
            }
            black_box(records[0].next);
        })
    }
}

impl Group for Lists {
    fn round(&mut self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError> {
        let splice = {
            // Every round starts from the order that the runs are made of.
            *self = Lists::new()?;
            per_operation("c_list_splice", budget, |count| self.runs(count))?
        };
        let single = per_pair("c_list_move", budget, |count, moves| self.single(count, moves))?;
        Ok(vec![(Parameter::ListMove, -single.saved), (Parameter::ListSplice, splice)])
    }
}

impl Record {
    /// The word that counters use; apart from flags and links.
    pub(super) fn mapping_word(&self) -> &AtomicU64 {
        &self.mapping
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(records: &[Record], head: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = records[head as usize].next;
        while at != head {
            assert_eq!(records[records[at as usize].prev as usize].next, at);
            found.push(at);
            at = records[at as usize].next;
        }
        found
    }

    #[test]
    fn moves_and_runs_keep_the_list_whole() {
        let mut lists = Lists::new().expect("memory");
        let records = lists.mapping.records_mut();
        list_move(records, 2, 0);
        assert_eq!(order(records, 0)[..2], [3, 4]);
        assert_eq!(order(records, 0).last(), Some(&2));
        list_splice(records, (3, 5), 1);
        assert_eq!(order(records, 1), [3, 4, 5]);
        list_splice(records, (6, 6), 1);
        assert_eq!(order(records, 1), [3, 4, 5, 6]);
        assert_eq!(order(records, 0).len(), LIST as usize - 4);
    }

    #[test]
    fn differences_spill_into_the_shared_counter() {
        let mapping = map(4096, PageSize::Small).expect("memory");
        let lines = &mapping.records()[..COUNTER_LINES];
        (0..300).for_each(|_| size_update(lines));
        for line in lines {
            assert_eq!(line.flags.load(Relaxed) + line.mapping_word().load(Relaxed), 300);
        }
    }
}
