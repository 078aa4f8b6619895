//! The memcached workload against the real server, and against tools that misbehave.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use run_bench::config::EnvironmentSection;
use run_bench::config::Role;
use run_bench::config::workload::Driver;
use run_bench::config::workload::LoadSection;
use run_bench::config::workload::MemcachedWorkload;
use run_bench::config::workload::Protocol;
use run_bench::config::workload::Socket;
use run_bench::config::workload::ValueBytes;
use run_bench::exec::ExecError;
use run_bench::exec::ToolName;
use run_bench::exec::Tools;
use run_bench::units::Bytes;
use run_bench::units::Nanos;
use run_bench::workload::Context;
use run_bench::workload::Marks;
use run_bench::workload::Outcome;
use run_bench::workload::WorkloadError;
use run_bench::workload::memcached::run;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn workload() -> MemcachedWorkload {
    MemcachedWorkload {
        memory: Bytes::mib(64),
        threads: 1,
        socket: Socket::Unix,
        max_connections: 64,
        allow_evictions: false,
        load: LoadSection {
            driver: Driver::Builtin,
            protocol: Protocol::Binary,
            keys: 5000,
            key_minimum: 1,
            value: Bytes(1000),
            values: ValueBytes::Constant,
            pattern: "P:P".to_owned(),
            ratio: "1:0".to_owned(),
            zipf_exponent: 1.0,
            clients: 2,
            threads: 2,
            pipeline: 8,
            repeat: 1,
            requests: None,
            duration: None,
            fill: false,
        },
    }
}

/// The folders and the tools of one run.
struct Place {
    folder: TempDir,
    tools: Tools,
    cancel: CancellationToken,
    marks: Marks<'static>,
}

impl Place {
    /// None, said aloud, where memcached is absent.
    fn new() -> Option<Self> {
        let tools = Tools::from_environment();
        if tools.find(ToolName::Memcached).is_err() {
            eprintln!("skipped: memcached is not installed");
            return None;
        }
        Some(Place {
            folder: tempfile::tempdir().expect("a folder"),
            tools,
            cancel: CancellationToken::new(),
            marks: Marks::new(Instant::now()),
        })
    }

    /// Puts a script before the real tools. `REAL` stands for the real program of that name.
    fn stub(&mut self, tool: ToolName, script: &str) {
        let real = self.tools.find(tool).unwrap_or_else(|_| PathBuf::from("/nonexistent"));
        let folder = self.folder.path().join("tools");
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(tool.program());
        std::fs::write(&path, format!("#!/bin/sh\n{}\n", script.replace("REAL", &real.to_string_lossy())))
            .expect("a script");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("an executable script");
        let rest = std::env::split_paths(&std::env::var_os("PATH").expect("a PATH")).collect::<Vec<_>>();
        self.tools = Tools::in_folders(std::iter::once(folder).chain(rest));
    }

    fn raw(&self) -> PathBuf {
        self.folder.path().join("raw")
    }

    async fn run(&self, config: &MemcachedWorkload) -> Result<Outcome, WorkloadError> {
        let scratch = self.folder.path().join("scratch");
        for folder in [&scratch, &self.raw()] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        let environment = EnvironmentSection::default();
        let context = Context {
            cancel: &self.cancel,
            scratch: &scratch,
            raw: &self.raw(),
            confined_roles: &[Role::Server],
            confined: Vec::new(),
            unconfined: Vec::new(),
            environment: &environment,
            data: None,
            seed: 1,
            tools: &self.tools,
            marks: &self.marks,
            own_executable: Path::new(env!("CARGO_BIN_EXE_run-bench")),
        };
        let result = tokio::time::timeout(Duration::from_secs(100), run(config, &context)).await;
        result.expect("the workload ends by itself")
    }
}

fn value(outcome: &Outcome, id: &str) -> f64 {
    let found = outcome.measurements.iter().find(|m| m.metric.id.as_str() == id);
    found.unwrap_or_else(|| panic!("{id} is not among {:?}", outcome.measurements)).value
}

fn rules(outcome: &Outcome) -> Vec<&str> {
    outcome.violations.iter().map(|violation| violation.rule.as_str()).collect()
}

