use super::lruvec::Mglru;
use super::lruvec::ZONES;
use super::shrink::Quota;
use crate::model::access::Region;
use crate::model::access::RegionKind;
use crate::model::core::Core;
use crate::model::counter::Counter;
use crate::model::flag::Flags;
use crate::model::hit::HitTable;
use crate::model::kernel::Kernel;
use crate::model::memcg::Memcg;
use crate::model::page::YOUNG;
use crate::model::platform::Platform;
use crate::model::policy::Policy;
use crate::model::reclaim::Gfp;
use crate::model::reclaim::MAX_LRU_BATCH;
use crate::model::reclaim::Reclaimer;
use crate::model::reclaim::ScanControl;
use crate::model::rules::Aging;
use crate::model::rules::Rules;
use crate::model::version::PolicyKind;
use crate::model::version::Version;

const FILE: u32 = 0;
const ANON: u32 = 1000;

struct Bench {
    kernel: Kernel<Mglru>,
    table: HitTable,
}

impl Bench {
    fn new(hist_gens: usize) -> Self {
        let rules = Rules::new(Version::K612, Flags::NONE);
        let platform = Platform { hist_gens, ..Platform::UML };
        let regions = [Region::new(FILE, 1000, RegionKind::File), Region::new(ANON, 1000, RegionKind::Anon)];
        let memcgs = vec![Memcg::new(None, 60)];
        let core = Core::new(rules, platform, PolicyKind::Mglru, &regions, memcgs, 100_000);
        let table = HitTable::new(&core.rules, &core.platform, core.policy);
        Bench { kernel: Kernel::new(core), table }
    }

    fn read(&mut self, pages: std::ops::Range<u32>, times: u32) {
        for page in pages {
            for _ in 0..times {
                self.kernel.read(&self.table, FILE + page, true).expect("no limit");
            }
        }
        self.kernel.lru_add_drain();
    }

    fn fault(&mut self, pages: std::ops::Range<u32>) {
        for page in pages {
            self.kernel.fault(ANON + page, true).expect("no limit");
        }
        self.kernel.lru_add_drain();
    }

    /// One `evict_folios` with young bits cleared: its return value and what it freed.
    fn evict(&mut self, swappiness: u32) -> (u64, u64) {
        for state in &mut self.kernel.core.pages.state {
            *state &= !YOUNG;
        }
        let mut scan = ScanControl::new(32, Gfp::USER, Reclaimer::Direct, swappiness);
        let pass = self.kernel.evict_folios(0, swappiness, &mut scan, MAX_LRU_BATCH);
        (pass.progress, scan.nr_reclaimed)
    }

    fn age(&mut self, can_swap: bool) {
        let seq = self.kernel.lruvecs[0].max_seq;
        assert!(self.kernel.lruvecs[0].inc_max_seq(&mut self.kernel.core, seq, can_swap));
    }

    /// `max_seq | file gens | anon gens | act f/a inact f/a | scan refill refault activate restore`.
    fn state(&self) -> String {
        let lruvec = &self.kernel.lruvecs[0];
        lruvec.check(&self.kernel.core, 0);
        let gens = |kind: usize| {
            let sizes: Vec<String> = (lruvec.min_seq[kind]..=lruvec.max_seq)
                .map(|seq| format!("{seq}:{}", lruvec.size(seq, kind)))
                .collect();
            sizes.join(" ")
        };
        let sizes = lruvec.sizes();
        let counters = &self.kernel.core.memcgs[0].counters;
        let both = |anon: Counter, file: Counter| counters.get(anon) + counters.get(file);
        format!(
            "{} | {} | {} | {}/{} {}/{} | {} {} {} {} {}",
            lruvec.max_seq,
            gens(1),
            gens(0),
            sizes.active[1],
            sizes.active[0],
            sizes.inactive[1],
            sizes.inactive[0],
            counters.pgscan(),
            counters.get(Counter::PgRefill),
            both(Counter::WorkingsetRefaultAnon, Counter::WorkingsetRefaultFile),
            both(Counter::WorkingsetActivateAnon, Counter::WorkingsetActivateFile),
            both(Counter::WorkingsetRestoreAnon, Counter::WorkingsetRestoreFile),
        )
    }
}

