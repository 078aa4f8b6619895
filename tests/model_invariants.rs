//! Random streams over policies, versions, sizes and machines: what the model must
//! keep whatever it is given.

use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use run_bench::model::access::Access;
use run_bench::model::access::AccessKind;
use run_bench::model::access::Recorded;
use run_bench::model::access::Region;
use run_bench::model::access::RegionKind;
use run_bench::model::classic::Classic;
use run_bench::model::core::Core;
use run_bench::model::counter::Counter;
use run_bench::model::event::Event;
use run_bench::model::flag::Flag;
use run_bench::model::flag::Flags;
use run_bench::model::machine::Machine;
use run_bench::model::mglru::Mglru;
use run_bench::model::platform::Platform;
use run_bench::model::platform::SwapKind;
use run_bench::model::policy::Policy;
use run_bench::model::simulation::Configuration;
use run_bench::model::simulation::MemcgLimit;
use run_bench::model::simulation::Phase;
use run_bench::model::simulation::Simulation;
use run_bench::model::version::PolicyKind;
use run_bench::model::version::Version;

const PAGES: u32 = 1600;
/// Pages of each region; the five of them lie one after the other.
const REGION: u32 = PAGES / 5;

fn regions(second: bool) -> Vec<Region> {
    let kinds =
        [RegionKind::Anon, RegionKind::File, RegionKind::MappedFile, RegionKind::Shmem, RegionKind::Anon];
    let mut regions: Vec<Region> =
        kinds.into_iter().enumerate().map(|(i, kind)| Region::new(i as u32 * REGION, REGION, kind)).collect();
    regions[2].exec = true;
    regions[4].with_recency = false;
    regions[4].memcg = u16::from(second);
    regions
}

/// A stream as runs: a start, a stride, a length and a kind.
fn accesses() -> impl Strategy<Value = Vec<Access>> {
    let kind = prop_oneof![
        4 => proptest::strategy::Just(AccessKind::MapRead),
        4 => proptest::strategy::Just(AccessKind::MapWrite),
        4 => proptest::strategy::Just(AccessKind::FileRead),
        2 => proptest::strategy::Just(AccessKind::FileWrite),
        1 => proptest::strategy::Just(AccessKind::FileReadAgain),
        1 => proptest::strategy::Just(AccessKind::Free),
    ];
    let run = (0..PAGES, 1u32..40, 1u32..200, 1u32..4, kind);
    proptest::collection::vec(run, 1..24).prop_map(|runs| {
        let mut out = Vec::new();
        for (start, stride, length, repeat, kind) in runs {
            for i in 0..length {
                let page = (start + i * stride) % PAGES;
                out.extend((0..repeat).map(|_| Access::new(page, fitting(page, kind))));
            }
        }
        out
    })
}

/// The kind of access that a page's region allows.
fn fitting(page: u32, kind: AccessKind) -> AccessKind {
    match (page / REGION, kind) {
        (0 | 4, AccessKind::FileRead | AccessKind::FileReadAgain) => AccessKind::MapRead,
        (0 | 4, AccessKind::FileWrite) => AccessKind::MapWrite,
        (1, AccessKind::MapRead) => AccessKind::FileRead,
        (1, AccessKind::MapWrite) => AccessKind::FileWrite,
        _ => kind,
    }
}

fn configuration() -> impl Strategy<Value = Configuration> {
    let version = proptest::sample::select(Version::ALL.to_vec());
    let policy = proptest::sample::select(vec![PolicyKind::Classic, PolicyKind::Mglru]);
    let swappiness = proptest::sample::select(vec![0u32, 1, 60, 100, 200]);
    let swap = proptest::sample::select(vec![0u64, 40, 500, 4000]);
    let switches = (any::<[bool; 5]>(), any::<u32>(), any::<bool>());
    (version, policy, (200u64..1200, 100u64..400), swappiness, swap, switches).prop_map(
        |(version, policy, (limit, second), swappiness, swap_pages, (on, flags, two))| {
            let base = if on[0] { Platform::X86 } else { Platform::UML };
            let platform = Platform {
                low_zone_pages: on[1].then_some(300),
                hist_gens: if on[2] { 4 } else { 1 },
                swap: if on[3] { SwapKind::Asynchronous } else { SwapKind::Synchronous },
                stats_flush: on[4].then_some(300),
                ..base
            };
            let memcg = |pages| MemcgLimit { swappiness, ..MemcgLimit::pages(pages) };
            let mut memcgs = vec![memcg(limit)];
            if two {
                memcgs.push(memcg(second));
            }
            let known = [
                Flag::BatchedCounters,
                Flag::BulkMove,
                Flag::NextFolioPrefetch,
                Flag::AgingFeedback,
                Flag::TypeSelection,
                Flag::RefaultDetection,
                Flag::WorkingsetProtectionPosted,
                Flag::WorkingsetProtectionMerged,
                Flag::TestBeforeSet,
            ];
            let chosen = known.iter().enumerate().filter(|(i, _)| flags >> i & 3 == 3);
            let flags: Flags = chosen.map(|(_, f)| *f).collect();
            Configuration { version, policy, flags, platform, memcgs, swap_pages, sample_every: Some(500) }
        },
    )
}

