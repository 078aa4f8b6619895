//! The real host, as root: every step as a crash point of a process that is
//! really killed, then clean, then the host compared with what it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::cgroup::{CgroupLayout, Limit, MemoryCgroup};
use super::crash::{CrashMode, CrashPoint};
use super::doctor::DoctorReport;
use super::error::HostError;
use super::facts::HostFacts;
use super::journal::recover_all;
use super::knob::Knob;
use super::probe::Abilities;
use super::ramdisk::{RamdiskChoice, RamdiskFilesystem};
use super::reader::{mounts, swaps};
use super::root::SysRoot;
use super::session::{HostSession, SessionOptions};
use super::swap::{RamdiskSwap, SwapRequest};
use crate::units::Bytes;

const CRASH_AT: &str = "RUN_BENCH_TEST_CRASH_AT";
const FOLDER: &str = "RUN_BENCH_TEST_FOLDER";

fn options(folder: &Path) -> SessionOptions {
    SessionOptions { folder: folder.to_owned(), purpose: "test of the real host".to_owned() }
}

/// Swaps, mounts, block devices, our cgroups and the settings that are touched.
fn host_state(root: &SysRoot) -> BTreeMap<String, String> {
    let mut state = BTreeMap::new();
    for swap in swaps(root).expect("swaps") {
        state.insert(format!("swap {}", swap.path.display()), format!("{} {}", swap.size, swap.priority));
    }
    for mount in mounts(root).expect("mounts") {
        state.insert(format!("mount {}", mount.target.display()), mount.filesystem);
    }
    for name in root.names("/sys/block") {
        let size = root.value(format!("/sys/block/{name}/size")).unwrap_or_default();
        let backing = root.value(format!("/sys/block/{name}/loop/backing_file")).unwrap_or_default();
        state.insert(format!("block {name}"), format!("{size} {backing}"));
    }
    let layout = CgroupLayout::detect(root).expect("a controller");
    for tree in std::iter::once(layout.memory_mount()).chain(layout.unified.as_deref()) {
        for name in root.folder_names(tree).into_iter().filter(|name| name.starts_with("run-bench-")) {
            state.insert(format!("cgroup {}", tree.join(name).display()), String::new());
        }
    }
    for file in [
        "/proc/sys/vm/swappiness",
        "/proc/sys/vm/page-cluster",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/mm/lru_gen/enabled",
    ] {
        state.insert(file.to_owned(), root.value(file).unwrap_or_default());
    }
    state
}

/// What a trial does, on the real host, in small.
fn scenario(root: SysRoot, folder: &Path) -> Result<(), HostError> {
    let mut session = HostSession::open(root, options(folder))?;
    let zram = RamdiskChoice::Zram { algorithm: None };
    RamdiskSwap::enable(&mut session, &SwapRequest { choice: zram.clone(), size: Bytes::mib(32) })?;
    let plain = SwapRequest { choice: RamdiskChoice::Plain, size: Bytes::mib(16) };
    let swap = RamdiskSwap::enable(&mut session, &plain)?;
    assert!(swap.priority > 1000 && swap.used(session.root())? == Bytes(0), "{swap:?}");
    let files = RamdiskFilesystem::create(&mut session, &zram, Bytes::mib(16))?;
    fs::write(files.mount_point().join("data"), [7; 4096]).expect("written");
    let group = MemoryCgroup::create(&mut session, "server")?;
    group.set_limits(Limit::Bytes(Bytes::mib(64)), Limit::Bytes(Bytes::mib(32)))?;
    for knob in [
        Knob::Sysctl { name: "vm.page-cluster".to_owned(), value: "1".to_owned() },
        Knob::Sysctl { name: "vm.swappiness".to_owned(), value: "61".to_owned() },
        Knob::TransparentHugepage { mode: "never".to_owned() },
    ] {
        knob.set(&mut session)?;
    }
    // Killed between its start and its joining, the tool leaves it to end by itself.
    let mut sleeper = Command::new("sleep")
        .arg("30")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sleeps");
    let joined = group.move_in(sleeper.id());
    let listed = group.pids();
    let report = session.undo();
    let ended = sleeper.wait().expect("ended");
    joined?;
    assert_eq!(listed?, [sleeper.id()]);
    assert!(report.left.is_empty() && report.foreign.is_empty(), "{report:?}");
    assert!(!ended.success(), "killed with its group");
    Ok(())
}

