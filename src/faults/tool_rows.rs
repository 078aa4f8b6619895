//! Rows 14 to 20: tools that are absent, wrong, silent, or lie.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::seen::{Injected, Seen};
use crate::exec::{self, Command, Ended, ExecError, Progress, ToolName, Tools};
use crate::units::Bytes;
use crate::workload::fio;
use crate::workload::memcached::{Stats, judge_stderr, rules};
use crate::workload::netperf::owns_listener;

/// Far longer than a case should take, and far shorter than its stub would.
const LONG: Duration = Duration::from_secs(30);

fn block_on<T>(future: impl Future<Output = T>) -> std::io::Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future))
}

fn stub(folder: &Path, name: &str, text: &str, mode: u32) -> std::io::Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text)?;
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode))
}

pub(super) fn wrong_tools(seen: &mut Seen) -> Injected {
    let folder = tempfile::tempdir()?;
    stub(folder.path(), "fio", "not for execution", 0o644)?;
    stub(folder.path(), "memcached", "#!/bin/sh\necho who knows\n", 0o755)?;
    stub(folder.path(), "netperf", "\u{7f}ELF of another machine", 0o755)?;
    stub(folder.path(), "perf", "#!/bin/sh\necho perf version 99.1\n", 0o755)?;
    let tools = Tools::in_folders([folder.path().to_owned()]);
    let mut all = block_on(tools.probe_all())?;
    let mut of = |name| all.remove(&name).ok_or("every tool is probed");
    seen.refused("not executable", of(ToolName::Fio)?, &["install the package fio"]);
    seen.refused("absent", of(ToolName::Memtier)?, &["build memtier_benchmark"]);
    let unknown = of(ToolName::Memcached)?;
    let named = matches!(&unknown, Err(ExecError::ToolVersion { seen, .. }) if seen.contains("who knows"));
    seen.check("a version that nobody knows is told as printed", named);
    seen.check("another architecture is refused", of(ToolName::Netperf)?.is_err());
    let newer = of(ToolName::Perf)?.ok().and_then(|tool| tool.version).map(|v| v.numbers);
    seen.check("a newer version is recorded", newer == Some(vec![99, 1]));
    Ok(())
}

/// fio's document with one group of reads, of an invented job.
fn document(latency: &str) -> String {
    format!(
        "{{\"fio version\": \"fio-3.36\", \"jobs\": [{{\"jobname\": \"x\", \"error\": 0, \"job_runtime\": 4000, \
         \"read\": {{\"io_bytes\": 409600, \"bw_bytes\": 102400, \"bw\": 100, \"iops\": 25.0, \"runtime\": 4000, \
         \"total_ios\": 100, \"short_ios\": 0, {latency}}}, \"write\": {{\"total_ios\": 0, \"iops\": 0.0, \
         \"bw\": 0, \"runtime\": 0, \"short_ios\": 0}}}}]}}"
    )
}

const NANOSECONDS: &str =
    "\"clat_ns\": {\"min\": 1, \"max\": 9, \"mean\": 40000.0, \"stddev\": 1.0, \"N\": 100}";

pub(super) fn broken_json(seen: &mut Seen) -> Injected {
    let good = document(NANOSECONDS);
    let read = fio::parse(&good)?;
    seen.check("the plain document is read", read.read.is_some_and(|side| side.operations == 100));
    let same = |text: &str| fio::parse(text).is_ok_and(|output| output.read == read.read);
    seen.check("lines before it", same(&format!("fio: warning\nfio: pid=1, err=5\n{good}")));
    seen.check("several documents: the last", same(&format!("{}{good}", good.replace("100,", "50,"))));
    seen.check("carriage returns", same(&good.replace(", ", ",\r\n")));
    seen.check("a byte order mark", same(&format!("\u{feff}{good}")));
    for (what, text) in [
        ("empty", String::new()),
        ("truncated", good[..good.len() / 2].to_owned()),
        ("a number that is none", good.replace("\"iops\": 25.0", "\"iops\": nan")),
        ("a text for a number", good.replace("\"iops\": 25.0", "\"iops\": \"many\"")),
        ("200 kB of opening braces", "{\"a\":".repeat(33_000)),
    ] {
        seen.check(format!("{what}: a typed error"), fio::parse(&text).is_err());
    }
    for cut in 0..good.len() {
        if fio::parse(&good[..cut]).is_ok() {
            seen.check(format!("cut at byte {cut}: read as whole"), false);
        }
    }
    Ok(())
}

pub(super) fn old_names(seen: &mut Seen) -> Injected {
    let mean = |text: &str| fio::parse(text).ok()?.read?.latency.map(|latency| latency.mean_ns);
    let new = mean(&document(NANOSECONDS));
    let old = mean(
        &document("\"clat\": {\"min\": 1, \"max\": 9, \"mean\": 40.0, \"stddev\": 1.0}")
            .replace("fio-3.36", "fio-2.21"),
    );
    seen.check(
        format!("clat_ns and clat are the same time: {new:?} and {old:?}"),
        new == old && new.is_some(),
    );
    let odd = document("\"clat_ms\": {\"min\": 1, \"max\": 9, \"mean\": 40.0, \"stddev\": 1.0}");
    seen.refused("a unit that is not known", fio::parse(&odd), &["clat_ms"]);
    for (printed, numbers) in
        [("memtier_benchmark 1.3.0\n", [1, 3, 0]), ("memtier_benchmark v=2.1.4 sha=0\n", [2, 1, 4])]
    {
        let version = exec::ToolVersion::parse(ToolName::Memtier, printed);
        seen.check(printed.trim(), version.is_some_and(|version| version.numbers == numbers));
    }
    Ok(())
}

