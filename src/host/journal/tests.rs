//! The journal against a fake host: every step as a crash point, torn lines,
//! other boots, live owners, locks, and things that are not ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::cgroup::{Limit, MemoryCgroup};
use super::super::crash::{CrashMode, CrashPoint};
use super::super::error::HostError;
use super::super::fake::{FakeLayout, FakeTree, Fault};
use super::super::knob::Knob;
use super::super::ramdisk::{RamdiskChoice, RamdiskFilesystem};
use super::super::root::SysRoot;
use super::super::session::{HostSession, SessionOptions};
use super::super::swap::{RamdiskSwap, SwapRequest};
use super::*;
use crate::units::Bytes;

const FOLDER: &str = "/run/run-bench";
const WORKER: u32 = 500_001;

fn options() -> SessionOptions {
    SessionOptions { folder: FOLDER.into(), purpose: "test".to_owned() }
}

fn tree(layout: FakeLayout) -> (tempfile::TempDir, FakeTree) {
    // In memory, since each line of a journal is synced.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let tree = FakeTree::create(folder.path(), layout).expect("a tree");
    (folder, tree)
}

/// Everything a trial does to a host, and its orderly end.
fn scenario(tree: &FakeTree, root: SysRoot, owner: Owner) -> Result<(), HostError> {
    let mut session = HostSession::open_as(root, options(), owner)?;
    let zram = RamdiskChoice::Zram { algorithm: Some("lz4".to_owned()) };
    let size = Bytes::mib(64);
    RamdiskSwap::enable(&mut session, &SwapRequest { choice: zram, size })?;
    RamdiskSwap::enable(&mut session, &SwapRequest { choice: RamdiskChoice::Plain, size: Bytes::mib(1) })?;
    RamdiskFilesystem::create(&mut session, &RamdiskChoice::LoopTmpfs, Bytes::mib(1))?;
    let group = MemoryCgroup::create(&mut session, "server")?;
    group.set_limits(Limit::Bytes(Bytes::mib(64)), Limit::Max)?;
    group.set_swappiness(&mut session, 10)?;
    tree.put_process(WORKER, 7).expect("a process");
    group.move_in(WORKER)?;
    for knob in [
        Knob::Sysctl { name: "vm.page-cluster".to_owned(), value: "0".to_owned() },
        Knob::LruGenEnabled { mask: 0 },
        Knob::TransparentHugepage { mode: "never".to_owned() },
        Knob::Governor { name: "performance".to_owned() },
    ] {
        knob.set(&mut session)?;
    }
    let report = session.undo();
    assert!(report.left.is_empty() || session.root().crash().stopped(), "{report:?}");
    Ok(())
}

fn steps(layout: FakeLayout, brd: bool) -> Vec<String> {
    let (_folder, tree) = tree(layout);
    prepare(&tree, brd);
    let before = tree.snapshot();
    let crash = Arc::new(CrashPoint::counting());
    scenario(&tree, tree.root().with_crash_point(crash.clone()), tree.dead_owner()).expect("no crash");
    fs::remove_dir_all(tree.root().path(format!("/proc/{WORKER}"))).ok();
    assert_eq!(tree.differences(&before), Vec::<String>::new(), "an orderly end restores the host");
    assert_eq!(journals(&tree), Vec::<PathBuf>::new());
    crash.steps()
}

fn prepare(tree: &FakeTree, brd: bool) {
    if brd {
        tree.put("brd-module", "").expect("a module");
    }
}

fn journals(tree: &FakeTree) -> Vec<PathBuf> {
    super::file::journal_paths(&tree.root().path(FOLDER))
}

fn crash_everywhere(layout: FakeLayout, brd: bool) -> usize {
    let steps = steps(layout, brd);
    for (number, name) in steps.iter().enumerate() {
        // Only a line of the journal can be torn.
        let torn = name.starts_with("journal {").then_some(CrashMode::Torn);
        for mode in [CrashMode::Refuse].into_iter().chain(torn) {
            let (_folder, tree) = tree(layout);
            prepare(&tree, brd);
            let before = tree.snapshot();
            let crash = Arc::new(CrashPoint::at(number as u64, mode));
            // Undo reports the crash instead of failing, so the result does not matter.
            let _ = scenario(&tree, tree.root().with_crash_point(crash.clone()), tree.dead_owner());
            assert!(crash.stopped(), "step {number} ({name}) was not reached");
            let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("recovers");
            assert!(report.is_clean(), "crash at {number} ({name}), {mode:?}: {report:?}");
            fs::remove_dir_all(tree.root().path(format!("/proc/{WORKER}"))).ok();
            assert_eq!(
                tree.differences(&before),
                Vec::<String>::new(),
                "crash at {number} ({name}), {mode:?}"
            );
            assert_eq!(journals(&tree), Vec::<PathBuf>::new(), "crash at {number} ({name})");
        }
    }
    println!("{layout:?}: {} steps", steps.len());
    steps.len()
}

