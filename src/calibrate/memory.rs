//! Loads by cache level and page size, and what a prefetch one node ahead hides.

use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::chain::{Chain, LINE};
use super::error::CalibrateError;
use super::machine::MachineUnderTest;
use super::parameter::Parameter;
use super::primitive::{PageSize, Record, prefetch_for_write};
use super::round::Group;
use super::timing::{Budget, per_operation, per_pair, timed};
use crate::stats::random::Chance;

/// Steps of work at each node that a prefetch may hide behind, and what they
/// measure. A processor that runs ahead reaches the next node by itself while the
/// work fits its window; the steps span both cases.
const WORK: [(Parameter, Parameter, u32); 3] = [
    (Parameter::PrefetchShort, Parameter::WorkShort, 12),
    (Parameter::PrefetchMedium, Parameter::WorkMedium, 48),
    (Parameter::PrefetchLong, Parameter::WorkLong, 160),
];
const LARGEST_ARENA: usize = 768 << 20;

/// Bytes that a cache level cannot hold: four times the last-level cache.
pub fn beyond_cache(machine: &MachineUnderTest) -> usize {
    (4 * machine.llc).clamp(64 << 20, LARGEST_ARENA)
}

/// Bytes well inside the last-level cache and well outside the second level.
pub fn inside_llc(machine: &MachineUnderTest) -> usize {
    (machine.llc / 4).max(2 * machine.l2)
}

pub fn inside_l2(machine: &MachineUnderTest) -> usize {
    (machine.l2 / 2).max(64 << 10)
}

/// Dependent loads.
pub struct Loads {
    cells: Vec<(Parameter, Chain)>,
}

impl Loads {
    pub fn new(machine: &MachineUnderTest, seed: u64) -> Result<Self, CalibrateError> {
        let table = [
            (Parameter::HitL2, inside_l2(machine), PageSize::Small),
            (Parameter::HitLlc, inside_llc(machine), PageSize::Small),
            (Parameter::HitLlcHuge, inside_llc(machine), PageSize::Huge),
            (Parameter::Miss, beyond_cache(machine), PageSize::Huge),
            (Parameter::MissSmall, beyond_cache(machine), PageSize::Small),
        ];
        let chain =
            |(parameter, length, pages)| Chain::shuffled(length, pages, seed).map(|chain| (parameter, chain));
        Ok(Loads { cells: table.into_iter().map(chain).collect::<Result<_, _>>()? })
    }
}

impl Group for Loads {
    fn round(&mut self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError> {
        let cell = |(parameter, chain): &mut (Parameter, Chain)| {
            // Other groups have used the caches since; a whole turn brings it back.
            if !matches!(parameter, Parameter::Miss | Parameter::MissSmall) {
                chain.walk(chain.records().len() as u64);
            }
            per_operation(parameter.name(), budget, |count| chain.walk(count)).map(|ns| (*parameter, ns))
        };
        self.cells.iter_mut().map(cell).collect()
    }
}

/// A list walk with and without a prefetch of the next node.
pub struct Prefetch {
    large: Chain,
    small: Chain,
    /// For the what-if: any order, known ahead.
    order: Vec<u32>,
    place: usize,
}

/// A reference taken, then steps that each need the one before and the first of
/// which needs the record, as decisions about a folio do.
#[inline(always)]
pub fn work(record: &Record, steps: u32) {
    record.refcount.fetch_add(1, Relaxed);
    let mut value = record.flags.load(Relaxed);
    for _ in 0..steps {
        value = black_box(value.wrapping_mul(0x9e37_79b9) ^ (value >> 29));
    }
    record.flags.store(value, Relaxed);
}

impl Prefetch {
    pub fn new(machine: &MachineUnderTest, seed: u64) -> Result<Self, CalibrateError> {
        let large = Chain::shuffled(beyond_cache(machine), PageSize::Huge, seed)?;
        let small = Chain::shuffled(inside_l2(machine) / 2, PageSize::Small, seed)?;
        let mut order: Vec<u32> = (0..(beyond_cache(machine) / LINE) as u32).collect();
        Chance::stream(seed, 1).shuffle(&mut order);
        Ok(Prefetch { large, small, order, place: 0 })
    }

    /// Saved nanoseconds by distance 1, and the work that it could hide behind.
    fn saved(&mut self, budget: Budget, steps: u32) -> Result<(f64, f64), CalibrateError> {
        let pair = per_pair("list walk", budget, |count, prefetch| match prefetch {
            false => self.large.visit(count, |record, _| work(record, steps)),
            true => self.large.visit(count, |record, next| {
                prefetch_for_write(next);
                work(record, steps);
            }),
        })?;
        let in_cache = per_operation("list walk in cache", budget, |count| {
            self.small.visit(count, |record, _| work(record, steps))
        })?;
        Ok((pair.saved, in_cache))
    }

    /// Visits records in an order known ahead, two prefetched ahead or none.
    fn known_order(&mut self, count: u64, ahead: bool) -> Duration {
        let records = self.large.records();
        let length = self.order.len();
        let mut place = self.place;
        let took = timed(|| {
            for _ in 0..count {
                if ahead {
                    prefetch_for_write(&records[self.order[(place + 2) % length] as usize]);
                }
                let record = &records[self.order[place] as usize];
                work(record, WORK[0].2);
                black_box(record.prev);
                place = (place + 1) % length;
            }
        });
        self.place = place;
        took
    }
}

impl Group for Prefetch {
    fn round(&mut self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError> {
        let miss = per_operation("miss for prefetch", budget, |count| self.large.walk(count))?;
        let mut cells = Vec::new();
        for (share, work, steps) in WORK {
            let (saved, in_cache) = self.saved(budget, steps)?;
            cells.extend([(share, saved / miss.min(in_cache)), (work, in_cache)]);
        }
        let known = per_pair("known order", budget, |count, ahead| self.known_order(count, ahead))?;
        cells.push((Parameter::PrefetchTwoAhead, known.saved / miss));
        let issue = per_pair("prefetch in cache", budget, |count, prefetch| match prefetch {
            false => self.small.visit(count, |record, _| work(record, 1)),
            true => self.small.visit(count, |record, next| {
                prefetch_for_write(next);
                work(record, 1);
            }),
        })?;
        cells.push((Parameter::PrefetchIssue, -issue.saved));
        Ok(cells)
    }
}
