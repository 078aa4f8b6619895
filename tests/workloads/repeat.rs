//! Six trials of each workload, for the noise of a host and the cost of a trial: prints, judges nothing.

use std::time::Instant;

use run_bench::config::workload::AccessOrder;
use run_bench::config::workload::Driver;
use run_bench::config::workload::FileReadWorkload;
use run_bench::config::workload::FioWorkload;
use run_bench::config::workload::NetperfTest;
use run_bench::config::workload::NetperfWorkload;
use run_bench::config::workload::ScaleCase;
use run_bench::config::workload::ScaleMode;
use run_bench::config::workload::TaskCount;
use run_bench::config::workload::TouchDistribution;
use run_bench::config::workload::UsememWorkload;
use run_bench::config::workload::WillItScaleWorkload;
use run_bench::units::Bytes;
use run_bench::units::Nanos;
use run_bench::units::Percent;
use run_bench::workload::Outcome;
use run_bench::workload::WorkloadError;
use run_bench::workload::file_read;
use run_bench::workload::fio;
use run_bench::workload::netperf;
use run_bench::workload::usemem;
use run_bench::workload::will_it_scale;

use crate::site::Site;
use crate::site::value;

const TRIALS: usize = 6;

/// Values of one metric over the trials, and the time outside the measured phase.
struct Series {
    name: String,
    metric: &'static str,
    values: Vec<f64>,
    overhead: Vec<f64>,
    violations: usize,
}

impl Series {
    fn new(name: impl Into<String>, metric: &'static str) -> Self {
        Series { name: name.into(), metric, values: Vec::new(), overhead: Vec::new(), violations: 0 }
    }

    fn add(&mut self, site: &Site, begin: Instant, outcome: Result<Outcome, WorkloadError>) {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                println!("{}: {error}", self.name);
                return;
            }
        };
        let phases = site.marks.phases();
        let measured = phases.iter().rfind(|p| p.name == "measure");
        let measured =
            measured.map_or(0.0, |p| p.end.unwrap_or(p.start).saturating_sub(p.start).as_seconds());
        self.overhead.push(begin.elapsed().as_secs_f64() - measured);
        self.values.push(value(&outcome, self.metric));
        self.violations += outcome.violations.len();
    }

    fn print(&self) {
        let n = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        let variance = self.values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let overhead = self.overhead.iter().sum::<f64>() / n;
        println!(
            "{:<40} {:<32} n {n} mean {mean:.6e} cv {:.2}% overhead {overhead:.2} s violations {}",
            self.name,
            self.metric,
            100.0 * variance.sqrt() / mean,
            self.violations
        );
    }
}

fn seconds(n: u64) -> Nanos {
    Nanos::from_seconds(n)
}

#[tokio::test]
#[ignore = "takes minutes: six trials of each workload on the host as it is"]
async fn six_trials_of_each_workload() {
    for driver in [Driver::Tool, Driver::Builtin] {
        for case in [ScaleCase::Pread1, ScaleCase::Pread2, ScaleCase::PageFault1, ScaleCase::Malloc1] {
            let mut series = Series::new(
                format!("will-it-scale {} {driver:?}", case.name()),
                "will_it_scale.per_process_ops",
            );
            for _ in 0..TRIALS {
                let site = Site::new();
                let config = WillItScaleWorkload {
                    case,
                    mode: ScaleMode::Process,
                    tasks: TaskCount::SharePercent(100),
                    duration: seconds(3),
                    warm_up: seconds(1),
                    driver,
                    folder: "/tmp".into(),
                };
                let begin = Instant::now();
                let outcome = will_it_scale::run(&config, &site.context()).await;
                series.add(&site, begin, outcome);
            }
            series.print();
        }
        let mut series = Series::new(format!("netperf TCP_STREAM {driver:?}"), "netperf.bytes_per_sec");
        for _ in 0..TRIALS {
            let site = Site::new();
            let config = NetperfWorkload {
                test: NetperfTest::TcpStream,
                pairs: 1,
                duration: seconds(3),
                message: Some(Bytes::kib(16)),
                driver,
                pin: true,
            };
            let begin = Instant::now();
            let outcome = netperf::run(&config, &site.context()).await;
            series.add(&site, begin, outcome);
        }
        series.print();
    }
    memory_and_files().await;
}

async fn memory_and_files() {
    let mut series = Series::new("usemem sequential", "usemem.bytes_per_sec");
    for _ in 0..TRIALS {
        let site = Site::new();
        let config =
            UsememWorkload { processes: 2, size: Bytes::mib(128), order: AccessOrder::Sequential, passes: 8 };
        let begin = Instant::now();
        let outcome = usemem::run(&config, &site.context()).await;
        series.add(&site, begin, outcome);
    }
    series.print();
    // One place for all trials of a file workload: its files are laid out once.
    let mut reads = Series::new("file-read random", "file_read.ops_per_sec");
    let mut jobs = Series::new("fio io_uring zipf", "fio.read_iops");
    let mut site = Site::new();
    for _ in 0..TRIALS {
        site.marks = run_bench::workload::Marks::new(Instant::now());
        let config = FileReadWorkload {
            tasks: 2,
            size: Bytes::mib(64),
            order: AccessOrder::Random,
            block: Bytes::kib(4),
            duration: seconds(3),
            warm_up: seconds(1),
        };
        let begin = Instant::now();
        let outcome = file_read::run(&config, &site.context()).await;
        reads.add(&site, begin, outcome);
        site.marks = run_bench::workload::Marks::new(Instant::now());
        let config = FioWorkload {
            jobs: 2,
            size: Bytes::mib(60),
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
            ramp: seconds(1),
            runtime: seconds(3),
            file_system: "ext4".to_owned(),
        };
        let begin = Instant::now();
        let outcome = fio::run(&config, &site.context()).await;
        jobs.add(&site, begin, outcome);
    }
    reads.print();
    jobs.print();
}