#[test]
fn a_crash_at_any_step_is_undone_on_v1() {
    assert!(crash_everywhere(FakeLayout::V1, false) > 90);
}

#[test]
fn a_crash_at_any_step_is_undone_on_v2() {
    assert!(crash_everywhere(FakeLayout::V2, false) > 90);
}

#[test]
fn a_crash_at_any_step_is_undone_on_hybrid_with_brd() {
    assert!(crash_everywhere(FakeLayout::Hybrid, true) > 90);
}

#[test]
fn a_crash_during_clean_is_undone_by_the_next_clean() {
    let before_undo = steps(FakeLayout::Hybrid, false).len() as u64 / 2;
    for number in 0.. {
        let (_folder, tree) = tree(FakeLayout::Hybrid);
        let before = tree.snapshot();
        let crash = Arc::new(CrashPoint::at(before_undo, CrashMode::Refuse));
        let _ = scenario(&tree, tree.root().with_crash_point(crash), tree.dead_owner());
        let second = Arc::new(CrashPoint::at(number, CrashMode::Torn));
        let interrupted = tree.root().with_crash_point(second.clone());
        let _ = recover_all(&interrupted, Path::new(FOLDER));
        let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("recovers");
        assert!(report.is_clean(), "clean crashed at {number}: {report:?}");
        assert_eq!(tree.differences(&before), Vec::<String>::new(), "clean crashed at {number}");
        if !second.stopped() {
            assert!(number > 10, "only {number} steps of clean");
            break;
        }
    }
}

/// A journal left in the middle of the scenario, its process dead.
fn leave_half(tree: &FakeTree) {
    let crash = Arc::new(CrashPoint::at(40, CrashMode::Refuse));
    let _ = scenario(tree, tree.root().with_crash_point(crash), tree.dead_owner());
    assert_eq!(journals(tree).len(), 1);
}

#[test]
fn a_live_owner_is_left_alone_and_a_reused_pid_is_not_it() {
    let (_folder, tree) = tree(FakeLayout::V2);
    leave_half(&tree);
    let owner = tree.dead_owner();
    tree.put_process(owner.pid, owner.start_time).expect("alive");
    let during = tree.snapshot();
    let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("looks");
    assert_eq!((report.alive, report.journals.len()), (vec![owner.clone()], 0));
    assert_eq!(tree.differences(&during), Vec::<String>::new(), "nothing of a live run is touched");
    tree.put_process(owner.pid, owner.start_time + 1).expect("another process");
    let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("recovers");
    assert_eq!((report.alive.len(), report.journals.len()), (0, 1));
    assert!(report.is_clean());
}

#[test]
fn after_another_boot_only_files_are_removed() {
    let (_folder, tree) = tree(FakeLayout::V2);
    leave_half(&tree);
    tree.put("proc/sys/kernel/random/boot_id", "another").expect("rebooted");
    let during = tree.snapshot();
    let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("recovers");
    assert!(report.is_clean());
    assert!(report.journals[0].undo.undone.iter().all(Change::is_persistent), "{report:?}");
    assert_eq!(tree.differences(&during), Vec::<String>::new(), "names of an earlier boot mean nothing now");
}

#[test]
fn a_session_puts_right_what_a_dead_one_left() {
    let (_folder, tree) = tree(FakeLayout::V2);
    let before = tree.snapshot();
    leave_half(&tree);
    let session = HostSession::open(tree.root(), options()).expect("opens");
    assert_eq!(session.recovery().journals.len(), 1);
    assert_eq!(tree.differences(&before), Vec::<String>::new());
}

