//! Speed and memory of the reclaim model: 20 M accesses, zipf 0.99 over 1 Mi pages
//! in random order, a memcg of 256 Ki pages. The accesses are made before the
//! clock starts, and processor time is what counts, so that a busy machine
//! disturbs little. Arguments: accesses in millions, then parts of row names.

use std::hint::black_box;
use std::time::Duration;

use rand::RngExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_distr::Distribution;
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;
use run_bench::model::access::Access;
use run_bench::model::access::AccessKind;
use run_bench::model::access::Recorded;
use run_bench::model::access::Region;
use run_bench::model::access::RegionKind;
use run_bench::model::access::Stream;
use run_bench::model::classic::Classic;
use run_bench::model::event::Event;
use run_bench::model::machine::Machine;
use run_bench::model::mglru::Mglru;
use run_bench::model::platform::Platform;
use run_bench::model::policy::Policy;
use run_bench::model::simulation::Configuration;
use run_bench::model::simulation::Outcome;
use run_bench::model::simulation::Phase;
use run_bench::model::simulation::Simulation;
use run_bench::model::stream::fio::FioEngine;
use run_bench::model::stream::fio::FioPattern;
use run_bench::model::stream::fio::FioStream;
use run_bench::model::stream::fio::FioWorkload;
use run_bench::model::stream::fio::ZipfHash;
use run_bench::model::version::PolicyKind;
use run_bench::model::version::Version;
use rustix::time::ClockId;
use rustix::time::clock_gettime;

const PAGES: u32 = 1 << 20;
const LIMIT: u64 = 256 << 10;
const ROUNDS: usize = 5;

fn zipf_pages(count: usize, seed: u64) -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<u32> = (0..PAGES).collect();
    order.shuffle(&mut random);
    let zipf = Zipf::new(f64::from(PAGES), 0.99).expect("a valid exponent");
    (0..count).map(|_| order[zipf.sample(&mut random) as usize - 1]).collect()
}

/// Processor time of this thread.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32).as_secs_f64()
}

/// Accesses of `kind`. Of anon a third are stores, and the first of each page is
/// one, since loads would meet the zero page.
fn accesses(pages: &[u32], kind: RegionKind, seed: u64) -> Vec<Access> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut touched = vec![false; PAGES as usize];
    let access = |page: &u32| {
        let first = !std::mem::replace(&mut touched[*page as usize], true);
        let kind = match kind {
            RegionKind::File => AccessKind::FileRead,
            _ if first || random.random_range(0..3) == 0 => AccessKind::MapWrite,
            _ => AccessKind::MapRead,
        };
        Access::new(*page, kind)
    };
    pages.iter().map(access).collect()
}

struct Row {
    name: &'static str,
    policy: PolicyKind,
    version: Version,
    platform: Platform,
    kind: RegionKind,
}

fn rows() -> Vec<Row> {
    let x86 = Platform::X86;
    let uml = Platform { young_on_read: true, ..Platform::UML };
    let row = |name, policy, version, platform, kind| Row { name, policy, version, platform, kind };
    vec![
        row("mglru-6.12-file", PolicyKind::Mglru, Version::K612, x86, RegionKind::File),
        row("mglru-6.12-anon", PolicyKind::Mglru, Version::K612, x86, RegionKind::Anon),
        row("mglru-6.12-anon-no-walk", PolicyKind::Mglru, Version::K612, uml, RegionKind::Anon),
        row("classic-6.12-file", PolicyKind::Classic, Version::K612, x86, RegionKind::File),
        row("classic-6.12-anon", PolicyKind::Classic, Version::K612, x86, RegionKind::Anon),
        row("mglru-7.2-anon", PolicyKind::Mglru, Version::K72, x86, RegionKind::Anon),
        row("mglru-7.2-file", PolicyKind::Mglru, Version::K72, x86, RegionKind::File),
    ]
}

fn run(row: &Row, accesses: &[Access]) -> (f64, Outcome) {
    let configuration = Configuration {
        version: row.version,
        platform: row.platform,
        ..Configuration::new(row.policy, LIMIT)
    };
    let simulation = Simulation::new(configuration);
    let regions = vec![Region::new(0, PAGES, row.kind)];
    let mut stream = Recorded::new(regions, accesses.to_vec());
    let start = processor_time();
    let outcome = simulation.run(&mut stream, &[Phase::whole()]);
    (processor_time() - start, outcome)
}

