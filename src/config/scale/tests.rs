use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::config::load::parse;
use crate::config::memcg::Limit;

const GIB: u64 = 1 << 30;

fn machine(cpus: u32, gib: u64) -> Machine {
    Machine { cpus, memory_available: Bytes::gib(gib), disk_available: None }
}

fn memtier() -> Experiment {
    let text = r#"
        schema = 1
        title = "t"
        [memcg]
        limit = "4GiB"
        [swap]
        kind = "brd"
        size = "16GiB"
        [workload.memcached]
        memory = "16GiB"
        threads = 16
        allow-evictions = true
        [workload.memcached.load]
        keys = 16_000_000
        value = "1KiB"
        clients = 2
        threads = 16
        repeat = 6
        [[arm]]
        name = "a"
        [[arm]]
        name = "b"
        memcg = { limit = "5GiB" }
        [analysis]
        primary = "memcached.ops_per_sec"
    "#;
    parse(Path::new("memtier.toml"), text).unwrap()
}

fn fio() -> Experiment {
    let text = r#"
        schema = 1
        title = "t"
        [memcg]
        limit = "4GiB"
        [workload.fio]
        jobs = 16
        size = "960MiB"
        rw = "randread"
        distribution = "zipf:0.5"
        ramp = "60s"
        runtime = "300s"
        [[arm]]
        name = "a"
        [[arm]]
        name = "b"
        [analysis]
        primary = "fio.read_iops"
    "#;
    parse(Path::new("fio.toml"), text).unwrap()
}