#[test]
fn what_cannot_be_undone_blocks_the_next_run_until_it_can() {
    let (_folder, tree) = tree(FakeLayout::V2);
    let before = tree.snapshot();
    leave_half(&tree);
    let fault =
        Fault { operation: "swapoff", path: "zram1".to_owned(), errno: rustix::io::Errno::NOMEM, times: 1 };
    tree.kernel().inject(fault);
    let error = HostSession::open(tree.root(), options()).expect_err("dirty");
    assert!(error.to_string().contains("swap on /dev/zram1"), "{error}");
    assert!(tree.text("proc/swaps").contains("/dev/zram0"), "foreign swap stays");
    let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("recovers");
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(tree.differences(&before), Vec::<String>::new());
}

#[test]
fn the_lock_names_its_holder() {
    let (_folder, tree) = tree(FakeLayout::V2);
    let _held = HostSession::open(tree.root(), options()).expect("opens");
    let own = format!("process {} (test)", std::process::id());
    for error in [
        HostSession::open(tree.root(), options()).map(|_| ()).expect_err("held"),
        recover_all(&tree.root(), Path::new(FOLDER)).map(|_| ()).expect_err("held"),
    ] {
        assert!(error.to_string().contains(&own), "{error}");
    }
}

#[test]
fn a_device_of_the_same_name_is_not_ours() {
    let (_folder, tree) = tree(FakeLayout::V2);
    leave_half(&tree);
    // Somebody removed our swap and made devices of their own in its place.
    let text = tree.text("proc/swaps").replace("1000", "5");
    tree.put("proc/swaps", &text).expect("written");
    tree.put("sys/block/zram1/diskseq", "77\n").expect("written");
    let during = tree.text("proc/swaps");
    let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("recovers");
    assert!(report.is_clean(), "{report:?}");
    assert!(report.journals[0].undo.foreign.len() >= 2, "{report:?}");
    assert!(tree.text("proc/swaps").contains("/dev/zram1"), "{during}");
}

#[test]
fn a_name_taken_by_somebody_else_is_not_removed() {
    let (_folder, tree) = tree(FakeLayout::V2);
    let mut session = HostSession::open(tree.root(), options()).expect("opens");
    let name = format!("sys/fs/cgroup/run-bench-{}-server", session.nonce().expect("a mark"));
    tree.put(&format!("{name}/cgroup.procs"), "").expect("a foreign group");
    let error = MemoryCgroup::create(&mut session, "server").expect_err("taken");
    assert_eq!(error.errno(), Some(rustix::io::Errno::EXIST.raw_os_error()), "{error}");
    assert!(session.undo().left.is_empty());
    assert!(tree.root().exists(format!("/{name}")));
}

#[test]
fn damaged_and_newer_journals_are_told_and_kept() {
    let (_folder, tree) = tree(FakeLayout::V2);
    leave_half(&tree);
    let path = journals(&tree).remove(0);
    let text = fs::read_to_string(&path).expect("a journal");
    let damaged: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, l)| if i == 3 { "{\"ch".to_owned() } else { l.to_owned() })
        .collect();
    fs::write(&path, damaged.join("\n")).expect("written");
    let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("looks");
    assert!(!report.is_clean());
    let newer = text.replacen("\"schema\":1", "\"schema\":99", 1);
    fs::write(&path, &newer).expect("written");
    let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("looks");
    assert!(report.unreadable[0].contains("schema 99"), "{report:?}");
    assert_eq!(fs::read_to_string(&path).expect("kept"), newer);
}

#[test]
fn a_folder_that_others_may_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, tree) = tree(FakeLayout::V2);
    let folder = tree.root().path(FOLDER);
    fs::create_dir_all(&folder).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("opened");
    let error = HostSession::open(tree.root(), options()).expect_err("unsafe");
    assert!(error.to_string().contains("chmod 700"), "{error}");
}

#[test]
fn values_are_compared_by_meaning() {
    for (left, right) in [
        ("always [madvise] never\n", "madvise"),
        ("0x0007", "7"),
        ("4096\t87380 6291456\n", "4096 87380 6291456"),
        ("Y", "1"),
        ("schedutil\n", "schedutil"),
    ] {
        assert!(same_value(left, right), "{left:?} {right:?}");
    }
    assert!(!same_value("always [madvise] never", "never"));
    assert!(!same_value("10", "100"));
}
