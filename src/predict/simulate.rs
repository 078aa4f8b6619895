//! Runs the model for a case, without and with a patch: the same stream, the
//! same seed, shrunk so that a simulation takes seconds.
//!
//! What is shrunk: the number of files or keys with the limit, so that every
//! over-commit ratio stays, and a file keeps its size and so fio's own law.

use crate::calibrate::{Costs, MachineShape, Parameter as P};
use crate::model::access::{Access, AccessKind, Recorded, Region, RegionKind, Stream};
use crate::model::event::{Event, Events};
use crate::model::flag::{Flag, Flags};
use crate::model::pcp::{Driver, DriverReport, PcpRules, Watermarks, Zone, ZoneConfig};
use crate::model::simulation::{Configuration, Outcome, Phase, Simulation};
use crate::model::stream::{
    FioEngine, FioPattern, FioStream, FioWorkload, KeyOrder, MemcachedStream, MemcachedWorkload,
    NetperfStream, NetperfWorkload,
};
use crate::model::version::PolicyKind;
use crate::units::{Bytes, Pages};

use super::case::{Case, Kind};
use super::error::PredictError;
use super::price::{self, Demand, Station};

/// Pages of the memcg in a simulation, at most.
const LARGEST_LIMIT: u64 = 65_536;
/// Accesses before counting begins and while it goes on, for each page of the limit.
const TURNS: u64 = 6;
const MESSAGES: u64 = 20_000;
const READS: u64 = 4096;

/// What one simulation counted.
#[derive(Debug, Clone, PartialEq)]
pub enum Counted {
    Events {
        events: Box<Events>,
        operations: f64,
    },
    /// Reads of one page by many tasks.
    OnePage {
        events: Box<Events>,
        operations: f64,
    },
    Buffers {
        report: Box<DriverReport>,
        cache: Pages,
    },
    /// Active and all pages of anonymous type, by the share that was written.
    Levels([(f64, f64); 3]),
}

/// How much shrunk one simulation may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Pages of the memcg.
    pub limit: u64,
    pub messages: u64,
    pub seed: u64,
}

impl Effort {
    pub fn full(seed: u64) -> Self {
        Effort { limit: LARGEST_LIMIT, messages: MESSAGES, seed }
    }
}

/// Runs the case on a kernel with these patches.
pub fn simulate(
    case: &Case,
    side: Side,
    machine: &MachineShape,
    effort: Effort,
) -> Result<Counted, PredictError> {
    let Side { flags, rules } = side;
    match case.kind {
        Kind::Reads { jobs, blocks, pattern, limit, write_percent } => {
            let reads = Shrunk::new(jobs, blocks, limit, effort);
            reads
                .run(pattern, write_percent, flags, effort)
                .map(|(events, operations, _)| Counted::Events { events: Box::new(events), operations })
        }
        Kind::Probe { shuffled } => probe(shuffled, flags, effort),
        Kind::Server { .. } => server(case, flags, effort),
        Kind::OnePage => Ok(one_page(flags)),
        Kind::Buffers { pairs, order, window, burst } => {
            let workload = NetperfWorkload {
                pairs: (pairs / machine.nodes).max(1),
                cpus: u16::try_from(machine.cpus / machine.nodes).unwrap_or(u16::MAX).max(1),
                order,
                window,
                burst,
                migrate_every: 64,
                messages: 2 * effort.messages,
                seed: effort.seed,
            };
            play(workload, rules, machine, effort)
        }
        Kind::Levels => Ok(levels(flags)),
    }
}

/// A group of files over a limit, with fewer files.
struct Shrunk {
    files: u32,
    blocks: u32,
    limit: u64,
}

impl Shrunk {
    fn new(jobs: u32, blocks: u32, limit: Bytes, effort: Effort) -> Self {
        let pages = limit.to_pages().0.max(64);
        let files = (u64::from(jobs) * effort.limit / pages).clamp(1, u64::from(jobs)) as u32;
        let share = f64::from(files) / f64::from(jobs);
        let limit = (pages as f64 * share) as u64;
        if limit <= effort.limit {
            return Shrunk { files, blocks, limit };
        }
        // One file is still too large: its law changes a little with its size.
        let factor = effort.limit as f64 / limit as f64;
        Shrunk { files, blocks: ((f64::from(blocks) * factor) as u32).max(64), limit: effort.limit }
    }

    fn run(
        &self,
        pattern: FioPattern,
        write_percent: u32,
        flags: Flags,
        effort: Effort,
    ) -> Result<(Events, f64, f64), PredictError> {
        let span = TURNS * self.limit;
        let mut stream = FioStream::new(FioWorkload {
            files: self.files,
            blocks: self.blocks,
            block_pages: 1,
            pattern,
            engine: FioEngine::Syscall,
            write_percent,
            operations: 2 * span,
            seed: effort.seed,
        })?;
        let outcome = run(&mut stream, self.limit, flags, span);
        counted(&outcome, "fio")
    }
}