fn scaled(experiment: Experiment, text: &str, machine: Machine) -> (Experiment, Vec<String>) {
    let request = ScaleRequest { scale: Some(text.parse().unwrap()), quick: false };
    apply(experiment, &request, &machine).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn limit(experiment: &Experiment) -> u64 {
    match experiment.memcg.as_ref().unwrap().limit {
        Limit::Bytes(bytes) => bytes.0,
        Limit::Max => panic!("no limit"),
    }
}

#[test]
fn without_a_request_nothing_changes() {
    let (same, changes) = apply(memtier(), &ScaleRequest::default(), &machine(1, 1)).unwrap();
    assert_eq!((same, changes), (memtier(), Vec::new()));
}

#[test]
fn everything_of_memtier_shrinks_together() {
    let (small, changes) = scaled(memtier(), "1/64", machine(2, 8));
    let memcached = small.workload.memcached.as_ref().unwrap();
    assert_eq!((limit(&small), memcached.memory), (64 << 20, Bytes::mib(256)));
    assert_eq!(small.swap.as_ref().unwrap().size, Bytes::mib(256));
    assert_eq!((memcached.threads, memcached.load.threads, memcached.load.clients), (2, 2, 2));
    assert_eq!(small.arms[1].memcg.as_ref().unwrap().limit, Some(Limit::Bytes(Bytes::mib(80))));
    // Six digits instead of eight leave the slab class as it is.
    assert_eq!(memcached.load.keys, 250_000);
    assert!(changes.iter().any(|c| c == "memcg.limit: 4GiB became 64MiB"), "{changes:#?}");
    assert!(
        changes.iter().any(|c| c.starts_with("kept: memcached: bytes touched to memcg.limit")),
        "{changes:#?}"
    );
}

#[test]
fn fio_keeps_what_it_touches_and_not_its_file_size() {
    let before = footprint_of(&fio());
    let (small, _) = scaled(fio(), "1/16", machine(2, 8));
    let job = small.workload.fio.as_ref().unwrap();
    assert_eq!((job.jobs, limit(&small)), (2, 4 * GIB / 16));
    let (was, is) = (before / (4 * GIB) as f64, footprint_of(&small) / limit(&small) as f64);
    assert!((is / was - 1.0).abs() < 0.005, "{was} {is}");
    // The plain sixteenth is 480 MiB a job, of which another share is touched.
    assert_ne!(job.size, Bytes::mib(480));
    // An eighth is two files of the size as written.
    let (eighth, _) = scaled(fio(), "1/8", machine(2, 8));
    assert_eq!(eighth.workload.fio.unwrap().size, Bytes::mib(960));
}

fn footprint_of(experiment: &Experiment) -> f64 {
    crate::config::footprint::fio(experiment.workload.fio.as_ref().unwrap()).0 as f64
}

#[test]
fn auto_keeps_the_work_of_a_processor_and_fits_the_memory() {
    let (small, changes) = scaled(memtier(), "auto", machine(2, 16));
    assert_eq!(limit(&small), 4 * GIB / 8, "{changes:#?}");
    let (smaller, _) = scaled(memtier(), "auto", machine(2, 2));
    assert_eq!(limit(&smaller), 4 * GIB / 16);
    let (whole, changes) = scaled(memtier(), "auto", machine(48, 64));
    assert_eq!((whole, changes), (memtier(), Vec::new()));
}

#[test]
fn a_scale_that_cannot_keep_the_ratio_is_refused_with_it() {
    let request = |text: &str| ScaleRequest { scale: Some(text.parse().unwrap()), quick: false };
    let refused = |experiment, text: &str| apply(experiment, &request(text), &machine(2, 16)).unwrap_err();
    let problems = refused(memtier(), "1/1024");
    assert!(problems.iter().any(|p| p.message.contains("does not shrink")), "{problems:?}");
    assert!(!refused(memtier(), "1/65537").is_empty());
    assert!(apply(memtier(), &request("auto"), &machine(1, 0)).is_err());
    for bad in ["2", "1/0", "1/-3", "64", "0.5", "1/x", ""] {
        assert!(bad.parse::<ScaleFactor>().is_err(), "{bad}");
    }
}

#[test]
fn a_command_is_not_scaled_with_its_limit() {
    let mut experiment = memtier();
    experiment.workload.memcached = None;
    let text = "schema = 1\ntitle = \"t\"\n[memcg]\nlimit = \"1GiB\"\n[workload.command]\nargv = [\"make\"]\n\
                deadline = \"1h\"\n[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n[analysis]\n\
                primary = \"command.wall_time\"\n";
    let command = parse(Path::new("command.toml"), text).unwrap();
    let request = |text: &str| ScaleRequest { scale: Some(text.parse().unwrap()), quick: false };
    let problems = apply(command.clone(), &request("1/2"), &machine(2, 16)).unwrap_err();
    assert!(problems[0].message.contains("without --scale"), "{problems:?}");
    assert_eq!(apply(command.clone(), &request("auto"), &machine(2, 16)).unwrap().0, command);
}

#[test]
fn quick_caps_times_and_leaves_memory() {
    let request = ScaleRequest { scale: None, quick: true };
    let (quick, changes) = apply(fio(), &request, &machine(16, 64)).unwrap();
    assert_eq!(
        changes,
        ["workload.fio.ramp: 1min 00s became 2.0s", "workload.fio.runtime: 5min 00s became 10.0s"]
    );
    assert_eq!(quick.workload.fio.unwrap().size, Bytes::mib(960));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_scale_keeps_the_ratios_or_is_refused(divisor in 1u64..400, cpus in 1u32..33) {
        for experiment in [memtier(), fio()] {
            let request = ScaleRequest { scale: Some(ScaleFactor::OneOver(divisor)), quick: false };
            let Ok((small, _)) = apply(experiment.clone(), &request, &machine(cpus, 64)) else { continue };
            for (a, b) in experiment.workload.all().iter().zip(small.workload.all().iter()) {
                let touched = |w| crate::config::footprint::touched(w).unwrap().0 as f64;
                let (was, is) = (touched(a) / limit(&experiment) as f64, touched(b) / limit(&small) as f64);
                prop_assert!((is / was - 1.0).abs() <= 0.01, "1/{}: {} {}", divisor, was, is);
            }
        }
    }
}

/// Its files would be walked for minutes where no size comes close.
#[test]
fn many_jobs_on_few_processors_are_scaled_in_bounded_work() {
    let mut many = fio();
    many.workload.fio.as_mut().unwrap().jobs = 255;
    let request = ScaleRequest { scale: Some(ScaleFactor::Auto), quick: true };
    if let Ok((scaled, changes)) = apply(many, &request, &machine(2, 12)) {
        assert!(scaled.workload.fio.unwrap().jobs <= 2 && !changes.is_empty());
    }
}
