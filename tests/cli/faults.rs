//! Faults in the middle of whole campaigns: each ends by itself with the right
//! exit code and words, loses nothing but the trial in flight, and leaves the
//! host as it was.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::BINARY;
use crate::support::SHORT;
use crate::support::host_state;
use crate::support::run_bench;
use crate::support::start;
use crate::support::text;
use crate::support::wait_for;
use crate::support::write;

/// Two equal arms over `workload`, judged by `primary`.
fn experiment(memcg: &str, workload: &str, primary: &str) -> String {
    format!(
        "schema = 1\ntitle = \"fault\"\n[memcg]\nlimit = \"{memcg}\"\n{workload}\n\
         [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n\
         [schedule]\nblocks = 2\ndiscard-first = false\n[analysis]\nprimary = \"{primary}\"\n"
    )
}

fn of_command(argv: &str, more: &str) -> String {
    let workload = format!("[workload.command]\nargv = {argv}\ndeadline = \"2s\"\n{more}");
    experiment("16MiB", &workload, "command.wall_time")
}

/// A small memcached; `requests` of each connection take the time.
fn of_memcached(requests: u32) -> String {
    let workload = format!(
        "[workload.memcached]\nmemory = \"64MiB\"\nthreads = 1\nsocket = \"unix\"\n\
         [workload.memcached.load]\ndriver = \"builtin\"\nkeys = 5_000\nvalue = \"1KiB\"\npattern = \"P:P\"\n\
         ratio = \"1:0\"\nclients = 1\nthreads = 1\npipeline = 1\nrequests = {requests}\n"
    );
    experiment("64MiB", &workload, "memcached.ops_per_sec")
}

struct Ended {
    code: Option<i32>,
    said: String,
    trials: Vec<String>,
}

fn ended(output: &Output, results: &Path) -> Ended {
    let trials = std::fs::read_dir(results.join("c/trials")).into_iter().flatten().flatten();
    Ended {
        code: output.status.code(),
        said: format!("{}{}", text(&output.stdout), text(&output.stderr)),
        trials: trials.map(|e| e.file_name().to_string_lossy().into_owned()).collect(),
    }
}

/// Runs the campaign, with `PATH` replaced where one is given, and sees that the host is as before.
fn campaign(experiment: &str, path: Option<&str>) -> Ended {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "fault.toml", experiment);
    let results = folder.path().join("results");
    let mut command = Command::new(BINARY);
    command.args(["run", &file, "--name", "c", "--results"]).arg(&results).stdin(Stdio::null());
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let output = command.output().expect("run-bench starts");
    assert_eq!(host_state(), before);
    ended(&output, &results)
}