#[tokio::test]
async fn a_valid_run_over_a_unix_socket() {
    let Some(place) = Place::new() else { return };
    let outcome = place.run(&workload()).await.unwrap();
    assert_eq!(rules(&outcome), [""; 0], "{:?}", outcome.violations);
    for id in ["ops_per_sec", "set_per_sec", "latency_p99", "server_cpu_per_op", "client_cpu_per_op"] {
        assert!(value(&outcome, &format!("memcached.{id}")) > 0.0, "{id}");
    }
    assert_eq!(outcome.driver.name, "memcached-load");
    assert_eq!(outcome.parameters["server.maxbytes"], (64 << 20).to_string());
    for name in &outcome.raw {
        assert!(place.raw().join(name).exists(), "{name}");
    }
    let after = std::fs::read_to_string(place.raw().join("stats-after.txt")).unwrap();
    assert!(after.contains("STAT cmd_set 5000\n") && after.contains("STAT curr_items 5000\n"));
    let names: Vec<String> = place.marks.phases().into_iter().map(|phase| phase.name).collect();
    assert_eq!(names, ["measure"]);
}

#[tokio::test]
async fn text_over_tcp_with_a_fill_and_repeats() {
    let Some(place) = Place::new() else { return };
    let mut config = workload();
    config.socket = Socket::Tcp;
    config.load.protocol = Protocol::Text;
    config.load.values = ValueBytes::Random;
    (config.load.fill, config.load.repeat) = (true, 2);
    (config.load.pattern, config.load.ratio) = ("Z:R".to_owned(), "1:3".to_owned());
    config.load.requests = Some(4000);
    let outcome = place.run(&config).await.unwrap();
    assert_eq!(rules(&outcome), [""; 0], "{:?}", outcome.violations);
    assert_eq!(value(&outcome, "memcached.hit_share"), 1.0);
    assert!(value(&outcome, "memcached.ops_per_sec.run_2") > 0.0);
    let names: Vec<String> = place.marks.phases().into_iter().map(|phase| phase.name).collect();
    assert_eq!(names, ["fill", "measure"]);
}

#[tokio::test]
async fn a_timed_run_of_large_values() {
    let Some(place) = Place::new() else { return };
    let mut config = workload();
    config.load.value = Bytes::kib(300);
    (config.load.keys, config.load.fill) = (100, true);
    (config.load.pattern, config.load.ratio) = ("G:G".to_owned(), "1:1".to_owned());
    config.load.duration = Some(Nanos::from_millis(600));
    let outcome = place.run(&config).await.unwrap();
    assert_eq!(rules(&outcome), [""; 0], "{:?}", outcome.violations);
    assert!(value(&outcome, "memcached.get_per_sec") > 0.0);
}

#[tokio::test]
async fn memtier_and_the_built_in_loader_do_the_same_work() {
    let Some(place) = Place::new() else { return };
    if place.tools.find(ToolName::Memtier).is_err() {
        eprintln!("skipped: there is no memtier_benchmark in PATH or RUN_BENCH_TOOLS");
        return;
    }
    let mut config = workload();
    config.load.driver = Driver::Tool;
    (config.load.fill, config.load.repeat) = (true, 2);
    (config.load.pattern, config.load.ratio) = ("R:Z".to_owned(), "1:2".to_owned());
    config.load.requests = Some(3000);
    let theirs = place.run(&config).await.unwrap();
    assert_eq!((rules(&theirs), theirs.driver.name.as_str()), (vec![], "memtier_benchmark"));
    config.load.driver = Driver::Builtin;
    let ours = place.run(&config).await.unwrap();
    assert_eq!(rules(&ours), [""; 0]);
    let ids = |outcome: &Outcome| -> Vec<String> {
        outcome.measurements.iter().map(|m| m.metric.id.to_string()).collect()
    };
    assert_eq!(ids(&theirs), ids(&ours));
}

#[tokio::test]
async fn evictions_make_the_run_invalid_unless_they_are_allowed() {
    let Some(place) = Place::new() else { return };
    let mut config = workload();
    (config.memory, config.load.keys) = (Bytes::mib(8), 20_000);
    let outcome = place.run(&config).await.unwrap();
    assert_eq!(rules(&outcome), ["memcached.evictions"], "{:?}", outcome.violations);
    config.allow_evictions = true;
    assert_eq!(rules(&place.run(&config).await.unwrap()), [""; 0]);
}

