//! One workload as a stream of accesses and its phases.

use thiserror::Error;

use crate::config::workload;
use crate::config::workload::AccessOrder;
use crate::config::workload::KeyPattern;
use crate::config::workload::ScaleCase;
use crate::config::workload::TouchDistribution;
use crate::config::workload::Workload;
use crate::model::access::Region;
use crate::model::access::RegionKind;
use crate::model::access::Stream;
use crate::model::simulation::Phase;
use crate::model::stream::FioEngine;
use crate::model::stream::FioError;
use crate::model::stream::FioPattern;
use crate::model::stream::FioStream;
use crate::model::stream::FioWorkload;
use crate::model::stream::KeyOrder;
use crate::model::stream::MemcachedStream;
use crate::model::stream::MemcachedWorkload;
use crate::model::stream::Pattern;
use crate::model::stream::PreadStream;
use crate::model::stream::SyntheticStream;
use crate::model::stream::SyntheticWorkload;
use crate::model::stream::UsememStream;
use crate::model::stream::fio::ZipfHash;
use crate::units::PAGE_SIZE;
use crate::units::Percent;

/// Tasks of will-it-scale where their number is a share of the processors.
const PROCESSORS: u32 = 104;

/// A workload that no stream stands for.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NotModelled {
    #[error("{what} is no stream of page accesses that the model knows, so it cannot be simulated; {remedy}")]
    Workload { what: String, remedy: &'static str },
    #[error(transparent)]
    Fio(#[from] FioError),
}

/// The accesses of a workload.
pub struct WorkloadStream {
    pub stream: Box<dyn Stream>,
    pub phases: Vec<Phase>,
    /// What was assumed or left out.
    pub notes: Vec<String>,
}

/// What bounds a workload that runs by the clock.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    accesses: u64,
    seed: u64,
}

/// The stream of `workload`; one that runs by the clock makes `accesses`, of
/// which the first quarter is its own phase.
pub fn workload_stream(workload: &Workload, accesses: u64, seed: u64) -> Result<WorkloadStream, NotModelled> {
    let bounds = Bounds { accesses, seed };
    match workload {
        Workload::Memcached(memcached) => of_memcached(memcached, bounds),
        Workload::Fio(fio) => of_fio(fio, bounds),
        Workload::FileRead(file) => of_file_read(file, bounds),
        Workload::Usemem(usemem) => of_usemem(usemem, bounds),
        Workload::WillItScale(case) => of_will_it_scale(case, bounds),
        Workload::Netperf(_) => refuse("netperf", "it exercises the page allocator alone"),
        Workload::ReclaimProbe(_) => refuse("the reclaim probe", "give its size and limit with --stream"),
        Workload::Command(_) => refuse("a command", "record its accesses and give them with --trace"),
    }
}

fn refuse<T>(what: impl Into<String>, remedy: &'static str) -> Result<T, NotModelled> {
    Err(NotModelled::Workload { what: what.into(), remedy })
}

/// Warm-up and measured part of a workload that runs by the clock.
fn timed(stream: Box<dyn Stream>, bounds: Bounds) -> WorkloadStream {
    let note = format!(
        "the run is {} accesses long, not timed; its first quarter is the warm-up; see --accesses",
        bounds.accesses
    );
    let phases =
        vec![Phase::of("warm-up", bounds.accesses / 4), Phase { accesses: None, ..Phase::of("measure", 0) }];
    WorkloadStream { stream, phases, notes: vec![note] }
}

fn of_memcached(
    section: &workload::MemcachedWorkload,
    bounds: Bounds,
) -> Result<WorkloadStream, NotModelled> {
    let load = &section.load;
    let order = match load.patterns() {
        Some((KeyPattern::Parallel, KeyPattern::Parallel)) => KeyOrder::Parallel,
        Some((KeyPattern::Random, KeyPattern::Random)) => KeyOrder::Random,
        _ => return refuse(format!("the key pattern {}", load.pattern), "P:P and R:R are"),
    };
    let keys = load.key_count();
    let each = load.requests_per_connection() * load.connections() * u64::from(load.repeat);
    let measured = if load.duration.is_some() { bounds.accesses } else { each };
    let workload = MemcachedWorkload {
        keys: u32::try_from(keys).unwrap_or(u32::MAX),
        value: load.value,
        memory: section.memory,
        connections: u16::try_from(load.connections()).unwrap_or(u16::MAX),
        pipeline: load.pipeline,
        order,
        ratio: load.set_get_ratio().unwrap_or((1, 0)),
        operations: measured + if load.fill { keys } else { 0 },
        seed: bounds.seed,
    };
    // The fill is a prefix of the whole: as long as its own accesses.
    let fill = MemcachedWorkload { operations: keys, ratio: (1, 0), ..workload };
    let fill = if load.fill { MemcachedStream::new(fill).map(count) } else { None };
    let Some(stream) = MemcachedStream::new(workload) else {
        return refuse(format!("{keys} values of {}", load.value), "values of up to half a slab are");
    };
    let mut phases: Vec<Phase> = fill.map(|accesses| Phase::of("fill", accesses)).into_iter().collect();
    phases.push(Phase { name: "measure".to_owned(), accesses: None });
    let notes = vec!["the client's memory is not modelled; memcached's LRU is one list".to_owned()];
    Ok(WorkloadStream { stream: Box::new(stream), phases, notes })
}

