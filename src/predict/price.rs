//! What each event costs: a table of events against parameters, and the demand
//! that a run's events put on processors and locks.
//!
//! Prices are multiples of measured costs. `work_short` stands for code, so that a
//! path of the kernel scales with the processor that runs it: it is some seventy
//! instructions of a loop that runs at two a cycle, and kernel code runs at about
//! half of that, so one `work_short` is 35 instructions. How long a path is was
//! estimated from its description (a size update with its three counters and the
//! rstat tree about 100, isolation and putting on a list about 140 each, a look at
//! a folio 70), not fitted to any result.

use std::collections::BTreeMap;

use crate::calibrate::Costs;
use crate::calibrate::Parameter as P;
use crate::model::event::Event as E;
use crate::model::event::Events;

/// Where time is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Station {
    /// The task's own processor.
    Processor,
    LruLock,
    ZoneLock,
    /// The line of one hot folio, and the wait queue behind its lock.
    FolioLine,
}

impl Station {
    pub const LOCKS: [Station; 3] = [Station::LruLock, Station::ZoneLock, Station::FolioLine];

    pub const fn name(self) -> &'static str {
        match self {
            Station::Processor => "processor",
            Station::LruLock => "lru_lock",
            Station::ZoneLock => "zone lock",
            Station::FolioLine => "the folio's line",
        }
    }
}

/// The price of one event.
struct Price(E, Station, &'static [(P, f64)]);

use Station::{LruLock as Lru, Processor as Cpu, ZoneLock as Zone};

const PRICES: [Price; 50] = [
    // Under lru_lock. The line of a scanned folio was last touched long ago.
    Price(E::ScanFolio, Lru, &[(P::Miss, 1.0), (P::WorkShort, 2.0)]),
    Price(E::Isolate, Lru, &[(P::Rmw, 2.0), (P::ListMove, 1.0), (P::WorkShort, 4.0)]),
    Price(E::SortPromoted, Lru, &[(P::WorkShort, 1.0)]),
    Price(E::SortProtected, Lru, &[(P::Rmw, 1.0), (P::WorkShort, 2.0)]),
    Price(E::ListMove, Lru, &[(P::ListMove, 1.0)]),
    Price(E::ListSplice, Lru, &[(P::ListSplice, 1.0)]),
    // Five lines an update; a store to nr_pages is a fifth of that.
    Price(E::SizeUpdate, Lru, &[(P::PerCpu, 1.0), (P::WorkShort, 3.0)]),
    Price(E::SizeUpdateStore, Lru, &[(P::PerCpu, 0.2)]),
    Price(E::SizeUpdateBatched, Lru, &[(P::PerCpu, 1.0), (P::WorkShort, 3.0)]),
    Price(E::AddBatchFolio, Lru, &[(P::Rmw, 1.0), (P::ListMove, 1.0), (P::HitL2, 1.0), (P::WorkShort, 4.0)]),
    Price(E::Putback, Lru, &[(P::Rmw, 1.0), (P::ListMove, 1.0), (P::WorkShort, 4.0)]),
    Price(E::IncMinSeqMove, Lru, &[(P::Miss, 1.0), (P::Rmw, 1.0), (P::WorkShort, 0.5)]),
    Price(E::LruLock, Lru, &[(P::Rmw, 2.0)]),
    Price(E::Aging, Lru, &[(P::HitLlc, 8.0)]),
    // The task's own time.
    Price(E::Syscall, Cpu, &[(P::Syscall, 1.0)]),
    Price(E::MinorFault, Cpu, &[(P::Fault, 1.0)]),
    Price(E::MajorFault, Cpu, &[(P::Fault, 1.5)]),
    Price(E::PageAllocate, Cpu, &[(P::Rmw, 1.0), (P::WorkShort, 2.0)]),
    Price(E::PageFree, Cpu, &[(P::WorkShort, 1.0)]),
    Price(E::PageZero, Cpu, &[(P::ZeroDram, 1.0)]),
    Price(E::ChargeStock, Cpu, &[(P::PerCpu, 0.2)]),
    Price(E::ChargeHierarchy, Cpu, &[(P::AtomicHierarchy, 1.0)]),
    Price(E::ChargeHierarchyFailed, Cpu, &[(P::AtomicHierarchy, 2.0)]),
    Price(E::ReclaimBegin, Cpu, &[(P::WorkShort, 20.0)]),
    Price(E::ReclaimPriority, Cpu, &[(P::WorkShort, 20.0)]),
    Price(E::EvictPass, Cpu, &[(P::WorkShort, 10.0)]),
    Price(E::PageLock, Cpu, &[(P::Rmw, 2.0), (P::WorkShort, 2.0)]),
    Price(E::RmapWalk, Cpu, &[(P::Rmw, 4.0), (P::HitLlc, 3.0), (P::WorkShort, 2.0)]),
    Price(E::LookAroundPte, Cpu, &[(P::Pte, 1.0)]),
    Price(E::LookAroundYoung, Cpu, &[(P::Rmw, 1.0), (P::HitLlc, 1.0)]),
    Price(E::WalkPmdScanned, Cpu, &[(P::HitLlc, 2.0)]),
    Price(E::WalkPte, Cpu, &[(P::Pte, 1.0)]),
    Price(E::WalkPteYoung, Cpu, &[(P::Rmw, 1.0), (P::HitLlc, 1.0)]),
    Price(E::UpdateGeneration, Cpu, &[(P::Rmw, 1.0), (P::Miss, 0.5)]),
    Price(E::AddToSwap, Cpu, &[(P::Rmw, 2.0), (P::HitLlc, 2.0), (P::WorkShort, 2.0)]),
    Price(E::SlotRefill, Cpu, &[(P::WorkShort, 40.0)]),
    Price(E::UnmapPte, Cpu, &[(P::Rmw, 3.0), (P::HitLlc, 2.0), (P::WorkShort, 2.0)]),
    Price(E::TlbFlush, Cpu, &[(P::TlbMany, 1.0)]),
    Price(E::CopyUser, Cpu, &[(P::CopyDramL2, 1.0)]),
    Price(E::CopyDevice, Cpu, &[(P::CopyDramDram, 1.0)]),
    Price(E::ZeroCheck, Cpu, &[(P::Miss, 1.0)]),
    Price(E::XarrayInsert, Cpu, &[(P::HitLlc, 2.0), (P::Rmw, 2.0), (P::WorkShort, 1.0)]),
    Price(E::XarrayDelete, Cpu, &[(P::HitLlc, 2.0), (P::Rmw, 2.0), (P::WorkShort, 1.0)]),
    Price(E::XarrayLookup, Cpu, &[(P::HitLlc, 2.0), (P::Miss, 0.5)]),
    Price(E::MarkCompareExchange, Cpu, &[(P::Rmw, 1.0)]),
    Price(E::MarkReferenced, Cpu, &[(P::Rmw, 1.0)]),
    Price(E::UnchargeBatch, Cpu, &[(P::AtomicHierarchy, 1.0)]),
    // Zone lock: PCP refills and drains of 63 pages, from and to the buddy.
    Price(E::PcpRefill, Zone, &[(P::Rmw, 2.0), (P::ListMove, 63.0)]),
    Price(E::PcpDrain, Zone, &[(P::Rmw, 2.0), (P::ListMove, 63.0), (P::HitLlc, 8.0)]),
    Price(E::RefcountChange, Cpu, &[(P::Rmw, 1.0)]),
];

/// Nanoseconds an operation, by station and parameter, and holds of each lock.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Demand {
    parts: BTreeMap<(Station, P), f64>,
    holds: BTreeMap<Station, f64>,
}