/// The job of the fio mails: 16 files of 960 MiB, zipf 0.5, in a memcg of 4 GiB. The
/// accesses are made between the timed parts.
fn run_fio(policy: PolicyKind, operations: u64) {
    let zipf = FioPattern::Zipf { theta: 0.5, hash: ZipfHash::Since2016 };
    let workload = FioWorkload {
        files: 16,
        blocks: 245_760,
        block_pages: 1,
        pattern: zipf,
        engine: FioEngine::Syscall,
        write_percent: 0,
        operations,
        seed: 1,
    };
    let mut stream = FioStream::new(workload).expect("a workload that fits");
    let simulation = Simulation::new(Configuration::new(policy, 1 << 20));
    let core = simulation.core(stream.regions());
    match policy {
        PolicyKind::Classic => time_fio(Machine::<Classic>::new(core), &mut stream, policy),
        PolicyKind::Mglru => time_fio(Machine::<Mglru>::new(core), &mut stream, policy),
    }
}

fn time_fio<P: Policy>(mut machine: Machine<P>, stream: &mut FioStream, policy: PolicyKind) {
    const BATCH: usize = 1 << 20;
    let mut seconds = 0.0;
    let mut accesses = Vec::with_capacity(2 * BATCH);
    loop {
        accesses.clear();
        while accesses.len() < BATCH && stream.next_batch(&mut accesses) > 0 {}
        if accesses.is_empty() {
            break;
        }
        let start = processor_time();
        machine.run(&accesses).expect("a memcg that can be reclaimed from");
        seconds += processor_time() - start;
    }
    let done = machine.kernel.core.accesses as f64;
    let misses = machine.kernel.events().get(Event::PageAllocate) as f64;
    println!(
        "fio-zipf-0.5 {policy}: {:.0} M accesses in {seconds:.1} s, {:.1} M/s  miss {:.4}",
        done / 1e6,
        done / seconds / 1e6,
        misses / done
    );
}

fn mark_only(pages: &[u32]) -> f64 {
    let mut state = vec![0u8; PAGES as usize];
    let start = processor_time();
    for page in pages {
        state[*page as usize] |= 2;
    }
    black_box(&state);
    processor_time() - start
}

fn print_row(row: &Row, seconds: f64, outcome: &Outcome) {
    let accesses = outcome.accesses() as f64;
    let misses = outcome.event(Event::PageAllocate) as f64;
    let footprint = outcome.footprint;
    let state = footprint.folio_bytes + footprint.state_bytes * footprint.resident_pages / u64::from(PAGES);
    println!(
        "{:26} {:7.1} M/s  miss {:.4}  {:6.1} ns/miss  scans/miss {:.2}  {:5.1} B/resident page  (+{:.0} B/page id)",
        row.name,
        accesses / seconds / 1e6,
        misses / accesses,
        seconds * 1e9 / misses,
        outcome.event(Event::ScanFolio) as f64 / misses,
        state as f64 / footprint.resident_pages as f64,
        (footprint.slot_bytes + footprint.state_bytes) as f64 / f64::from(PAGES),
    );
    if std::env::var_os("EVENTS").is_some() {
        let all = outcome.phases.iter().flat_map(|p| p.events.iter()).filter(|(_, n)| *n > 0);
        let per_miss: Vec<String> =
            all.map(|(e, n)| format!("{} {:.3}", e.name(), n as f64 / misses)).collect();
        println!("  per miss: {}", per_miss.join(", "));
    }
    if let Some(error) = &outcome.out_of_memory {
        println!("  ended early: {error}");
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| !a.starts_with("--"));
    let millions: f64 = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(20.0);
    let wanted: Vec<String> = arguments.collect();
    let fio = wanted.is_empty() || wanted.iter().any(|w| w.contains("fio"));
    for policy in [PolicyKind::Mglru, PolicyKind::Classic].into_iter().filter(|_| fio) {
        run_fio(policy, (millions * 1e7) as u64);
    }
    let pages = zipf_pages((millions * 1e6) as usize, 1);
    println!("bare marking of bytes: {:.0} M/s", pages.len() as f64 / mark_only(&pages) / 1e6);
    for row in rows() {
        if !wanted.is_empty() && !wanted.iter().any(|w| row.name.contains(w.as_str())) {
            continue;
        }
        let accesses = accesses(&pages, row.kind, 2);
        let mut best: Option<(f64, Outcome)> = None;
        for _ in 0..ROUNDS {
            let (seconds, outcome) = run(&row, &accesses);
            if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
                best = Some((seconds, outcome));
            }
        }
        let (seconds, outcome) = best.expect("at least one round");
        print_row(&row, seconds, &outcome);
    }
}