fn count(mut stream: MemcachedStream) -> u64 {
    let (mut accesses, mut buffer) = (0, Vec::new());
    while stream.next_batch(&mut buffer) > 0 {
        accesses += buffer.len() as u64;
        buffer.clear();
    }
    accesses
}

fn of_fio(section: &workload::FioWorkload, bounds: Bounds) -> Result<WorkloadStream, NotModelled> {
    if section.direct {
        return refuse("direct I/O", "buffered I/O is");
    }
    let sequential = matches!(section.rw.as_str(), "read" | "write");
    let pattern = match section.distribution {
        _ if sequential => FioPattern::Sequential,
        TouchDistribution::Random => FioPattern::Uniform,
        TouchDistribution::Zipf(theta) => FioPattern::Zipf { theta, hash: ZipfHash::Since2016 },
        other => return refuse(format!("the distribution {}", other.to_fio()), "random and zipf are"),
    };
    let write_percent = match section.rw.as_str() {
        "randwrite" | "write" => 100,
        "randrw" => (100.0 - section.read_share.0).round() as u32,
        _ => 0,
    };
    let block_pages = section.block.0.div_ceil(PAGE_SIZE).max(1);
    let stream = FioStream::new(FioWorkload {
        files: section.jobs,
        blocks: (section.size.to_pages().0 / block_pages) as u32,
        block_pages: block_pages as u32,
        pattern,
        engine: if section.engine == "mmap" { FioEngine::Mmap } else { FioEngine::Syscall },
        write_percent,
        operations: bounds.accesses / block_pages,
        seed: bounds.seed,
    })?;
    Ok(timed(Box::new(stream), bounds))
}

fn of_file_read(section: &workload::FileReadWorkload, bounds: Bounds) -> Result<WorkloadStream, NotModelled> {
    let random = section.order == AccessOrder::Random;
    let fio = workload::FioWorkload {
        jobs: 1,
        size: section.size,
        engine: "psync".to_owned(),
        depth: 1,
        batch_submit: 1,
        batch_complete: 1,
        rw: if random { "randread" } else { "read" }.to_owned(),
        read_share: Percent(100.0),
        distribution: TouchDistribution::Random,
        block: section.block,
        direct: false,
        norandommap: true,
        ramp: section.warm_up,
        runtime: section.duration,
        file_system: String::new(),
    };
    of_fio(&fio, bounds)
}

fn of_usemem(section: &workload::UsememWorkload, bounds: Bounds) -> Result<WorkloadStream, NotModelled> {
    let pages = section.size.to_pages().0;
    let all = pages * u64::from(section.processes);
    let (Ok(tasks), Ok(all)) = (u16::try_from(section.processes), u32::try_from(all)) else {
        return refuse(format!("{all} pages"), "scale it down with --scale");
    };
    let stream: Box<dyn Stream> = match section.order {
        AccessOrder::Sequential => Box::new(UsememStream::new(tasks, pages as u32, section.passes)),
        AccessOrder::Random => {
            let accesses = u64::from(all) * u64::from(section.passes);
            let workload =
                SyntheticWorkload::single(RegionKind::Anon, all, Pattern::Uniform, accesses, bounds.seed);
            let region = |task: u32| Region::new(task * pages as u32, pages as u32, RegionKind::Anon);
            let regions = (0..section.processes).map(region).collect();
            Box::new(SyntheticStream::new(SyntheticWorkload { regions, write_percent: 100, ..workload }))
        }
    };
    Ok(WorkloadStream { stream, phases: vec![Phase::whole()], notes: Vec::new() })
}

fn of_will_it_scale(
    section: &workload::WillItScaleWorkload,
    bounds: Bounds,
) -> Result<WorkloadStream, NotModelled> {
    if section.case != ScaleCase::Pread2 {
        return refuse(format!("will-it-scale {}", section.case.name()), "pread2 is");
    }
    let tasks = u16::try_from(section.tasks.on(PROCESSORS)).unwrap_or(u16::MAX);
    Ok(timed(Box::new(PreadStream::new(tasks, bounds.accesses)), bounds))
}