fn run(stream: &mut dyn Stream, limit: u64, flags: Flags, span: u64) -> Outcome {
    let configuration = Configuration { flags, ..Configuration::new(PolicyKind::Mglru, limit) };
    Simulation::new(configuration).run(stream, &[Phase::of("warm", span), Phase::of("counted", span)])
}

/// Events, accesses and pages stolen of the counted phase.
fn counted(outcome: &Outcome, workload: &'static str) -> Result<(Events, f64, f64), PredictError> {
    let phase = outcome.phases.last().filter(|p| outcome.out_of_memory.is_none() && p.accesses > 0);
    let phase = phase.ok_or(PredictError::OutOfMemory { workload })?;
    let stolen = phase.memcgs.iter().map(|m| m.pgsteal()).sum::<u64>() as f64;
    Ok((phase.events.clone(), phase.accesses as f64, stolen))
}

/// Reclaim of clean file pages, an operation being a page freed. Only what reclaim
/// itself does is kept: the reads that fill the file are no part of the probe.
fn probe(shuffled: bool, flags: Flags, effort: Effort) -> Result<Counted, PredictError> {
    let limit = effort.limit.min(8192);
    let shrunk = Shrunk { files: 1, blocks: 4 * limit as u32, limit };
    let pattern = if shuffled { FioPattern::Uniform } else { FioPattern::Sequential };
    let (all, _, stolen) = shrunk.run(pattern, 0, flags, effort)?;
    let kept = [
        Event::ScanFolio,
        Event::PrefetchIssue,
        Event::Isolate,
        Event::SortPromoted,
        Event::SortProtected,
        Event::ListMove,
        Event::SizeUpdateBatched,
        Event::PageLock,
        Event::RmapWalk,
        Event::XarrayDelete,
        Event::EvictPass,
        Event::UnchargeBatch,
    ];
    let mut events = Events::default();
    kept.into_iter().for_each(|event| events.add(event, all.get(event)));
    events.add(Event::SizeUpdate, all.get(Event::Isolate));
    Ok(Counted::Events { events: Box::new(events), operations: stolen.max(1.0) })
}

fn server(case: &Case, flags: Flags, effort: Effort) -> Result<Counted, PredictError> {
    let Kind::Server { keys, value, memory, limit, connections, pipeline } = case.kind else {
        return Err(PredictError::OutOfMemory { workload: "memtier" });
    };
    let pages = limit.to_pages().0.max(64);
    // Each SET touches many pages, so its memcg is a quarter of what files get.
    let shrink = (0.25 * effort.limit as f64 / pages as f64).min(1.0);
    let small = |whole: u64| ((whole as f64 * shrink) as u64).max(1);
    let keys = u32::try_from(small(keys)).unwrap_or(u32::MAX);
    let (warm, counting) = (u64::from(keys) * 3 / 2, u64::from(keys) / 2);
    let workload = MemcachedWorkload {
        keys,
        value,
        memory: Bytes(small(memory.0).max(4 << 20)),
        connections,
        pipeline,
        order: KeyOrder::Parallel,
        ratio: (1, 0),
        operations: warm + counting,
        seed: effort.seed,
    };
    let stream = |operations| {
        let workload = MemcachedWorkload { operations, ..workload };
        MemcachedStream::new(workload).ok_or(PredictError::OutOfMemory { workload: "memtier" })
    };
    // Accesses of the warm-up, which the phase needs, are counted by playing it once.
    let accesses = length(&mut stream(warm)?);
    let mut whole = stream(warm + counting)?;
    let configuration = Configuration {
        flags,
        swap_pages: 2 * small(memory.to_pages().0),
        ..Configuration::new(PolicyKind::Mglru, small(pages))
    };
    let phases = [Phase::of("warm", accesses), Phase::whole()];
    let outcome = Simulation::new(configuration).run(&mut whole, &phases);
    let (events, _, _) = counted(&outcome, "memtier")?;
    Ok(Counted::Events { events: Box::new(events), operations: counting.max(1) as f64 })
}

fn length(stream: &mut dyn Stream) -> u64 {
    let mut buffer = Vec::new();
    let mut total = 0;
    loop {
        buffer.clear();
        match stream.next_batch(&mut buffer) {
            0 => return total,
            count => total += count as u64,
        }
    }
}