#[test]
#[ignore = "needs root: the killed half of the crash test; does nothing by itself"]
fn crashing_child() {
    let (Ok(step), Ok(folder)) = (std::env::var(CRASH_AT), std::env::var(FOLDER)) else { return };
    let step = step.parse().expect("a step");
    let root = SysRoot::host().with_crash_point(Arc::new(CrashPoint::at(step, CrashMode::Kill)));
    scenario(root, Path::new(&folder)).expect("the scenario, unless killed");
}

#[test]
#[ignore = "needs root: makes zram, loop, swap, mounts and cgroups, killed at every step"]
fn sigkill_at_any_step_is_undone_on_the_real_host() {
    let root = SysRoot::host();
    let before = host_state(&root);
    let folder = PathBuf::from(format!("/run/run-bench-test-{}", std::process::id()));
    let own = std::env::current_exe().expect("this test");
    let mut steps = 0;
    for step in 0..1000 {
        let status = Command::new(&own)
            .args(["--exact", "host::real_tests::crashing_child", "--ignored"])
            .env(CRASH_AT, step.to_string())
            .env(FOLDER, &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("the child runs");
        let report = recover_all(&root, &folder).expect("cleans");
        assert!(report.is_clean(), "killed at step {step}: {report:?}");
        assert!(report.journals.iter().all(|j| j.undo.foreign.is_empty()), "step {step}: {report:?}");
        assert_eq!(host_state(&root), before, "killed at step {step}");
        steps = step;
        if status.success() {
            break;
        }
    }
    fs::remove_dir_all(&folder).expect("only the lock is left");
    println!("steps killed and undone: {steps}");
    assert!(steps > 90, "only {steps} steps");
}

#[test]
#[ignore = "needs root: tries zram, brd, loop, noswap tmpfs and cgroups"]
fn probing_the_real_host_changes_nothing() {
    let root = SysRoot::host();
    let before = host_state(&root);
    let folder = PathBuf::from(format!("/run/run-bench-probe-{}", std::process::id()));
    let abilities = Abilities::probe(&root, &folder);
    assert_eq!(host_state(&root), before);
    assert!(abilities.memory_limit.works(), "{abilities:?}");
    let report = DoctorReport::new(&HostFacts::gather(&root, Path::new("/tmp")), &abilities);
    for line in &report.lines {
        println!("{:?} {}: {} {:?}", line.state, line.subject, line.seen, line.remedy);
    }
    fs::remove_dir_all(&folder).expect("only the lock is left");
}

#[test]
fn an_ordinary_user_is_told_what_was_not_tried() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let root = SysRoot::host();
    let before = host_state(&root);
    let folder = tempfile::tempdir().expect("a folder");
    let abilities = Abilities::probe(&root, &folder.path().join("journal"));
    assert_eq!(host_state(&root), before);
    for needs_root in [&abilities.zram, &abilities.noswap_tmpfs] {
        assert!(!needs_root.works(), "{abilities:?}");
    }
    println!("{abilities:#?}");
}

#[test]
#[ignore = "needs root: swaps a limited process out to a zram of ours"]
fn pages_go_to_our_swap_and_the_group_dies_at_once() {
    let root = SysRoot::host();
    let before = host_state(&root);
    let folder = PathBuf::from(format!("/run/run-bench-swap-{}", std::process::id()));
    let mut session = HostSession::open(root.clone(), options(&folder)).expect("opens");
    let choice = RamdiskChoice::Zram { algorithm: None };
    let request = SwapRequest { choice, size: Bytes::mib(128) };
    let swap = RamdiskSwap::enable(&mut session, &request).expect("swap");
    let group = MemoryCgroup::create(&mut session, "eater").expect("a group");
    group.set_limits(Limit::Bytes(Bytes::mib(16)), Limit::Max).expect("limits");
    let earlier = swaps(&root).expect("swaps");
    // 48 MiB of zeros read into one buffer: tail keeps what has no line end.
    let mut eater = Command::new("tail")
        .args(["-c", "48M"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("tail runs");
    group.move_in(eater.id()).expect("joins");
    let mut input = eater.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, &vec![0; 48 << 20]).expect("eaten");
    let later = swaps(&root).expect("swaps");
    assert!(swap.used(&root).expect("used") > Bytes::mib(8), "{later:?}");
    assert_eq!(swap.grown_elsewhere(&earlier, &later), Vec::new());
    assert!(group.stat().expect("stat").len() > 10);
    group.kill().expect("killed");
    assert!(!eater.wait().expect("waited").success());
    group.remove().expect("removed");
    let report = session.undo();
    assert!(report.left.is_empty(), "{report:?}");
    drop(session);
    assert_eq!(host_state(&root), before);
    fs::remove_dir_all(&folder).expect("only the lock is left");
}