#[tokio::test]
async fn a_missing_server_is_named() {
    let Some(mut place) = Place::new() else { return };
    place.tools = Tools::in_folders([place.folder.path().to_path_buf()]);
    let error = place.run(&workload()).await.expect_err("no server");
    assert!(
        matches!(error, WorkloadError::Exec(ExecError::ToolMissing { tool: "memcached", .. })),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_ends_the_run() {
    let Some(mut place) = Place::new() else { return };
    place.stub(ToolName::Memcached, "(sleep 1; kill -9 $$) >/dev/null 2>&1 &\nexec REAL \"$@\"");
    let mut config = workload();
    config.load.duration = Some(Nanos::from_seconds(60));
    let begin = Instant::now();
    let error = place.run(&config).await.expect_err("the server died");
    assert!(matches!(&error, WorkloadError::Died { what, .. } if what == "memcached"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(40));
}

#[tokio::test]
async fn a_server_that_will_not_start_says_why() {
    let Some(mut place) = Place::new() else { return };
    place.stub(ToolName::Memcached, "echo 'failed to listen on a socket' >&2\nexit 71");
    let error = place.run(&workload()).await.expect_err("no start");
    assert!(error.to_string().contains("failed to listen"), "{error}");
}

#[tokio::test]
async fn a_foreign_server_is_not_taken_for_ours() {
    let Some(mut place) = Place::new() else { return };
    // The real one listens as a child of the process that was started.
    place.stub(ToolName::Memcached, "REAL \"$@\" &\nwait");
    let error = place.run(&workload()).await.expect_err("not ours");
    assert!(error.to_string().contains("another server answers"), "{error}");
}

#[tokio::test]
async fn settings_that_were_not_taken_are_refused() {
    let Some(mut place) = Place::new() else { return };
    place.stub(ToolName::Memcached, "exec REAL \"$@\" -t 3");
    let error = place.run(&workload()).await.expect_err("another set-up");
    assert!(error.to_string().contains("num_threads as 3 where 1"), "{error}");
}

const VERSION: &str = "[ \"$1\" = --version ] && { echo 'memtier_benchmark 9.8.7'; exit 0; }";
const FIND_JSON: &str = "while [ \"$1\" != --json-out-file ]; do shift; done";

#[tokio::test]
async fn success_without_work_is_invalid() {
    let Some(mut place) = Place::new() else { return };
    let none = "{\"Count\": 0, \"Ops/sec\": 0.00, \"Average Latency\": -nan}";
    let json = format!(
        "{{\"ALL STATS\": {{\"Runtime\": {{\"Total duration\": 10}}, \"Sets\": {none}, \"Gets\": {none}, \"Totals\": {none}}}}}"
    );
    place.stub(
        ToolName::Memtier,
        &format!("{VERSION}\n{FIND_JSON}\necho 'connection dropped.' >&2\necho '{json}' > \"$2\""),
    );
    let mut config = workload();
    config.load.driver = Driver::Auto;
    let outcome = place.run(&config).await.unwrap();
    assert_eq!(rules(&outcome), ["memtier.connection", "load.no_work", "memcached.items"]);
    assert_eq!(outcome.driver.version, "memtier_benchmark 9.8.7");
}

#[tokio::test]
async fn a_tool_without_a_report_or_with_a_broken_one_fails() {
    let Some(mut place) = Place::new() else { return };
    let mut config = workload();
    config.load.driver = Driver::Tool;
    for (script, words) in [
        ("exit 0", "read the report"),
        ("echo '{\"ALL STATS\": {' > \"$2\"", "not JSON"),
        ("echo 'error: no such option' >&2; exit 2", "no such option"),
        ("kill -SEGV $$", "Signalled(11)"),
    ] {
        place.stub(ToolName::Memtier, &format!("{VERSION}\n{FIND_JSON}\n{script}"));
        let error = place.run(&config).await.expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_hanging_tool_is_ended_by_cancelling() {
    let Some(mut place) = Place::new() else { return };
    place.stub(ToolName::Memtier, &format!("{VERSION}\ntrap '' TERM\nwhile :; do sleep 0.1; done"));
    let mut config = workload();
    config.load.driver = Driver::Tool;
    let cancel = place.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert!(matches!(place.run(&config).await, Err(WorkloadError::Cancelled)));
}