/// The page is written once, read until its state no longer changes, then counted.
fn one_page(flags: Flags) -> Counted {
    let mut accesses = vec![Access::new(0, AccessKind::FileWrite)];
    accesses.resize(2 * READS as usize, Access::new(0, AccessKind::FileRead));
    let mut stream = Recorded::new(vec![Region::new(0, 1, RegionKind::Shmem)], accesses);
    let configuration = Configuration { flags, ..Configuration::new(PolicyKind::Mglru, 1024) };
    let phases = [Phase::of("warm", READS), Phase::of("counted", READS)];
    let outcome = Simulation::new(configuration).run(&mut stream, &phases);
    let phase = &outcome.phases[1];
    Counted::OnePage { events: Box::new(phase.events.clone()), operations: phase.accesses.max(1) as f64 }
}

/// The number of a patch in the v6.7 series.
fn series_number(flag: Flag) -> Option<u32> {
    PcpRules::SERIES.iter().position(|f| *f == flag).map(|at| at as u32 + 1)
}

/// A kernel: its reclaim patches and its page allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    pub flags: Flags,
    pub rules: PcpRules,
}

/// The kernels before and with a set of patches. A patch of the page allocator's
/// series goes onto the patches before it, since it was written for those.
pub fn sides(flags: Flags, base: Flags) -> (Side, Side) {
    let rules = match flags.iter().filter_map(series_number).max() {
        Some(number) => PcpRules::series(number),
        None => PcpRules::K612.with(flags),
    };
    let with = flags.iter().chain(base.iter()).collect();
    (Side { flags: base, rules: rules.without(flags) }, Side { flags: with, rules })
}

/// One node: its limits come from its whole memory, its pages from a small zone,
/// since only limits and the pages in use matter.
fn play(
    workload: NetperfWorkload,
    rules: PcpRules,
    machine: &MachineShape,
    effort: Effort,
) -> Result<Counted, PredictError> {
    let cpus = u32::from(workload.cpus);
    let node = Bytes((machine.node_memory_gib * f64::from(1 << 30)) as u64).to_pages();
    let slice = Bytes((machine.llc_mib * f64::from(1 << 20) / f64::from(machine.llc_cpus.max(1))) as u64);
    let config = ZoneConfig::new(node, cpus, rules, Some(slice));
    let none = Watermarks { min: Pages(0), low: Pages(0), high: Pages(0) };
    let used = u64::from(workload.pairs * workload.window) << workload.order;
    let most = u64::from(cpus) * u64::from(config.limits.high_max);
    let managed = Pages((used + 2 * most).clamp(65_536, 1 << 20).min(node.0.max(65_536)));
    let zone = Zone::new(ZoneConfig { managed, marks: none, ..config })?;
    let mut stream = NetperfStream::new(workload);
    let mut driver = Driver::new(zone, stream.slots());
    let (mut batch, mut warm) = (Vec::new(), None);
    while stream.next_batch(&mut batch) > 0 {
        for operation in batch.drain(..) {
            driver.apply(operation)?;
        }
        if warm.is_none() && driver.report().blocks_allocated >= effort.messages {
            warm = Some(driver.report());
        }
    }
    let report = driver.report().since(&warm.unwrap_or_default());
    let cache =
        Bytes((machine.all_llc_mib() / f64::from(machine.nodes) * f64::from(1 << 20)) as u64).to_pages();
    Ok(Counted::Buffers { report: Box::new(report), cache })
}

/// Shares of pages of anonymous type that were written through files, as an
/// initial ramdisk in tmpfs is. Not known for any machine: a quarter to three
/// quarters, so that the sign is a forecast and the size hardly.
const WRITTEN: [f64; 3] = [0.25, 0.5, 0.75];

fn levels(flags: Flags) -> Counted {
    Counted::Levels(WRITTEN.map(|share| {
        let (written, faulted) = ((share * 8192.0) as u32, ((1.0 - share) * 8192.0) as u32);
        let regions =
            vec![Region::new(0, written, RegionKind::Shmem), Region::new(written, faulted, RegionKind::Anon)];
        let mut accesses: Vec<Access> = (0..written).map(|p| Access::new(p, AccessKind::FileWrite)).collect();
        accesses.extend((written..written + faulted).map(|p| Access::new(p, AccessKind::MapWrite)));
        let configuration = Configuration { flags, ..Configuration::new(PolicyKind::Mglru, 65_536) };
        let outcome =
            Simulation::new(configuration).run(&mut Recorded::new(regions, accesses), &[Phase::whole()]);
        let sizes = outcome.sizes[0];
        (sizes.active[0] as f64, sizes.of_type(0) as f64)
    }))
}