#[test]
fn what_cannot_fit_or_escapes_its_folder_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let big = of_memcached(10).replace("5_000", "500_000").replace("\"64MiB\"", "\"16MiB\"");
    let file = write(folder.path(), "big.toml", &big);
    let results = folder.path().join("results").display().to_string();
    let refused = run_bench(&["run", &file, "--results", &results]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("16MiB"), "{}", text(&refused.stderr));
    let file = write(folder.path(), "short.toml", SHORT);
    for name in ["../c", "/tmp/c", "a/b", "..", ""] {
        let refused = run_bench(&["run", &file, "--results", &results, "--name", name]);
        assert_eq!(refused.status.code(), Some(2), "{name:?}: {}", text(&refused.stderr));
    }
    assert!(!Path::new(&results).exists(), "nothing was made");
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_missing_tool_ends_the_campaign_with_the_package_that_has_it() {
    let end = campaign(&of_memcached(10), Some("/nonexistent"));
    assert_eq!(end.code, Some(3), "{}", end.said);
    assert!(end.said.contains("install the package memcached"), "{}", end.said);
    assert_eq!(end.trials.len(), 1, "another attempt would meet the same: {:?}", end.trials);
    let end = campaign(&of_command("[\"no-such-program\"]", ""), None);
    assert_eq!(end.code, Some(3), "{}", end.said);
    assert!(end.said.contains("\"no-such-program\": there is no such program"), "{}", end.said);
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_tool_that_hangs_is_killed_and_its_trials_are_invalid() {
    let end = campaign(&of_command("[\"sleep\", \"1000\"]", ""), None);
    assert_eq!(end.code, Some(4), "{}", end.said);
    assert!(end.said.contains("command.deadline: it was killed after 2.0s"), "{}", end.said);
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn success_without_work_gives_no_number() {
    let metric = "[[workload.command.metrics]]\n\
        definition = { id = \"command.frames\", unit = \"per-second\", direction = \"higher-is-better\", \
        kind = \"throughput\", label = \"frames\" }\nsource = { regex = \"frames (?<value>[0-9]+)\" }\n";
    let end = campaign(&of_command("[\"true\"]", metric), None);
    assert_eq!(end.code, Some(4), "{}", end.said);
    assert!(end.said.contains("too many trials were not valid"), "{}", end.said);
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn an_out_of_memory_kill_makes_the_trial_invalid() {
    let end = campaign(&of_command("[\"tail\", \"/dev/zero\"]", "").replace("\"2s\"", "\"30s\""), None);
    assert_eq!(end.code, Some(4), "{}", end.said);
    assert!(end.said.contains("host.oom-kill"), "{}", end.said);
}

/// The memcacheds in our cgroups.
fn servers() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_string_lossy().parse::<i32>().ok());
    let ours = pids.filter(|pid| {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        read("comm").trim() == "memcached" && read("cgroup").contains("run-bench")
    });
    ours.filter_map(Pid::from_raw).collect()
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_server_that_dies_in_mid_trial_costs_that_trial_alone() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "fault.toml", &of_memcached(30_000));
    let results = folder.path().join("results");
    let mut running = start(&["run", &file, "--name", "c", "--results", &results.display().to_string()]);
    wait_for("a server", || !servers().is_empty());
    std::thread::sleep(Duration::from_millis(300));
    for server in servers() {
        // It may have ended by itself since it was listed.
        let _ = kill_process(server, Signal::KILL);
    }
    assert_eq!(running.wait().expect("ended").code(), Some(0));
    assert_eq!(host_state(), before);
    let status = text(&run_bench(&["status", &results.join("c").display().to_string()]).stdout);
    assert!(status.contains("8 trial(s) valid"), "{status}");
    assert!(
        results.join("c/trials/b0000-p00-memcached-a-a1").exists()
            || results.join("c/trials/b0000-p00-memcached-b-a1").exists()
    );
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_second_campaign_on_the_host_is_told_who_holds_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = write(folder.path(), "long.toml", &SHORT.replace("200ms", "20s"));
    let results = folder.path().join("results").display().to_string();
    let before = host_state();
    let mut first = start(&["run", &long, "--name", "first", "--results", &results]);
    wait_for("a cgroup of the trial", || host_state().cgroups != before.cgroups);
    let second = run_bench(&["run", &long, "--name", "second", "--results", &results]);
    let said = text(&second.stderr);
    assert_eq!(second.status.code(), Some(3), "{said}");
    assert!(said.contains(&format!("process {} (campaign", first.id())), "{said}");
    kill_process(Pid::from_child(&first), Signal::TERM).expect("signalled");
    first.wait().expect("ended");
    assert_eq!(host_state(), before);
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_killed_campaign_of_the_same_name_is_taken_up_again() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "short.toml", SHORT);
    let results = folder.path().join("results");
    let arguments = ["run", &file, "--name", "c", "--results", &results.display().to_string()];
    let mut first = start(&arguments);
    let third = results.join("c/trials");
    wait_for("three trials", || std::fs::read_dir(&third).map_or(0, Iterator::count) >= 3);
    first.kill().expect("killed");
    first.wait().expect("reaped");
    // The trial in flight puts the host right by itself, and holds it until then.
    wait_for("a second run", || {
        let again = run_bench(&arguments);
        assert!(matches!(again.status.code(), Some(0 | 3)), "{}", text(&again.stderr));
        again.status.code() == Some(0)
    });
    assert_eq!(host_state(), before);
    let status = text(&run_bench(&["status", &results.join("c").display().to_string()]).stdout);
    assert!(status.contains("8 trial(s) valid"), "{status}");
}

