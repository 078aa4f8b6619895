//! Ramdisks and swap on a fake host whose kernel, udev or users get in the way.

use std::path::Path;

use rustix::io::Errno;

use super::super::error::HostError;
use super::super::fake::{FakeLayout, FakeTree, Fault};
use super::super::journal::recover_all;
use super::super::session::{HostSession, SessionOptions};
use super::super::swap::{RamdiskSwap, SwapRequest};
use super::*;

const FOLDER: &str = "/run/run-bench";

fn fake() -> (tempfile::TempDir, FakeTree) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let tree = FakeTree::create(folder.path(), FakeLayout::V2).expect("a tree");
    (folder, tree)
}

fn open(tree: &FakeTree) -> HostSession {
    let options = SessionOptions { folder: FOLDER.into(), purpose: "ramdisks".to_owned() };
    HostSession::open(tree.root(), options).expect("a session")
}

fn zram(algorithm: Option<&str>) -> RamdiskChoice {
    RamdiskChoice::Zram { algorithm: algorithm.map(str::to_owned) }
}

fn swap(session: &mut HostSession, choice: RamdiskChoice) -> Result<RamdiskSwap, HostError> {
    RamdiskSwap::enable(session, &SwapRequest { choice, size: Bytes::mib(1) })
}

#[test]
fn udev_may_hold_a_new_zram_for_a_while() {
    let (_folder, tree) = fake();
    let before = tree.snapshot();
    let mut session = open(&tree);
    for (path, times) in [("zram1/disksize", 3), ("zram1/reset", 4), ("hot_remove", 5)] {
        tree.kernel().inject(Fault { operation: "write", path: path.to_owned(), errno: Errno::BUSY, times });
    }
    let made = swap(&mut session, zram(None)).expect("after three tries");
    assert_eq!((made.device.as_path(), made.priority), (Path::new("/dev/zram1"), 1000));
    assert_eq!((made.kind, made.synchronous, made.compresses), (RamdiskKind::Zram, true, true));
    assert_eq!((made.algorithm.as_deref(), made.foreign.len()), (Some("lzo-rle"), 1));
    assert!(session.undo().left.is_empty());
    assert_eq!(tree.differences(&before), Vec::<String>::new());
}

#[test]
fn a_refused_algorithm_stops_before_there_is_swap() {
    let (_folder, tree) = fake();
    let before = tree.snapshot();
    let mut session = open(&tree);
    let error = swap(&mut session, zram(Some("deflate"))).expect_err("not built");
    assert!(error.to_string().contains("lzo-rle lz4 zstd"), "{error}");
    assert!(!tree.kernel().commands().iter().any(|command| command.starts_with("mkswap")));
    session.undo();
    assert_eq!(tree.differences(&before), Vec::<String>::new());
}

#[test]
fn a_device_that_is_busy_for_ever_is_an_error_and_no_swap() {
    let (_folder, tree) = fake();
    let mut session = open(&tree);
    let busy = Fault { operation: "write", path: "disksize".to_owned(), errno: Errno::BUSY, times: u32::MAX };
    tree.kernel().inject(busy);
    let error = swap(&mut session, zram(None)).expect_err("busy");
    assert!(matches!(error, HostError::Busy { tries: BUSY_TRIES, .. }), "{error}");
    assert!(session.undo().left.is_empty());
    assert_eq!(tree.text("sys/block/zram0/disksize"), "1073741824\n", "foreign zram0 is untouched");
}

#[test]
fn ours_is_used_before_foreign_swap_or_not_at_all() {
    for (foreign, expected) in [(-2, Some(1000)), (5000, Some(5001)), (32_767, None)] {
        let (_folder, tree) = fake();
        let text = format!("Filename Type Size Used Priority\n/dev/sda2 partition 1024 512 {foreign}\n");
        tree.put("proc/swaps", &text).expect("written");
        let result = swap(&mut open(&tree), zram(None));
        assert_eq!(result.as_ref().ok().map(|swap| swap.priority), expected, "{result:?}");
        assert_eq!(tree.text("proc/swaps"), text, "the session is over");
    }
}

#[test]
fn growth_of_other_swap_is_seen() {
    let (_folder, tree) = fake();
    let mut session = open(&tree);
    let made = swap(&mut session, zram(None)).expect("made");
    let before = swaps(&tree.root()).expect("swaps");
    let grown = tree.text("proc/swaps").replace("1048576 0 100", "1048576 64 100");
    tree.put("proc/swaps", &grown).expect("written");
    let after = swaps(&tree.root()).expect("swaps");
    assert_eq!(made.grown_elsewhere(&before, &after), [("/dev/zram0".into(), Bytes::kib(64))]);
    assert_eq!(made.used(&tree.root()).expect("used"), Bytes(0));
}

