//! The fault matrix and the kill soak on the real host, and what a long
//! campaign takes of it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::support::BINARY;
use crate::support::host_state;
use crate::support::run_bench;
use crate::support::text;
use crate::support::write;

#[test]
#[ignore = "needs root: makes mounts, swap and memory cgroups"]
fn the_fault_matrix_holds_on_the_real_host() {
    let before = host_state();
    let matrix = run_bench(&["selftest", "faults", "--real"]);
    assert_eq!(matrix.status.code(), Some(0), "{}", text(&matrix.stdout));
    assert_eq!(host_state(), before);
}

#[test]
#[ignore = "needs root: makes swap and memory cgroups, killed at random moments"]
fn a_short_kill_soak_loses_nothing_and_restores_the_host() {
    let before = host_state();
    let soak = run_bench(&["selftest", "soak", "--kills", "30", "--seed", "30"]);
    assert_eq!(soak.status.code(), Some(0), "{}{}", text(&soak.stdout), text(&soak.stderr));
    assert_eq!(host_state(), before);
}

/// Resident memory without the pages of files, in KiB, and open descriptors.
fn taken(pid: u32) -> Option<(u64, usize)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let memory = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((memory, std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count()))
}

fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size_of(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Eight hours of trials of five minutes, each in a twentieth of a second.
const LONG: &str = "schema = 1\ntitle = \"long\"\n[memcg]\nlimit = \"16MiB\"\n\
    [workload.command]\nargv = [\"sleep\", \"0.05\"]\ndeadline = \"20s\"\n\
    [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n[sample]\nperiod = \"10ms\"\n\
    [schedule]\nblocks = 24\ndiscard-first = false\n[analysis]\nprimary = \"command.wall_time\"\n";

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_long_campaign_takes_no_more_at_its_end_than_at_its_beginning() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "long.toml", LONG);
    let results = folder.path().join("results");
    let mut running = std::process::Command::new(BINARY)
        .args(["run", &file, "--name", "c", "--results"])
        .arg(&results)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("run-bench starts");
    let trials = results.join("c/trials");
    let done = || std::fs::read_dir(&trials).map_or(0, Iterator::count);
    // Most memory and fewest files of the controller, by the number of trials begun: files that are
    // open for a moment come and go, those that are left open stay.
    let mut early = (0, usize::MAX);
    let mut late = (0, usize::MAX);
    while running.try_wait().expect("waited").is_none() {
        if let Some((memory, files)) = taken(running.id()) {
            match done() {
                10..=30 => early = (early.0.max(memory), early.1.min(files)),
                // Not the last: then the report is made.
                70..=92 => late = (late.0.max(memory), late.1.min(files)),
                _ => {}
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(done(), 96);
    assert!(early.0 > 0 && late.0 > 0, "{early:?} {late:?}");
    assert!(late.0 <= early.0 + 1024, "KiB of memory: {} early, {} late", early.0, late.0);
    assert!(late.1 <= early.1, "open files: {} early, {} late", early.1, late.1);
    let journal = std::fs::metadata(results.join("c/journal.jsonl")).expect("a journal").len();
    assert!(journal < 96 * 1024, "the journal has {journal} bytes");
    let size = size_of(&trials);
    println!("memory {early:?} early, {late:?} late; journal {journal} bytes, trials {size} bytes");
    assert_eq!(host_state(), before);
}
