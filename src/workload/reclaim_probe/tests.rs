use super::vmstat::Counts;
use super::*;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::units::Percent;

const VMSTAT: &str =
    "pgscan_direct 7\npgscan_anon 100\npgscan_file 20\npgsteal_anon 60\npgsteal_file 5\nlast 1\n";

fn config() -> ReclaimProbeWorkload {
    ReclaimProbeWorkload {
        population: Population::DirtyAnon,
        size: Bytes::mib(64),
        reclaim: Bytes::mib(16),
        order: ListOrder::Shuffled,
        referenced: Percent(10.0),
        repetitions: 3,
    }
}

fn repetition(nanos: u64, stolen: u64, dropped: u64) -> Repetition {
    Repetition {
        nanos: Nanos(nanos),
        processor: Nanos(nanos / 2),
        scanned: 2 * stolen,
        stolen,
        usage_before: 80 << 20,
        usage_after: (80 << 20) - dropped * PAGE_SIZE,
        fell_short: false,
    }
}

fn answer(repetitions: Vec<Repetition>) -> Answer {
    Answer { repetitions, adjacent_share: Some(0.01), cpus: 2 }
}

#[test]
fn pages_are_the_sums_of_both_types() {
    assert_eq!(Counts::parse(VMSTAT), Ok(Counts { scanned: 120, stolen: 65 }));
    assert_eq!(Counts::parse(&VMSTAT.replace("pgsteal_file 5\n", "")), Err("pgsteal_file"));
    let later = Counts { scanned: 130, stolen: 66 };
    assert_eq!(later.since(Counts { scanned: 120, stolen: 65 }), Counts { scanned: 10, stolen: 1 });
}

#[test]
fn the_median_decides() {
    let repetitions = vec![
        repetition(4096 * 300, 4096, 4096),
        repetition(4096 * 200, 4096, 4100),
        repetition(4096 * 900, 4096, 4000),
    ];
    let outcome = summarise(&config(), &answer(repetitions), BTreeMap::new()).unwrap();
    let values: Vec<f64> = outcome.measurements.iter().map(|m| m.value).collect();
    assert_eq!(values, [300.0, 200.0, 150.0, 150.0, 0.5]);
    assert_eq!(outcome.violations, []);
    assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
}

#[test]
fn foreign_reclaim_and_short_reclaim_are_violations() {
    let rules = |repetitions| -> Vec<String> {
        violations(&config(), &answer(repetitions)).into_iter().map(|v| v.rule).collect()
    };
    // 4096 stolen on the host, 3000 by this cgroup: tolerance is 81 + 192.
    assert_eq!(rules(vec![repetition(1, 4096, 3000)]), ["reclaim_probe.foreign_reclaim"]);
    assert_eq!(rules(vec![repetition(1, 4096, 3900)]), Vec::<String>::new());
    assert_eq!(rules(vec![repetition(1, 2000, 2000)]), ["reclaim_probe.fell_short"]);
    assert!(summarise(&config(), &answer(vec![repetition(1, 0, 0)]), BTreeMap::new()).is_err());
}

#[test]
fn the_controller_is_known_by_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, files: &[&str]| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        files.iter().for_each(|f| std::fs::write(path.join(f), "0").unwrap());
        path
    };
    let unified = make("unified", &["cgroup.procs"]);
    let v1 = make("v1", &["memory.limit_in_bytes", "memory.usage_in_bytes"]);
    let old = make("old", &["memory.max"]);
    let new = make("new", &["memory.max", "memory.reclaim"]);
    let method = |folders: &[&std::path::PathBuf]| {
        controller::find(&folders.iter().map(|p| (*p).clone()).collect::<Vec<_>>()).map(|(_, m)| m.name())
    };
    assert_eq!(method(&[&unified, &v1]), Some("memory.limit_in_bytes"));
    assert_eq!(method(&[&old]), Some("memory.max"));
    assert_eq!(method(&[&new]), Some("memory.reclaim"));
    assert_eq!(method(&[&unified]), None);
}

#[test]
fn the_low_decile_is_a_value_that_was_measured() {
    let repetitions = |n: u32| (1..=n).rev().map(f64::from).collect::<Vec<_>>();
    assert_eq!(low_decile(repetitions(1)), 1.0);
    assert_eq!(low_decile(repetitions(10)), 1.0);
    assert_eq!(low_decile(repetitions(15)), 2.0);
    assert_eq!(low_decile(repetitions(100)), 10.0);
}
