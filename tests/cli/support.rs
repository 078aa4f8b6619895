//! What all these tests share: the program, a short experiment, the host's state.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const BINARY: &str = env!("CARGO_BIN_EXE_run-bench");

pub fn run_bench(arguments: &[&str]) -> Output {
    Command::new(BINARY).args(arguments).stdin(Stdio::null()).output().expect("run-bench starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn config(name: &str) -> String {
    format!("{}/configs/{name}", env!("CARGO_MANIFEST_DIR"))
}

pub fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// A campaign of two blocks that takes a few seconds: reads of a small file in a small cgroup.
pub const SHORT: &str = r#"
schema = 1
title = "short"
[memcg]
limit = "16MiB"
[workload.file-read]
tasks = 1
size = "32MiB"
order = "random"
duration = "200ms"
[[arm]]
name = "a"
[[arm]]
name = "b"
memcg = { limit = "24MiB" }
[schedule]
blocks = 2
discard-first = false
[analysis]
primary = "file_read.ops_per_sec"
"#;

/// Everything of the host that a trial may touch.
#[derive(Debug, PartialEq, Eq)]
pub struct HostState {
    pub swaps: String,
    pub mounts: BTreeSet<String>,
    pub blocks: BTreeSet<String>,
    pub cgroups: BTreeSet<String>,
    pub swappiness: String,
}

pub fn host_state() -> HostState {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let names = |folder: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
    };
    let loops = names("/sys/block").into_iter().filter(|name| {
        !name.starts_with("loop") || Path::new("/sys/block").join(name).join("loop/backing_file").exists()
    });
    let cgroups = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"];
    HostState {
        swaps: read("/proc/swaps").lines().map(|l| l.split_whitespace().next().unwrap_or("")).collect(),
        mounts: read("/proc/self/mounts").lines().map(str::to_owned).collect(),
        blocks: loops.collect(),
        cgroups: cgroups
            .iter()
            .flat_map(|folder| names(folder))
            .filter(|n| n.starts_with("run-bench"))
            .collect(),
        swappiness: read("/proc/sys/vm/swappiness"),
    }
}

pub fn start(arguments: &[&str]) -> Child {
    Command::new(BINARY)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("run-bench starts")
}

pub fn trial_processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_string_lossy().parse::<u32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|b| *b == 0).collect();
        words.first() == Some(&BINARY.as_bytes()) && words.get(1) == Some(&b"trial".as_slice())
    })
    .collect()
}

pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} did not happen within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}
