//! fio and commands.

use run_bench::config::workload::CommandMetric;
use run_bench::config::workload::CommandWorkload;
use run_bench::config::workload::FioWorkload;
use run_bench::config::workload::Source;
use run_bench::config::workload::TouchDistribution;
use run_bench::exec::ToolName;
use run_bench::exec::Tools;
use run_bench::metric::Direction;
use run_bench::metric::Kind;
use run_bench::metric::MetricDefinition;
use run_bench::metric::MetricId;
use run_bench::metric::Unit;
use run_bench::units::Bytes;
use run_bench::units::Nanos;
use run_bench::units::Percent;
use run_bench::workload::WorkloadError;
use run_bench::workload::command;
use run_bench::workload::fio;

use crate::site::Site;
use crate::site::show;
use crate::site::value;

fn job(engine: &str) -> FioWorkload {
    FioWorkload {
        jobs: 2,
        size: Bytes::mib(2),
        engine: engine.to_owned(),
        depth: 8,
        batch_submit: 4,
        batch_complete: 4,
        rw: "randread".to_owned(),
        read_share: Percent(50.0),
        distribution: TouchDistribution::Zipf(0.5),
        block: Bytes::kib(4),
        direct: false,
        norandommap: true,
        ramp: Nanos::from_millis(200),
        runtime: Nanos::from_millis(600),
        file_system: "ext4".to_owned(),
    }
}

#[tokio::test]
async fn fio_runs_the_job_it_was_given() {
    let site = Site::new();
    if site.tools.find(ToolName::Fio).is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    for (engine, laid_out) in [("psync", "2"), ("io_uring", "0")] {
        let outcome = match fio::run(&job(engine), &site.context()).await {
            Err(WorkloadError::Unsupported { reason }) => {
                println!("unsupported: {reason}");
                continue;
            }
            outcome => outcome.expect("it runs"),
        };
        show(&outcome);
        assert!(value(&outcome, "fio.read_iops") > 0.0 && value(&outcome, "fio.read_latency_p99") > 0.0);
        assert!((0.1..=1.0).contains(&value(&outcome, "fio.touched_share")));
        assert_eq!(outcome.parameters["files_laid_out"], laid_out);
        let rules = outcome.violations.iter().map(|v| v.rule.as_str());
        assert!(rules.into_iter().all(|r| r == "fio.runtime" || r == "fio.jobs"), "{outcome:#?}");
        assert!(outcome.raw.iter().all(|name| site.raw.path().join(name).exists()));
    }
}

#[tokio::test]
async fn a_job_that_fio_refuses_says_why() {
    let site = Site::new();
    if site.tools.find(ToolName::Fio).is_err() {
        return;
    }
    let error = fio::run(&job("no-such-engine"), &site.context()).await.expect_err("refused");
    assert!(error.to_string().contains("no-such-engine"), "{error}");
}

#[tokio::test]
#[ignore = "needs root: writes the sysctl kernel.io_uring_disabled and restores it"]
async fn a_forbidden_ring_is_named_and_not_replaced() {
    const SYSCTL: &str = "/proc/sys/kernel/io_uring_disabled";
    let before = std::fs::read_to_string(SYSCTL).expect("the sysctl");
    let site = Site::new();
    std::fs::write(SYSCTL, "2").expect("root");
    let outcome = fio::run(&job("io_uring"), &site.context()).await;
    std::fs::write(SYSCTL, before).expect("root");
    let error = outcome.expect_err("forbidden");
    assert!(matches!(error, WorkloadError::Unsupported { .. }), "{error:?}");
    assert!(error.to_string().contains("io_uring_disabled is 2"), "{error}");
}

fn script(text: &str, metrics: Vec<CommandMetric>) -> CommandWorkload {
    CommandWorkload {
        argv: ["/bin/sh", "-c", text].map(str::to_owned).to_vec(),
        prepare: Vec::new(),
        working_directory: None,
        deadline: Nanos::from_seconds(20),
        metrics,
    }
}

fn rate(source: Source) -> CommandMetric {
    let definition = MetricDefinition {
        id: MetricId::new("command.rate").expect("an id"),
        unit: Unit::PerSecond,
        direction: Direction::HigherIsBetter,
        kind: Kind::Throughput,
        label: "rate".to_owned(),
    };
    CommandMetric { definition, source, factor: 10.0 }
}

#[tokio::test]
async fn a_command_is_timed_and_its_output_read() {
    let site = Site::new();
    let metrics = vec![rate(Source::Pointer("/rate".to_owned()))];
    let mut config = script("cat made; echo '{\"rate\": 4.5}'", metrics);
    config.prepare = ["touch", "made"].map(str::to_owned).to_vec();
    config.working_directory = Some(site.data.path().to_owned());
    let outcome = command::run(&config, &site.context()).await.expect("it runs");
    show(&outcome);
    assert_eq!((value(&outcome, "command.rate"), outcome.violations.len()), (45.0, 0));
    assert!(value(&outcome, "command.wall_time") > 0.0 && value(&outcome, "command.minor_faults") > 0.0);
    config.metrics = vec![rate(Source::Regex("speed=(?<value>[0-9]+)".to_owned()))];
    let error = command::run(&config, &site.context()).await.expect_err("no such text");
    assert!(matches!(error, WorkloadError::Output { .. }), "{error:?}");
}

#[tokio::test]
async fn a_command_runs_on_the_processors_of_the_server() {
    let mut site = Site::new();
    site.environment.server_cpus = Some("0".parse().expect("a set"));
    let metrics = vec![rate(Source::Regex("(?m)^Cpus_allowed_list:\\s*(?<value>[0-9]+)$".to_owned()))];
    let config = script("grep Cpus_allowed_list /proc/self/status", metrics);
    let outcome = command::run(&config, &site.context()).await.expect("it runs");
    // More than one processor would not be a number.
    assert_eq!(value(&outcome, "command.rate"), 0.0);
}

#[tokio::test]
async fn a_command_that_fails_is_invalid_and_not_slow() {
    let site = Site::new();
    let outcome = command::run(&script("echo broken >&2; exit 3", Vec::new()), &site.context()).await;
    let violation = &outcome.expect("an outcome").violations[0];
    assert_eq!(violation.rule, "command.exit");
    assert!(violation.evidence.contains("broken"), "{violation:?}");
    let mut slow = script("sleep 100", Vec::new());
    slow.deadline = Nanos::from_millis(200);
    let outcome = command::run(&slow, &site.context()).await.expect("an outcome");
    assert_eq!(outcome.violations[0].rule, "command.deadline");
    let mut unprepared = script("true", Vec::new());
    unprepared.prepare = vec!["false".to_owned()];
    let error = command::run(&unprepared, &site.context()).await.expect_err("not prepared");
    assert!(matches!(error, WorkloadError::Died { .. }), "{error:?}");
}

#[tokio::test]
async fn fio_without_the_tool_is_named() {
    let mut site = Site::new();
    site.tools = Tools::in_folders([]);
    let error = fio::run(&job("psync"), &site.context()).await.expect_err("no tool");
    assert!(error.to_string().contains("fio"), "{error}");
}