#[test]
fn loop_is_never_made_without_noswap() {
    let (_folder, tree) = fake();
    let before = tree.snapshot();
    tree.put("noswap-ignored", "").expect("written");
    let mut session = open(&tree);
    let error = swap(&mut session, RamdiskChoice::LoopTmpfs).expect_err("would hang the host");
    assert!(error.to_string().contains("does not say noswap"), "{error}");
    assert!(tree.kernel().commands().is_empty(), "neither losetup nor mkswap ran");
    session.undo();
    tree.remove("noswap-ignored").expect("removed");
    assert_eq!(tree.differences(&before), Vec::<String>::new());
}

#[test]
fn plain_means_brd_then_loop_and_names_both_reasons() {
    let (_folder, tree) = fake();
    let mut session = open(&tree);
    let made = swap(&mut session, RamdiskChoice::Plain).expect("loop");
    assert_eq!((made.kind, made.synchronous), (RamdiskKind::LoopTmpfs, false));
    session.undo();
    tree.put("brd-module", "").expect("written");
    let made = swap(&mut session, RamdiskChoice::Plain).expect("brd");
    assert_eq!((made.kind, made.synchronous, made.compresses), (RamdiskKind::Brd, true, false));
    session.undo();
    tree.remove("brd-module").expect("removed");
    let fault = Fault { operation: "mount", path: String::new(), errno: Errno::INVAL, times: u32::MAX };
    tree.kernel().inject(fault);
    let error = swap(&mut session, RamdiskChoice::Plain).expect_err("neither");
    let text = error.to_string();
    assert!(text.contains("brd:") && text.contains("noswap tmpfs:") && text.contains("zram"), "{text}");
}

/// A ramdisk that was there before us, of `kib` and with `content`.
fn put_ram0(tree: &FakeTree, kib: u64, content: &str) {
    tree.put("sys/block/ram0/size", &format!("{}\n", kib * 2)).expect("put");
    tree.put("sys/block/ram0/diskseq", "9\n").expect("put");
    tree.put("dev/ram0", content).expect("put");
}

#[test]
fn a_ramdisk_that_was_there_is_used_only_if_blank_free_and_of_the_size() {
    for (kib, content, in_swap, reason) in [
        (4096, "", false, "4MiB, 1MiB are needed"),
        (1024, "precious", false, "it holds data"),
        (1024, "", true, "it is active swap"),
    ] {
        let (_folder, tree) = fake();
        put_ram0(&tree, kib, content);
        if in_swap {
            tree.put("proc/swaps", "Filename\n/dev/ram0 partition 1020 0 3\n").expect("put");
        }
        let before = tree.snapshot();
        let error = swap(&mut open(&tree), RamdiskChoice::Brd).expect_err(reason);
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(tree.differences(&before), Vec::<String>::new());
    }
    let (_folder, tree) = fake();
    put_ram0(&tree, 1024, "");
    let before = tree.snapshot();
    let mut session = open(&tree);
    swap(&mut session, RamdiskChoice::Brd).expect("used");
    assert_eq!(tree.text("dev/ram0"), "SWAPSPACE2");
    assert!(session.undo().left.is_empty());
    assert_eq!(tree.differences(&before), Vec::<String>::new(), "blank again");
}

#[test]
fn a_ramdisk_larger_than_memory_is_refused_with_the_sum() {
    let (_folder, tree) = fake();
    let mut session = open(&tree);
    let error = Ramdisk::create(&mut session, &RamdiskChoice::Plain, Bytes::gib(9)).expect_err("too large");
    assert!(error.to_string().contains("9GiB") && error.to_string().contains("8GiB"), "{error}");
}

#[test]
fn of_two_possible_orphans_neither_is_removed() {
    let (_folder, tree) = fake();
    let now = tree.root().identity(Path::new("/dev/zram0")).expect("a node").changed;
    for id in [1, 2] {
        tree.put(&format!("sys/block/zram{id}/disksize"), "0\n").expect("put");
        tree.put(&format!("dev/zram{id}"), "").expect("put");
    }
    let error = remove_orphan_zram(&tree.root(), &[0], now).expect_err("which?");
    assert!(matches!(error, HostError::Refused { .. }), "{error}");
    assert!(!remove_orphan_zram(&tree.root(), &[0, 1, 2], now).expect("none is new"));
    assert!(!remove_orphan_zram(&tree.root(), &[0], now - 60).expect("appeared much later"));
    assert!(remove_orphan_zram(&tree.root(), &[0, 2], now).expect("one is"));
    assert!(!tree.root().exists("/sys/block/zram1"));
}

#[test]
fn a_swapoff_that_fails_leaves_the_host_marked() {
    let (_folder, tree) = fake();
    let before = tree.snapshot();
    let mut session = open(&tree);
    swap(&mut session, zram(None)).expect("made");
    let fault = Fault { operation: "swapoff", path: String::new(), errno: Errno::NOMEM, times: 1 };
    tree.kernel().inject(fault);
    let report = session.undo();
    assert_eq!(report.left.len(), 2, "the swap, and the device below it: {report:?}");
    drop(session);
    let report = recover_all(&tree.root(), Path::new(FOLDER)).expect("recovers");
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(tree.differences(&before), Vec::<String>::new());
}