/// Runs `script` with a mount namespace of its own; `$0` is the program.
fn in_mounts_of_its_own(script: &str, folder: &Path) -> Output {
    Command::new("unshare")
        .args(["--mount", "sh", "-c", script, BINARY])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("unshare of util-linux starts")
}

#[test]
#[ignore = "needs root: makes mounts and memory cgroups"]
fn a_read_only_cgroup_tree_is_named_with_its_remedy() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "short.toml", SHORT);
    let script = "at=/sys/fs/cgroup; test -d $at/memory && at=$at/memory; \
                  mount -o remount,ro,bind $at && exec \"$0\" run short.toml --results results --name c";
    let end = ended(&in_mounts_of_its_own(script, folder.path()), &folder.path().join("results"));
    assert_eq!(end.code, Some(3), "{}", end.said);
    assert!(end.said.contains("mounted read-only; remount it"), "{}", end.said);
    assert_eq!(host_state(), before);
}

#[test]
#[ignore = "needs root: makes mounts and memory cgroups"]
fn a_full_disk_stops_the_campaign_and_more_room_lets_it_go_on() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "short.toml", SHORT);
    std::fs::create_dir(folder.path().join("results")).expect("a folder");
    let script = "mount -t tmpfs -o size=200k none results || exit 99; \
                  \"$0\" run short.toml --results results --name c; echo first $?; \
                  \"$0\" status results/c; mount -o remount,size=64m results; \
                  \"$0\" run short.toml --results results --name c; echo second $?; \"$0\" status results/c";
    let said = {
        let output = in_mounts_of_its_own(script, folder.path());
        format!("{}{}", text(&output.stdout), text(&output.stderr))
    };
    assert!(said.contains("first 3"), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    assert!(said.contains("free space or choose another disk with --results"), "{said}");
    assert!(said.contains("second 0"), "{said}");
    assert!(said.contains("8 trial(s) valid"), "{said}");
    assert_eq!(host_state(), before);
}

/// Swap of somebody else, on a loop device over memory that cannot be swapped itself.
struct ForeignSwap {
    folder: tempfile::TempDir,
    device: String,
}

fn succeed(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("it starts");
    assert!(output.status.success(), "{program} {arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

impl ForeignSwap {
    /// None where the kernel's tmpfs knows no `noswap`: swap on another one could lock the host up.
    fn new(priority: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().display().to_string();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "noswap,size=40m", "none", &at]).status();
        if !mounted.expect("mount starts").success() {
            return None;
        }
        let file = format!("{at}/swap");
        succeed("fallocate", &["--length", "32MiB", &file]);
        succeed("chmod", &["600", &file]);
        let device = succeed("losetup", &["--find", "--show", &file]);
        succeed("mkswap", &[&device]);
        succeed("swapon", &["--priority", priority, &device]);
        Some(ForeignSwap { folder, device })
    }
}

impl Drop for ForeignSwap {
    fn drop(&mut self) {
        succeed("swapoff", &[&self.device]);
        succeed("losetup", &["--detach", &self.device]);
        succeed("umount", &[&self.folder.path().display().to_string()]);
    }
}

#[test]
#[ignore = "needs root: makes swap devices"]
fn swap_of_somebody_else_is_neither_used_nor_touched() {
    let workload = "[swap]\nkind = \"ramdisk\"\nsize = \"64MiB\"\n\
        [workload.usemem]\nprocesses = 1\nsize = \"32MiB\"\npasses = 2\n";
    let experiment = experiment("16MiB", workload, "usemem.bytes_per_sec");
    let Some(low) = ForeignSwap::new("100") else {
        println!("skipped: this kernel's tmpfs has no noswap option");
        return;
    };
    // The state that must be found again holds the foreign device.
    assert!(host_state().swaps.contains(&low.device));
    let end = campaign(&experiment, None);
    assert_eq!(end.code, Some(0), "{}", end.said);
    drop(low);
    let highest = ForeignSwap::new("32767").expect("it could be made before");
    let end = campaign(&experiment, None);
    assert_eq!(end.code, Some(3), "{}", end.said);
    assert!(end.said.contains(&format!("refused to add swap above {}", highest.device)), "{}", end.said);
}
