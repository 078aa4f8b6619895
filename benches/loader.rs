//! Processor time per operation of the built-in loader, beside memtier_benchmark
//! where it is in `PATH` or `RUN_BENCH_TOOLS`: `cargo bench --bench loader`.
//!
//! Both drive the same memcached over a unix socket with equal options, by turns,
//! so that the state of the machine is shared fairly. Times are those that the
//! kernel charges to the whole process; the median of the rounds is printed.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use run_bench::config::workload::KeyPattern;
use run_bench::config::workload::Protocol;
use run_bench::config::workload::ValueBytes;
use run_bench::exec::Command;
use run_bench::exec::Output;
use run_bench::exec::ToolName;
use run_bench::exec::Tools;
use run_bench::exec::run;
use run_bench::exec::spawn;
use run_bench::units::Bytes;
use run_bench::workload::memcached::loader::Endpoint;
use run_bench::workload::memcached::loader::LoaderSpec;
use run_bench::workload::memcached::loader::Requests;
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 7;
/// Operations of one round, over all clients.
const OPERATIONS: u64 = 400_000;
const KEYS: u64 = 100_000;

/// Name, clients, pipeline, SETs and GETs of a round.
const CASES: [(&str, u32, u32, (u32, u32)); 4] = [
    ("SET, 1 client, pipeline 8", 1, 8, (1, 0)),
    ("SET, 2 clients, pipeline 8", 2, 8, (1, 0)),
    ("SET, 1 client, pipeline 64", 1, 64, (1, 0)),
    ("1 SET : 10 GET, 2 clients, pipeline 8", 2, 8, (1, 10)),
];

fn spec(socket: &Path, clients: u32, pipeline: u32, ratio: (u32, u32)) -> LoaderSpec {
    LoaderSpec {
        endpoint: Endpoint::Unix(socket.to_path_buf()),
        protocol: Protocol::Binary,
        threads: 1,
        clients,
        pipeline,
        requests: Requests::Each(OPERATIONS / u64::from(clients)),
        repeat: 1,
        ratio,
        key_prefix: "memtier-".to_owned(),
        key_minimum: 1,
        key_maximum: KEYS,
        set_pattern: KeyPattern::Parallel,
        get_pattern: KeyPattern::Parallel,
        zipf_exponent: 1.0,
        value: Bytes::kib(1),
        values: ValueBytes::Constant,
        seed: 0,
        distinct_client_seed: false,
    }
}

fn builtin(spec: &LoaderSpec, folder: &Path) -> Command {
    let path = folder.join("spec.json");
    std::fs::write(&path, serde_json::to_vec(spec).expect("plain data")).expect("a writable folder");
    Command::new(env!("CARGO_BIN_EXE_run-bench")).args(["__driver", "memcached-load", "--spec"]).arg(path)
}

fn memtier(program: &Path, socket: &Path, spec: &LoaderSpec) -> Command {
    let Requests::Each(each) = spec.requests else { unreachable!("every case counts requests") };
    Command::new(program)
        .arg("-S")
        .arg(socket)
        .args(["-P", "memcache_binary", "-t", "1", "--hide-histogram", "--key-pattern", "P:P"])
        .args(["--key-minimum", "1", "--key-maximum", &KEYS.to_string(), "-d", "1024"])
        .args(["-c", &spec.clients.to_string(), "--pipeline", &spec.pipeline.to_string()])
        .args(["-n", &each.to_string(), "--ratio", &format!("{}:{}", spec.ratio.0, spec.ratio.1)])
}

async fn once(command: Command) -> Output {
    let output = run(&command.deadline(Duration::from_secs(120)), &CancellationToken::new()).await;
    let output = output.expect("the load generator runs");
    assert!(output.ended.success(), "{}", output.stderr.text());
    output
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints the medians of user and system time and of their sum; returns the sum.
fn print(name: &str, outputs: &[Output]) -> f64 {
    let nanos = |time: fn(&Output) -> u64| -> f64 {
        median(outputs.iter().map(|output| time(output) as f64 / OPERATIONS as f64).collect())
    };
    let (user, system) = (nanos(|o| o.user.0), nanos(|o| o.system.0));
    let sum = nanos(|o| o.user.0 + o.system.0);
    println!("  {name:<18} {sum:>6.0} ns/op   user {user:>5.0}   system {system:>5.0}");
    sum
}

async fn compare(socket: &Path, folder: &Path, other: Option<&PathBuf>) {
    for (name, clients, pipeline, ratio) in CASES {
        println!("{name}");
        let spec = spec(socket, clients, pipeline, ratio);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            if round % 2 == 0 {
                ours.push(once(builtin(&spec, folder)).await);
            }
            if let Some(program) = other {
                theirs.push(once(memtier(program, socket, &spec)).await);
            }
            if round % 2 == 1 {
                ours.push(once(builtin(&spec, folder)).await);
            }
        }
        let own = print("built-in", &ours);
        if !theirs.is_empty() {
            let other = print("memtier_benchmark", &theirs);
            println!("  built-in / memtier {:.2}", own / other);
        }
    }
}

#[tokio::main]
async fn main() {
    let tools = Tools::from_environment();
    let Ok(server) = tools.find(ToolName::Memcached) else {
        println!("skipped: memcached is not installed");
        return;
    };
    let other = tools.find(ToolName::Memtier).ok();
    if other.is_none() {
        println!(
            "memtier_benchmark is not in PATH nor in RUN_BENCH_TOOLS: only the built-in loader is measured"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("memcached.socket");
    let mut command = Command::new(server).args(["-m", "512", "-t", "1", "-a", "0700", "-s"]).arg(&socket);
    if rustix::process::geteuid().is_root() {
        command = command.args(["-u", "root"]);
    }
    let running = spawn(&command).await.expect("memcached starts");
    while !socket.exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("{OPERATIONS} operations of 1 KiB, 1 thread, median of {ROUNDS} rounds");
    compare(&socket, folder.path(), other.as_ref()).await;
    running.stop(Duration::from_secs(5)).await.expect("memcached ends");
}
