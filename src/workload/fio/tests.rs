use proptest::prelude::*;

use super::*;
use crate::units::Bytes;
use crate::units::Percent;
use crate::workload::captures;

const GROUP: &str = include_str!("../../../tests/fixtures/fio/group.json");
const VERSION2: &str = include_str!("../../../tests/fixtures/fio/version2.json");
const REFUSED: &str = include_str!("../../../tests/fixtures/fio/refused.json");

fn seed_job() -> FioWorkload {
    FioWorkload {
        jobs: 4,
        size: Bytes::mib(64),
        engine: "io_uring".to_owned(),
        depth: 128,
        batch_submit: 32,
        batch_complete: 32,
        rw: "randread".to_owned(),
        read_share: Percent(50.0),
        distribution: TouchDistribution::Zipf(0.5),
        block: Bytes::kib(4),
        direct: false,
        norandommap: true,
        ramp: Nanos::from_seconds(1),
        runtime: Nanos::from_seconds(4),
        file_system: "ext4".to_owned(),
    }
}

#[test]
fn a_group_is_read_by_its_sums() {
    let output = parse(GROUP).unwrap();
    assert_eq!((output.version.as_str(), output.write, output.job_runtime_ms), ("3.36", None, Some(16_000)));
    let read = output.read.unwrap();
    assert_eq!((read.iops, read.bytes_per_second, read.operations), (100_403.0, 411_250_688.0, 401_612));
    let latency = read.latency.unwrap();
    assert_eq!((latency.mean_ns, latency.p99_ns), (39_750.25, Some(105_984.0)));
    assert_eq!(violations(&seed_job(), &output, Ended::Exited(0), Nanos::from_seconds(6)), []);
}

#[test]
fn version_two_counts_in_microseconds_and_kibibytes() {
    let read = parse(VERSION2).unwrap().read.unwrap();
    assert_eq!((read.iops, read.operations), (30_000.0, 300_000));
    assert_eq!(read.bytes_per_second, 120_000.0 * 1024.0);
    // It does not say how many samples there are, so both groups weigh the same.
    let latency = read.latency.unwrap();
    assert_eq!((latency.mean_ns, latency.p99_ns), (45_500.0, None));
    let odd = VERSION2.replace("\"clat\"", "\"clat_ms\"");
    assert_eq!(parse(&odd), Err(FioParseError::Unit("clat_ms".to_owned())));
}

#[test]
fn text_before_the_document_is_kept_and_the_last_document_counts() {
    let warned =
        format!("fio: this platform does not support CPU masks\nfio: pid=1, err=5/file:x.c:1\n{GROUP}");
    let output = parse(&warned).unwrap();
    assert_eq!(output.prefix.len(), 2);
    assert_eq!(output.read, parse(GROUP).unwrap().read);
    let progress = format!("Jobs: 1 (f=1): [r(1)][50.0%]{GROUP}");
    assert_eq!(parse(&progress).unwrap().prefix, ["Jobs: 1 (f=1): [r(1)][50.0%]"]);
    let earlier = GROUP.replace("401612", "100000");
    assert_eq!(parse(&format!("{earlier}{GROUP}")).unwrap().read.unwrap().operations, 401_612);
    assert_eq!(parse(&format!("{GROUP}{}", &earlier[..earlier.len() / 2])), Err(FioParseError::Truncated));
}

#[test]
fn what_is_no_result_is_a_named_error() {
    assert_eq!(parse(""), Err(FioParseError::NoDocument(String::new())));
    assert!(matches!(parse("fio: file:options.c:1457\n"), Err(FioParseError::NoDocument(_))));
    assert_eq!(parse(&GROUP[..300]), Err(FioParseError::Truncated));
    assert_eq!(parse("{\"jobs\":[]}"), Err(FioParseError::Missing("fio version")));
    let text = GROUP.replace("\"iops\": 100403.0", "\"iops\": \"fast\"");
    assert_eq!(parse(&text), Err(FioParseError::Kind("iops")));
}

#[test]
fn non_finite_numbers_are_missing_and_never_zero() {
    let text =
        GROUP.replace("\"mean\": 39750.25", "\"mean\": -nan").replace("\"stddev\": 1.5", "\"stddev\": inf");
    let read = parse(&text).unwrap().read.unwrap();
    assert_eq!((read.iops, read.latency), (100_403.0, None));
    let text = GROUP.replace("\"iops\": 100403.0", "\"iops\": nan");
    assert_eq!(parse(&text), Err(FioParseError::Missing("iops")));
}