/// The trace of 17 steps, worked out by hand from the rules.
fn trace(hist_gens: usize) {
    let mut b = Bench::new(hist_gens);
    assert_eq!(b.state(), "3 | 0:0 1:0 2:0 3:0 | 0:0 1:0 2:0 3:0 | 0/0 0/0 | 0 0 0 0 0");
    b.read(0..100, 1);
    assert_eq!(b.state(), "3 | 0:0 1:100 2:0 3:0 | 0:0 1:0 2:0 3:0 | 0/0 100/0 | 0 0 0 0 0");
    assert_eq!(b.evict(0), (1, 0));
    assert_eq!(b.state(), "3 | 1:100 2:0 3:0 | 0:0 1:0 2:0 3:0 | 0/0 100/0 | 0 0 0 0 0");
    assert_eq!(b.evict(0), (64, 64));
    assert_eq!(b.state(), "3 | 1:36 2:0 3:0 | 0:0 1:0 2:0 3:0 | 0/0 36/0 | 64 0 0 0 0");
    assert_eq!(b.evict(0), (0, 36));
    assert_eq!(b.state(), "3 | 2:0 3:0 | 0:0 1:0 2:0 3:0 | 0/0 0/0 | 100 0 0 0 0");
    assert_eq!(b.kernel.lruvecs[0].averages(1).1, [32, 0, 0, 0]);
    assert_eq!(b.evict(0), (0, 0));
    b.read(0..1, 1);
    b.read(99..100, 1);
    assert_eq!(b.state(), "3 | 2:2 3:0 | 0:0 1:0 2:0 3:0 | 2/0 0/0 | 100 0 2 1 0");
    b.age(false);
    assert_eq!(b.state(), "4 | 2:2 3:0 4:0 | 1:0 2:0 3:0 4:0 | 0/0 2/0 | 100 0 2 1 0");
    b.read(100..110, 3);
    b.read(110..111, 5);
    assert_eq!(b.state(), "4 | 2:13 3:0 4:0 | 1:0 2:0 3:0 4:0 | 0/0 13/0 | 100 0 2 1 0");
    assert_eq!(b.evict(0), (0, 12));
    assert_eq!(b.state(), "4 | 3:1 4:0 | 1:0 2:0 3:0 4:0 | 1/0 0/0 | 112 1 2 1 0");
    assert_eq!(b.kernel.lruvecs[0].averages(1).1, [34, 0, 0, 0]);
    b.read(100..101, 1);
    assert_eq!(b.state(), "4 | 3:2 4:0 | 1:0 2:0 3:0 4:0 | 2/0 0/0 | 112 1 3 2 0");
    b.fault(0..70);
    assert_eq!(b.state(), "4 | 3:2 4:0 | 1:0 2:0 3:0 4:70 | 2/70 0/0 | 112 1 3 2 0");
    b.age(true);
    assert_eq!(b.state(), "5 | 3:2 4:0 5:0 | 2:0 3:0 4:70 5:0 | 0/70 2/0 | 112 1 3 2 0");
    assert_eq!(b.evict(60), (0, 2));
    assert_eq!(b.state(), "5 | 4:0 5:0 | 4:70 5:0 | 0/70 0/0 | 114 1 3 2 0");
    assert_eq!(b.kernel.lruvecs[0].averages(1).1, [18, 0, 5, 0]);
    b.age(true);
    assert_eq!(b.state(), "6 | 4:0 5:0 6:0 | 4:70 5:0 6:0 | 0/0 0/70 | 114 1 3 2 0");
    assert_eq!(b.evict(60), (64, 64));
    assert_eq!(b.state(), "6 | 4:0 5:0 6:0 | 4:6 5:0 6:0 | 0/0 0/6 | 178 1 3 2 0");
    assert_eq!(b.evict(60), (0, 6));
    assert_eq!(b.state(), "6 | 5:0 6:0 | 5:0 6:0 | 0/0 0/0 | 184 1 3 2 0");
    assert_eq!(b.kernel.lruvecs[0].averages(1).1, [10, 0, 2, 0]);
    assert_eq!(b.kernel.lruvecs[0].averages(0), ([0; 4], [32, 0, 0, 0]));
    b.fault(0..1);
    b.fault(69..70);
    assert_eq!(b.state(), "6 | 5:0 6:0 | 5:0 6:2 | 0/2 0/0 | 184 1 5 3 1");
    assert_eq!(b.kernel.lruvecs[0].averages(1).0, [0; 4]);
}

#[test]
fn trace_by_hand_with_one_and_four_slots_of_statistics() {
    trace(1);
    trace(4);
}

/// Generation sizes of file, oldest first, the youngest being `max_seq`.
fn with_sizes(sizes: &[i64]) -> Kernel<Mglru> {
    let mut kernel = Bench::new(4).kernel;
    let lruvec = &mut kernel.lruvecs[0];
    lruvec.min_seq = [4 - sizes.len() as u64; 2];
    for (i, size) in sizes.iter().enumerate() {
        let seq = lruvec.min_seq[1] + i as u64;
        let mut zones = [0; ZONES];
        zones[0] = *size;
        lruvec.nr_pages[seq as usize % 4][1] = zones;
    }
    kernel
}

#[test]
fn aging_and_quota_by_hand_values() {
    let cases: [(&[i64], bool, u64); 5] = [
        (&[262_144, 262_144, 262_144, 262_144], false, 256),
        (&[300_000, 300_000, 448_576], false, 256),
        (&[262_144, 262_143, 524_289], true, 256),
        (&[262_143, 300_000, 486_433], true, 256),
        (&[262_144, 300_000, 486_432], false, 256),
    ];
    for (sizes, ages, quota) in cases {
        let mut kernel = with_sizes(sizes);
        assert_eq!(kernel.lruvecs[0].should_run_aging(Aging::Shares, true), (ages, 1_048_576), "{sizes:?}");
        assert_eq!(kernel.get_nr_to_scan(0, 12, true), Quota::Scan(quota));
        let below = if ages { Quota::Aged } else { Quota::Scan(512) };
        assert_eq!(kernel.get_nr_to_scan(0, 11, true), below, "{sizes:?}");
        if !ages {
            assert_eq!(kernel.get_nr_to_scan(0, 10, true), Quota::Scan(1024));
        }
    }
    let mut two = with_sizes(&[500_000, 548_576]);
    assert_eq!(two.lruvecs[0].should_run_aging(Aging::Shares, true), (true, 0));
    assert_eq!(two.get_nr_to_scan(0, 12, true), Quota::Scan(0));
}