/// Demand of one operation, from what was counted and the costs.
pub fn demand(counted: &Counted, tasks: u32, machine: &MachineShape, costs: &Costs) -> Demand {
    let (rmw, spin) = contended(Station::FolioLine, tasks, machine);
    match counted {
        Counted::Events { events, operations } => price::demand(events, *operations, costs),
        Counted::OnePage { events, operations } => {
            let mut demand = Demand::default();
            let per = |event: Event| events.get(event) as f64 / operations;
            demand.add(Station::Processor, P::Syscall, costs.get(P::Syscall));
            demand.add(Station::Processor, P::CopyL2L2, costs.get(P::CopyL2L2));
            // References taken and dropped, the page lock taken and dropped, the mark.
            let atomics = per(Event::RefcountChange) + 2.0 + per(Event::MarkAtomicSet);
            demand.add(Station::FolioLine, rmw, atomics * costs.get(rmw));
            if tasks > 1 {
                // The wait queue's lock: by the one that waits and by the one that wakes it.
                demand.add(Station::FolioLine, spin, 2.0 * costs.get(spin));
            }
            demand
        }
        Counted::Buffers { report, cache } => buffer_demand(report, *cache, costs),
        Counted::Levels(_) => Demand::default(),
    }
}

/// The cost of a contended line and of a lock's hand-off among these tasks. A
/// lruvec's and a zone's lock belong to a node, whose tasks are of one socket.
pub fn contended(station: Station, tasks: u32, machine: &MachineShape) -> (P, P) {
    match tasks.min(machine.cpus) {
        0 | 1 => (P::Rmw, P::Rmw),
        2 | 3 => (P::RmwTwo, P::SpinTwo),
        _ if station == Station::FolioLine && machine.sockets > 1 => (P::RmwCross, P::SpinCross),
        _ => (P::RmwMany, P::SpinMany),
    }
}

/// Copies by whether the page is still in a cache, and the zone lock's holds.
fn buffer_demand(report: &DriverReport, cache: Pages, costs: &Costs) -> Demand {
    let mut demand = Demand::default();
    let messages = report.blocks_allocated.max(1) as f64;
    let pages = report.copy_in.total() as f64 / messages;
    let copies = [
        (report.copy_in.share_within(cache), P::CopyL2Llc, P::CopyL2Dram),
        (report.copy_out.share_within(cache), P::CopyLlcL2, P::CopyDramL2),
    ];
    for (share, near, far) in copies {
        demand.add(Station::Processor, near, pages * share * costs.get(near));
        demand.add(Station::Processor, far, pages * (1.0 - share) * costs.get(far));
    }
    let lock = report.counts.zone_lock();
    let (holds, blocks) = (lock.holds as f64 / messages, lock.blocks as f64 / messages);
    demand.add(Station::Processor, P::WorkShort, 4.0 * costs.get(P::WorkShort));
    demand.add(Station::ZoneLock, P::Rmw, 2.0 * holds * costs.get(P::Rmw));
    demand.add(Station::ZoneLock, P::WorkShort, blocks * costs.get(P::WorkShort));
    let steps = (lock.work.splits + lock.work.merges) as f64 / messages;
    demand.add(Station::ZoneLock, P::ListMove, (blocks + steps) * costs.get(P::ListMove));
    demand.add(Station::ZoneLock, P::Miss, lock.work.missed as f64 / messages * costs.get(P::Miss));
    demand.add_holds(Station::ZoneLock, holds);
    demand
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_of_the_series_are_taken_out_of_the_kernel_that_has_them() {
        let (before, after) = sides(Flags::NONE.with(Flag::PcpFreeCount), Flags::NONE);
        assert_eq!((before.rules, after.rules), (PcpRules::series(8), PcpRules::series(9)));
        let (before, after) = sides(Flags::NONE.with(Flag::PcpFreeHighThreshold), Flags::NONE);
        assert_eq!((before.rules, after.rules), (PcpRules::K612, PcpRules::K616));
    }

    #[test]
    fn a_large_limit_is_shrunk_with_its_files() {
        let effort = Effort::full(1);
        let fio = Shrunk::new(16, 245_760, Bytes::gib(4), effort);
        assert_eq!((fio.files, fio.blocks, fio.limit), (1, 245_760, 65_536));
        let small = Shrunk::new(4, 1000, Bytes::mib(8), effort);
        assert_eq!((small.files, small.blocks, small.limit), (4, 1000, 2048));
    }

    #[test]
    fn one_page_shows_the_atomic_set_and_its_fix() {
        let sets = |flags| match one_page(flags) {
            Counted::OnePage { events, operations } => events.get(Event::MarkAtomicSet) as f64 / operations,
            _ => f64::NAN,
        };
        let posted = Flags::NONE.with(Flag::WorkingsetProtectionPosted);
        assert_eq!(sets(Flags::NONE), 0.0);
        assert_eq!(sets(posted), 1.0);
        assert_eq!(sets(posted.with(Flag::TestBeforeSet)), 0.0);
    }
}
