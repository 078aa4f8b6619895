//! A real User-Mode Linux kernel runs our init and trials. Needs Debian's
//! `user-mode-linux`, or a kernel named by `RUN_BENCH_UML`; without either, these
//! say so and pass.

mod guests;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use run_bench::config::TargetSection;
use run_bench::store::{TrialOutcome, TrialStatus};
use run_bench::target::UmlTarget;
use run_bench::target::kernel::{KernelImage, KernelKind};
use run_bench::units::Bytes;
use tokio_util::sync::CancellationToken;

const PROGRAM: &str = env!("CARGO_BIN_EXE_run-bench");

fn kernel() -> Option<PathBuf> {
    let named = std::env::var_os("RUN_BENCH_UML").map(PathBuf::from);
    let found = named.or_else(|| Some(PathBuf::from("/usr/bin/linux.uml")).filter(|p| p.exists()));
    if found.is_none() {
        eprintln!("skipped: no UML kernel; install user-mode-linux or set RUN_BENCH_UML");
    }
    found
}

async fn target() -> Option<UmlTarget> {
    let image = KernelImage::read(&kernel()?).await.expect("a UML kernel");
    assert_eq!(image.kind, KernelKind::Uml);
    assert!(image.build_id.as_ref().is_some_and(|id| id.len() == 40), "{:?}", image.build_id);
    Some(target_of(image))
}

fn target_of(image: KernelImage) -> UmlTarget {
    let section = TargetSection { memory: Bytes::mib(256), ..TargetSection::default() };
    UmlTarget::new(image, section, None, PathBuf::from(PROGRAM), "host".to_owned())
}

fn never() -> CancellationToken {
    CancellationToken::new()
}