#[test]
fn broken_rules_are_named_with_evidence() {
    let config = seed_job();
    let rules = |output: &FioOutput, ended, wall| -> Vec<String> {
        violations(&config, output, ended, Nanos::from_seconds(wall)).into_iter().map(|v| v.rule).collect()
    };
    let refused = parse(REFUSED).unwrap();
    assert_eq!(rules(&refused, Ended::Exited(1), 6), ["fio.exit", "fio.io_error", "fio.no_operations"]);
    let mut output = parse(GROUP).unwrap();
    output.job_runtime_ms = Some(8_000);
    assert_eq!(rules(&output, Ended::Exited(0), 4), ["fio.jobs", "fio.wall_time"]);
    let read = output.read.as_mut().unwrap();
    (read.runtime_ms, read.short) = (3_000, 2);
    output.job_runtime_ms = None;
    assert_eq!(rules(&output, Ended::Exited(0), 6), ["fio.runtime", "fio.short_ios"]);
}

#[test]
fn a_refused_ring_names_its_cause() {
    let refused = parse(REFUSED).unwrap();
    let cause = |sysctl| refusal::cause(Some(&refused), "", sysctl).unwrap();
    assert!(cause(Some("2")).contains("io_uring_disabled is 2"));
    assert!(cause(Some("1")).contains("privileged"));
    assert!(cause(Some("0")).contains("seccomp"));
    let mut absent = refused.clone();
    absent.errors = vec![38];
    assert!(refusal::cause(Some(&absent), "", None).unwrap().contains("ENOSYS"));
    absent.errors = vec![5];
    assert_eq!(refusal::cause(Some(&absent), "", None), None);
    assert_eq!(refusal::cause(Some(&parse(GROUP).unwrap()), "", Some("2")), None);
    assert!(refusal::cause(None, "fio: engine io_uring not loadable", None).unwrap().contains("no engine"));
}

#[test]
fn the_job_file_says_all_that_was_asked() {
    insta::assert_snapshot!(job::text(&seed_job(), Path::new("/data"), 7), @r"
    [run-bench]
    directory=/data
    filename_format=run-bench.$jobnum
    numjobs=4
    size=67108864
    bs=4096
    ioengine=io_uring
    iodepth=128
    iodepth_batch_submit=32
    iodepth_batch_complete_min=32
    rw=randread
    direct=0
    randseed=7
    time_based=1
    ramp_time=1000ms
    runtime=4000ms
    group_reporting=1
    norandommap=1
    random_distribution=zipf:0.5
    ");
}

#[test]
fn the_touched_share_is_that_of_the_generator() {
    // The published job: 960 MiB files, 77% of the blocks can be drawn at all.
    let config = FioWorkload { size: Bytes::mib(960), jobs: 16, ..seed_job() };
    let share = touched(&config, 600_000_000).unwrap();
    assert!((share - 0.770).abs() < 0.001, "{share}");
    let uniform = FioWorkload { distribution: TouchDistribution::Random, ..seed_job() };
    // As many draws as blocks (ramp and run are 5/4 of the run): 1 - 1/e.
    let share = touched(&uniform, 4 * 16_384 * 4 / 5).unwrap();
    assert!((share - 0.632).abs() < 0.001, "{share}");
    assert_eq!(touched(&FioWorkload { rw: "read".to_owned(), ..seed_job() }, 1000), None);
}

#[test]
fn captures_of_the_real_tool_are_read() {
    for (name, text) in captures::of("fio") {
        let parsed = parse(&text);
        if name.ends_with(".json") || name == "fio-odirect-tmpfs.stdout" || name.contains("status") {
            let output = parsed.unwrap_or_else(|error| panic!("{name}: {error}"));
            let read = output.read.unwrap();
            assert!(read.iops > 0.0 && output.version == "3.33", "{name}");
            if name == "fio-3.33-zipf.json" {
                assert_eq!((read.iops, read.operations), (1_297_746.084638, 3_894_536));
                assert_eq!(read.latency.unwrap().p99_ns, Some(115_200.0));
            }
        } else {
            assert!(matches!(parsed, Err(FioParseError::NoDocument(_))), "{name}: {parsed:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_around_a_document_leaves_its_numbers(before in "[^{]{0,80}", iops in 1u32..4_000_000_000) {
        prop_assume!(!before.contains('"'));
        let document = GROUP.replace("\"iops\": 100403.0", &format!("\"iops\": {iops}.5"));
        let output = parse(&format!("{before}\n{document}\n")).unwrap();
        prop_assert_eq!(output.read.unwrap().iops, f64::from(iops) + 0.5);
    }
}