fn run_checked<P: Policy>(configuration: &Configuration, accesses: &[Access], every: usize) -> Machine<P> {
    let regions = regions(configuration.memcgs.len() > 1);
    let mut machine = Machine::<P>::new(Simulation::new(configuration.clone()).core(&regions));
    for part in accesses.chunks(every) {
        let result = machine.run(part);
        machine.kernel.check();
        if result.is_err() {
            break;
        }
    }
    machine
}

fn case(configuration: &Configuration, accesses: &[Access]) {
    match configuration.policy {
        PolicyKind::Classic => drop(run_checked::<Classic>(configuration, accesses, 97)),
        PolicyKind::Mglru => drop(run_checked::<Mglru>(configuration, accesses, 97)),
    }
}

#[test]
fn a_page_that_cannot_come_in_keeps_its_swap_slot() {
    let mut regions = [Region::new(0, 100, RegionKind::Anon), Region::new(100, 100, RegionKind::Anon)];
    regions[1].locked = true;
    for policy in [PolicyKind::Classic, PolicyKind::Mglru] {
        let configuration = Configuration::new(policy, 100);
        let core = Simulation::new(configuration).core(&regions);
        // Locked pages push all others out to swap, and then fill the memcg.
        let filling: Vec<Access> = (0..200).map(|page| Access::new(page, AccessKind::MapWrite)).collect();
        let swap_in = [Access::new(7, AccessKind::MapRead)];
        let used = match policy {
            PolicyKind::Classic => swapped::<Classic>(core, &filling, &swap_in),
            PolicyKind::Mglru => swapped::<Mglru>(core, &filling, &swap_in),
        };
        assert_eq!(used, 100, "{policy}");
    }
}

fn swapped<P: Policy>(core: Core, filling: &[Access], swap_in: &[Access]) -> u64 {
    let mut machine = Machine::<P>::new(core);
    machine.run(filling).expect("swap has room");
    machine.run(swap_in).expect_err("nothing can be reclaimed");
    machine.kernel.check();
    machine.kernel.core.swap.used()
}

/// `PROPTEST_CASES` sets how many; some hundred where it is not set.
fn cases() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 500;
    }
    config
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn state_stays_consistent(configuration in configuration(), accesses in accesses()) {
        case(&configuration, &accesses);
    }

    #[test]
    fn the_same_input_gives_the_same_outcome(configuration in configuration(), accesses in accesses()) {
        let regions = regions(configuration.memcgs.len() > 1);
        let simulation = Simulation::new(configuration);
        let run = || {
            let mut stream = Recorded::new(regions.clone(), accesses.clone());
            simulation.run(&mut stream, &[Phase::of("first", 700), Phase::whole()])
        };
        let (one, two) = (run(), run());
        prop_assert_eq!(&one, &two);
        for column in ["pgscan", "pgsteal", "pgfault", "pgrefill"] {
            let values = one.series.column(column).expect("a column");
            prop_assert!(values.windows(2).all(|w| w[0].1 <= w[1].1), "{} falls", column);
        }
    }

    #[test]
    fn counters_and_events_agree(configuration in configuration(), accesses in accesses()) {
        let regions = regions(configuration.memcgs.len() > 1);
        let mut stream = Recorded::new(regions, accesses.clone());
        let outcome = Simulation::new(configuration).run(&mut stream, &[Phase::whole()]);
        let phase = &outcome.phases[0];
        let sum = |f: fn(&run_bench::model::counter::Counters) -> u64| phase.memcgs.iter().map(f).sum::<u64>();
        let (scanned, stolen) = (sum(|c| c.pgscan()), sum(|c| c.pgsteal()));
        prop_assert!(stolen <= scanned);
        prop_assert_eq!(phase.events.get(Event::ShadowStore), stolen);
        prop_assert_eq!(phase.events.get(Event::FreeBatch), stolen);
        prop_assert_eq!(
            phase.vmstat.get(Counter::PgScanAnon) + phase.vmstat.get(Counter::PgScanFile),
            scanned
        );
        prop_assert_eq!(phase.vmstat.get(Counter::PgAlloc), phase.events.get(Event::PageAllocate));
        if outcome.out_of_memory.is_none() {
            prop_assert_eq!(outcome.accesses(), accesses.len() as u64);
            prop_assert_eq!(phase.events.row(1), accesses.len() as u64);
        }
    }
}