async fn run(argv: &[&str]) -> Option<(Option<i32>, String)> {
    let target = target().await?;
    let argv = argv.iter().map(|a| (*a).to_owned()).collect();
    let end = target.run_command(argv, Duration::from_secs(60), &never()).await.expect("it delivers");
    eprintln!("boot {:?}, whole {:?}, {:?}", end.boot, end.wall, end.remarks);
    Some((end.exit, String::from_utf8_lossy(&end.stdout).into_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guest_runs_the_kernel_that_its_image_names() {
    let Some((exit, out)) = run(&["uname", "-r"]).await else { return };
    let release = target().await.expect("as before").image().release.clone();
    assert_eq!((exit, out.trim()), (Some(0), release.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guest_is_set_up_for_trials() {
    let script = "cat /sys/fs/cgroup/cgroup.controllers; cat /sys/class/net/lo/flags; \
                  touch /tmp/x /run/x && touch /etc/x 2>/dev/null || echo read-only; exit 7";
    let Some((exit, out)) = run(&["/bin/sh", "-c", script]).await else { return };
    assert_eq!(exit, Some(7));
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].split(' ').any(|c| c == "memory"), "{out}");
    // IFF_UP is the lowest bit.
    assert!(lines[1].ends_with('9'), "{out}");
    assert_eq!(lines[2], "read-only");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_not_there_is_a_problem_not_a_status() {
    let Some(target) = target().await else { return };
    let argv = vec!["no-such-program".to_owned()];
    let end = target.run_command(argv, Duration::from_secs(60), &never()).await.expect("it delivers");
    assert_eq!(end.exit, None);
    assert!(end.problem.as_ref().is_some_and(|p| p.contains("no-such-program")), "{:?}", end.problem);
}

/// A guest of the sort that `kernel boot` starts, as a child of ours.
fn boot(kernel: &Path, script: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["kernel", "boot"]).arg(kernel).args(["--memory", "256MiB", "--", "/bin/sh", "-c", script]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_panic_in_mid_trial_is_told_with_the_kernels_words() {
    let Some(kernel) = kernel() else { return };
    let script = "echo before; echo c > /proc/sysrq-trigger; sleep 20";
    let output = boot(&kernel, script).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("sysrq-trigger") {
        eprintln!("skipped: the kernel has no sysrq");
        return;
    }
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("while the trial ran"), "{said}");
    assert!(said.contains("panic") || said.contains("sysrq triggered crash"), "{said}");
}

#[test]
fn no_guest_survives_its_killed_host() {
    let Some(kernel) = kernel() else { return };
    // The guest's number of seconds is its mark among this host's processes.
    let mark = format!("{}", 100_000 + std::process::id());
    let mut child = boot(&kernel, &format!("sleep {mark}")).spawn().expect("it starts");
    let guests = || processes_with(&format!("{}", kernel.display())).len();
    let before = Instant::now();
    while guests() == 0 {
        assert!(before.elapsed() < Duration::from_secs(30), "no guest appeared");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    let own = descendants(child.id());
    assert!(!own.is_empty(), "the guest is a descendant");
    child.kill().expect("killed");
    child.wait().expect("reaped");
    let killed = Instant::now();
    while own.iter().any(|pid| is_running(*pid)) {
        assert!(killed.elapsed() < Duration::from_secs(10), "guest processes survive: {own:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A small file system, for as long as the value lives.
struct SmallTmpfs(tempfile::TempDir);

impl SmallTmpfs {
    fn mount(size: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = format!("size={size}");
        let done =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "small"]).arg(folder.path()).status();
        assert!(done.expect("mount").success());
        SmallTmpfs(folder)
    }
}

impl Drop for SmallTmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
#[ignore = "needs root: mounts a small tmpfs"]
fn a_full_shared_folder_is_told_in_inits_words() {
    let Some(kernel) = kernel() else { return };
    let small = SmallTmpfs::mount("600k");
    let mut command = boot(&kernel, "yes 'a line that fills the folder' | head -c 2000000");
    let output = command.env("TMPDIR", small.0.path()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("while it delivered the results") && said.contains("No space left"), "{said}");
    let left = std::fs::read_dir(small.0.path()).expect("listed").count();
    assert_eq!(left, 0, "the exchange folder is gone");
}

/// Processes whose command line holds `text`.
fn processes_with(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("proc").flatten();
    let ids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    let named = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).split('\0').next() == Some(text))
    };
    ids.filter(named).collect()
}

/// All processes below `parent`, by the kernel's own account.
fn descendants(parent: u32) -> Vec<u32> {
    let text = |pid: u32| {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).map(|t| t.flatten().collect::<Vec<_>>());
        tasks
            .unwrap_or_default()
            .iter()
            .map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default())
            .collect::<String>()
    };
    let mut all = Vec::new();
    let mut pending = vec![parent];
    while let Some(pid) = pending.pop() {
        let children: Vec<u32> = text(pid).split_whitespace().filter_map(|w| w.parse().ok()).collect();
        pending.extend(&children);
        all.extend(children);
    }
    all
}

fn is_running(pid: u32) -> bool {
    // A process that waits to be reaped runs no more.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X'])))
}

/// Reads of a file through a memory cgroup, which any kernel with one can run.
const SHORT: &str = r#"
schema = 1
title = "A/A over a User-Mode Linux kernel"
[memcg]
limit = "32MiB"
[target]
kind = "uml"
memory = "512MiB"
[workload.file-read]
tasks = 1
size = "64MiB"
order = "random"
duration = "300ms"
[[arm]]
name = "a"
kernel = "KERNEL"
[[arm]]
name = "b"
role = "control"
kernel = "KERNEL"
[schedule]
blocks = 1
discard-first = false
[analysis]
primary = "file_read.ops_per_sec"
"#;

#[test]
#[ignore = "needs this host for itself: runs a campaign"]
fn a_short_campaign_of_equal_kernels_is_valid() {
    let Some(kernel) = kernel() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = folder.path().join("aa.toml");
    let text = SHORT.replace("KERNEL", &kernel.display().to_string());
    std::fs::write(&experiment, text).expect("written");
    let mut command = Command::new(PROGRAM);
    command.arg("run").arg(&experiment).args(["--name", "aa", "--results"]).arg(folder.path());
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let trials = std::fs::read_dir(folder.path().join("aa/trials")).map_or(0, Iterator::count);
    assert_eq!((trials, said.matches("valid, ").count()), (4, 4), "{said}");
}

/// The kernel named by `RUN_BENCH_UML`; Debian's has neither brd nor the swap that trials need.
async fn image_for_trials() -> KernelImage {
    let path = std::env::var_os("RUN_BENCH_UML").map(PathBuf::from).expect("RUN_BENCH_UML");
    KernelImage::read(&path).await.expect("a UML kernel")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RUN_BENCH_UML with brd built in, and memcached"]
async fn a_memcached_trial_is_valid_and_its_times_count() {
    let target = target_of(image_for_trials().await);
    let (_keep, folder) = guests::trial_folder();
    let spec = guests::first_trial(guests::MEMCACHED);
    let status = target.run_trial(&spec, &folder, &never()).await.expect("it runs");
    let record = folder.record().expect("a record");
    assert_eq!(status, TrialStatus::Valid, "{:?} {:?}", record.outcome, record.host_events);
    assert_eq!(record.functional_only, None);
    assert!(record.value("memcached.ops_per_sec").is_some_and(|ops| ops > 0.0));
    eprintln!("overhead {:?}", record.overhead);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RUN_BENCH_UML with brd built in, and memcached"]
async fn another_kernel_than_the_arms_makes_the_trial_invalid() {
    let image = KernelImage { build_id: Some("00".repeat(20)), ..image_for_trials().await };
    let (_keep, folder) = guests::trial_folder();
    let spec = guests::first_trial(guests::MEMCACHED);
    let status = target_of(image).run_trial(&spec, &folder, &never()).await.expect("it runs");
    assert_eq!(status, TrialStatus::Invalid);
    let outcome = folder.record().expect("a record").outcome;
    let TrialOutcome::Invalid { violations } = outcome else { panic!("{outcome:?}") };
    assert!(violations.iter().any(|v| v.rule == "kernel.identity"), "{violations:?}");
}