impl Demand {
    pub fn add(&mut self, station: Station, parameter: P, nanoseconds: f64) {
        *self.parts.entry((station, parameter)).or_insert(0.0) += nanoseconds;
    }

    pub fn add_holds(&mut self, station: Station, holds: f64) {
        *self.holds.entry(station).or_insert(0.0) += holds;
    }

    pub fn at(&self, station: Station) -> f64 {
        self.parts.iter().filter(|((at, _), _)| *at == station).map(|(_, ns)| ns).sum::<f64>().max(0.0)
    }

    pub fn holds(&self, station: Station) -> f64 {
        self.holds.get(&station).copied().unwrap_or(0.0)
    }

    pub fn part(&self, station: Station, parameter: P) -> f64 {
        self.parts.get(&(station, parameter)).copied().unwrap_or(0.0)
    }

    /// Parts of both demands that differ: station, parameter, this one, the other.
    pub fn differences(&self, other: &Demand) -> Vec<(Station, P, f64, f64)> {
        let mut keys: Vec<(Station, P)> = self.parts.keys().chain(other.parts.keys()).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let both = keys.into_iter().map(|(s, p)| (s, p, self.part(s, p), other.part(s, p)));
        both.filter(|(_, _, one, two)| (one - two).abs() > 1e-9).collect()
    }
}

/// The demand of a run's events for each of `operations`.
pub fn demand(events: &Events, operations: f64, costs: &Costs) -> Demand {
    let mut demand = Demand::default();
    let per = |event: E| events.get(event) as f64 / operations;
    for Price(event, station, parts) in &PRICES {
        let count = per(*event);
        if count > 0.0 {
            for (parameter, times) in *parts {
                demand.add(*station, *parameter, count * times * costs.get(*parameter));
            }
        }
    }
    hide_misses(&mut demand, events, operations, costs);
    demand.add_holds(Station::LruLock, per(E::LruLock));
    demand.add_holds(Station::ZoneLock, per(E::PcpRefill) + per(E::PcpDrain));
    demand
}

/// A prefetch of the next folio hides a part of its miss behind the work on this
/// one: the scan's work under the lock, without the miss, for each scanned folio.
fn hide_misses(demand: &mut Demand, events: &Events, operations: f64, costs: &Costs) {
    let issued = events.get(E::PrefetchIssue) as f64;
    let scanned = (events.get(E::ScanFolio) + events.get(E::IncMinSeqMove)) as f64;
    if issued == 0.0 || scanned == 0.0 {
        return;
    }
    let work = scan_work(events, costs) / scanned;
    let hidden = costs.hidden(costs.get(P::Miss), work);
    demand.add(Station::LruLock, P::Miss, -hidden * issued / operations);
    demand.add(
        Station::LruLock,
        P::PrefetchIssue,
        costs.get(P::PrefetchIssue).max(0.0) * issued / operations,
    );
}

/// Work under the lock between one folio and the next, misses left out.
fn scan_work(events: &Events, costs: &Costs) -> f64 {
    let own = [E::ScanFolio, E::Isolate, E::SortPromoted, E::SortProtected, E::ListMove, E::IncMinSeqMove];
    let update = costs.get(P::PerCpu) + 3.0 * costs.get(P::WorkShort);
    let mut total = events.get(E::Isolate) as f64 * update;
    for Price(event, _, parts) in PRICES.iter().filter(|price| own.contains(&price.0)) {
        let each: f64 =
            parts.iter().filter(|(p, _)| *p != P::Miss).map(|(p, times)| times * costs.get(*p)).sum();
        total += events.get(*event) as f64 * each;
    }
    total
}
