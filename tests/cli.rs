//! The command line as a user meets it: texts, exit codes, and that the host
//! is as it was.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_run-bench");

fn run_bench(arguments: &[&str]) -> Output {
    Command::new(BINARY).args(arguments).stdin(Stdio::null()).output().expect("run-bench starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn config(name: &str) -> String {
    format!("{}/configs/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// A campaign of two blocks that takes a few seconds: reads of a small file in a small cgroup.
const SHORT: &str = r#"
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

#[test]
fn a_wrong_key_is_told_with_file_line_key_and_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "wrong.toml", &SHORT.replace("duration", "durattion"));
    for command in ["plan", "run"] {
        let output = run_bench(&[command, &path]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        for part in ["wrong.toml, line 10", "durattion", "did you mean `duration`?"] {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }
}

#[test]
fn absent_files_and_wrong_options_have_their_exit_codes() {
    assert_eq!(run_bench(&["plan", "/nonexistent.toml"]).status.code(), Some(2));
    assert_eq!(run_bench(&["frobnicate"]).status.code(), Some(2));
    assert_eq!(run_bench(&["compare", "/nonexistent"]).status.code(), Some(3));
    assert_eq!(run_bench(&["--help"]).status.code(), Some(0));
    assert_eq!(run_bench(&["--version"]).status.code(), Some(0));
}

#[test]
fn every_shipped_experiment_can_be_planned_or_says_why_not() {
    let folder = PathBuf::from(config(""));
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("configs") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|e| e == "toml") {
            let output = run_bench(&["plan", &path.display().to_string()]);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 3)), "{}: {code:?} {}", path.display(), text(&output.stderr));
            seen += 1;
        }
    }
    assert!(seen >= 2, "found {seen} experiments");
}

#[test]
fn arms_take_kernels_from_the_command_line_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "short.toml", SHORT);
    let good = run_bench(&["plan", &path, "--arms", "b=/boot/vmlinuz-9.9", "--json"]);
    assert!(text(&good.stdout).contains("/boot/vmlinuz-9.9"), "{}", text(&good.stderr));
    let wrong = run_bench(&["plan", &path, "--arms", "c=running"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("one of a, b"), "{}", text(&wrong.stderr));
}

#[test]
fn completions_and_the_manual_name_every_command() {
    let bash = text(&run_bench(&["completions", "bash"]).stdout);
    let manual = text(&run_bench(&["man"]).stdout);
    for command in ["doctor", "plan", "run", "compare", "report", "status", "clean", "patch", "selftest"] {
        assert!(bash.contains(command), "{command} has no completion");
        assert!(manual.contains(command), "{command} is not in the manual");
    }
}

#[test]
fn doctor_gives_a_remedy_for_everything_missing() {
    let output = run_bench(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let lines = report["lines"].as_array().expect("lines");
    assert!(lines.len() > 20, "{} lines", lines.len());
    for line in lines {
        let fine = line["state"] == "ok";
        assert!(fine || line["remedy"].is_string(), "no remedy in {line}");
    }
}

#[test]
fn the_statistics_hold_their_promises_in_short() {
    let output = run_bench(&["selftest", "stats", "--simulations", "400", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(rows.as_array().is_some_and(|r| r.len() > 50));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

/// Everything of the host that a trial may touch.
#[derive(Debug, PartialEq, Eq)]
struct HostState {
    swaps: String,
    mounts: BTreeSet<String>,
    blocks: BTreeSet<String>,
    cgroups: BTreeSet<String>,
    swappiness: String,
}

fn host_state() -> HostState {
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

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_campaign_runs_resumes_and_leaves_the_host_as_it_was() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = write(folder.path(), "short.toml", SHORT);
    let results = folder.path().join("results").display().to_string();
    let arguments = ["run", &experiment, "--results", &results, "--name", "c"];
    let first = run_bench(&arguments);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert_eq!(host_state(), before);
    // Everything is done: a second run only reports, and the same bytes.
    let again = run_bench(&arguments);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let campaign = format!("{results}/c");
    let compare = |_| run_bench(&["compare", &campaign, "--json"]).stdout;
    assert_eq!(compare(1), compare(2));
    let status = text(&run_bench(&["status", &campaign]).stdout);
    assert!(status.contains("8 trial(s) valid"), "{status}");
}

fn start(arguments: &[&str]) -> Child {
    Command::new(BINARY)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("run-bench starts")
}

fn trial_processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_string_lossy().parse::<u32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|b| *b == 0).collect();
        words.first() == Some(&BINARY.as_bytes()) && words.get(1) == Some(&b"trial".as_slice())
    })
    .collect()
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} did not happen within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn kill_9_of_campaign_and_trial_leaves_nothing_that_clean_does_not_undo() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = write(folder.path(), "long.toml", &SHORT.replace("200ms", "20s"));
    let results = folder.path().join("results").display().to_string();
    let arguments = ["run", &experiment, "--results", &results, "--name", "c"];
    let mut campaign = start(&arguments);
    wait_for("a cgroup of the trial", || host_state().cgroups != before.cgroups);
    campaign.kill().expect("killed");
    campaign.wait().expect("reaped");
    for pid in trial_processes() {
        let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process");
        // It may have ended by itself since it was listed.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    wait_for("the end of the trial", || trial_processes().is_empty());
    // A process that is being killed holds its lock for a moment longer.
    wait_for("a clean host", || run_bench(&["clean"]).status.code() == Some(0));
    assert_eq!(host_state(), before);
    assert!(text(&run_bench(&["clean"]).stdout).contains("nothing to undo"));
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_trial_whose_campaign_was_killed_restores_the_host_by_itself() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = write(folder.path(), "long.toml", &SHORT.replace("200ms", "60s"));
    let results = folder.path().join("results").display().to_string();
    let mut campaign = start(&["run", &experiment, "--results", &results, "--name", "c"]);
    wait_for("a cgroup of the trial", || host_state().cgroups != before.cgroups);
    campaign.kill().expect("killed");
    campaign.wait().expect("reaped");
    wait_for("a restored host", || host_state() == before);
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn ctrl_c_twice_stops_the_campaign_and_restores_the_host() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = write(folder.path(), "long.toml", &SHORT.replace("200ms", "20s"));
    let results = folder.path().join("results").display().to_string();
    let mut campaign = start(&["run", &experiment, "--results", &results, "--name", "c"]);
    wait_for("a cgroup of the trial", || host_state().cgroups != before.cgroups);
    let pid = rustix::process::Pid::from_child(&campaign);
    for _ in 0..2 {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("signalled");
        std::thread::sleep(Duration::from_millis(50));
    }
    let status = campaign.wait().expect("ended");
    assert_eq!(status.code(), Some(4), "no trial was completed");
    assert_eq!(host_state(), before);
}