/// A program of this text; it lasts as long as the folder.
fn script(folder: &tempfile::TempDir, text: &str) -> std::io::Result<Command> {
    let (_, path) = tempfile::Builder::new().prefix("stub-").tempfile_in(folder.path())?.keep()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    stub(folder.path(), &name, &format!("#!/bin/sh\n{text}\n"), 0o755)?;
    Ok(Command::new(path).deadline(LONG))
}

/// Runs a stub and notes if it took too long.
fn run(seen: &mut Seen, what: &str, command: &Command) -> Result<exec::Output, Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let output = block_on(exec::run(command, &CancellationToken::new()))??;
    seen.check(format!("{what}: ended in time"), begun.elapsed() < LONG);
    Ok(output)
}

pub(super) fn lies(seen: &mut Seen) -> Injected {
    let folder = tempfile::tempdir()?;
    let output = run(seen, "exit 3 with output", &script(&folder, "echo result; exit 3")?)?;
    seen.check("is no success", output.ended == Ended::Exited(3) && !output.ended.success());
    let output = run(seen, "killed by a signal", &script(&folder, "kill -SEGV $$")?)?;
    seen.check("is told as one", output.ended == Ended::Signalled(11));
    let idle = rules::of_example(&[("cmd_set", 0)], 0)?;
    seen.check(format!("exit 0 with zero work: {idle:?}"), idle.contains(&"load.no_work".to_owned()));
    let stderr =
        "connection dropped.\nRestarting thread 3 (restart #1)...\nserver x handle error response: 0082\n";
    let told: Vec<String> = judge_stderr(stderr).into_iter().map(|violation| violation.rule).collect();
    seen.check(
        format!("exit 0 after a silent restart: {told:?}"),
        told == ["memtier.connection", "memtier.thread_restart", "memtier.refused"],
    );
    Ok(())
}

pub(super) fn hangs(seen: &mut Seen) -> Injected {
    let folder = tempfile::tempdir()?;
    let short = Duration::from_millis(300);
    let output = run(seen, "a silent hang", &script(&folder, "sleep 1000")?.deadline(short))?;
    seen.check("meets its deadline", output.ended == Ended::Deadline);
    let mut idle = script(&folder, "while :; do printf '5 ops, 0 ops/sec\\r'; sleep 0.02; done")?;
    idle.no_progress = Some(short);
    idle.progress = Progress::Number(|line| line.split_once(" ops,")?.0.trim().parse().ok());
    let output = run(seen, "progress lines without work", &idle)?;
    seen.check("is no progress", output.ended == Ended::NoProgress);
    let mut deaf = script(&folder, "trap '' TERM; while :; do sleep 0.05; done")?.deadline(short);
    deaf.grace = short;
    let output = run(seen, "deaf to SIGTERM", &deaf)?;
    seen.check("is killed", output.ended == Ended::Deadline);
    let stopped = script(&folder, "kill -STOP $$; exit 0")?.deadline(short);
    let output = run(seen, "stopped", &stopped)?;
    seen.check("is ended", output.ended == Ended::Deadline);
    let output =
        run(seen, "a grandchild that holds stdout", &script(&folder, "sleep 1000 & echo $!; exit 0")?)?;
    seen.check("does not hold us", output.ended == Ended::Exited(0));
    let mut loud = script(&folder, "head -c 5000000 /dev/zero")?;
    loud.output_limit = Bytes::kib(64);
    let output = run(seen, "five megabytes of output", &loud)?;
    seen.check("are bounded", output.stdout.bytes().len() < 70_000 && output.stdout.total() == 5_000_000);
    Ok(())
}

pub(super) fn foreign_servers(seen: &mut Seen) -> Injected {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let own = std::process::id();
    seen.check("our own listener is ours", owns_listener(own, port));
    let mut other = std::process::Command::new("sleep").arg("30").spawn()?;
    seen.check("another process's is not", !owns_listener(other.id(), port));
    other.kill()?;
    other.wait()?;
    drop(listener);
    seen.check("a port that nobody listens on is nobody's", !owns_listener(own, port));
    Ok(())
}

pub(super) fn server_counters(seen: &mut Seen) -> Injected {
    let clean = [("cmd_set", 600), ("curr_items", 600)];
    let none = rules::of_example(&clean, 600)?;
    seen.check(format!("a clean run breaks no rule: {none:?}"), none.is_empty());
    for (counter, rule) in [
        ("evictions", "memcached.evictions"),
        ("store_no_memory", "memcached.out_of_memory"),
        ("items:4:outofmemory", "memcached.out_of_memory"),
        ("rejected_connections", "memcached.rejected_connections"),
        ("listen_disabled_num", "memcached.rejected_connections"),
    ] {
        let after: Vec<(&str, u64)> = clean.into_iter().chain([(counter, 1)]).collect();
        let broken = rules::of_example(&after, 600)?;
        seen.check(format!("{counter}: {broken:?}"), broken == [rule]);
    }
    seen.refused("what is no list of counters", Stats::parse("ERROR\r\n"), &[]);
    Ok(())
}
