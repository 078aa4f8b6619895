//! The cgroup interface against fake trees of each layout.

use std::path::Path;

use super::super::error::HostError;
use super::super::fake::{FakeLayout, FakeTree, Fault};
use super::super::session::{HostSession, SessionOptions};
use super::*;
use crate::units::Bytes;

fn fake(layout: FakeLayout) -> (tempfile::TempDir, FakeTree) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let tree = FakeTree::create(folder.path(), layout).expect("a tree");
    (folder, tree)
}

fn open(tree: &FakeTree) -> HostSession {
    let options = SessionOptions { folder: "/run/run-bench".into(), purpose: "cgroups".to_owned() };
    HostSession::open(tree.root(), options).expect("a session")
}

#[test]
fn layouts_are_found_from_the_mounts() {
    for (layout, name) in [(FakeLayout::V1, "v1"), (FakeLayout::V2, "v2"), (FakeLayout::Hybrid, "hybrid")] {
        let (_folder, tree) = fake(layout);
        let found = CgroupLayout::detect(&tree.root()).expect("a controller");
        assert_eq!(found.name(), name);
        assert_eq!(found.is_v2(), layout == FakeLayout::V2);
    }
    let (_folder, tree) = fake(FakeLayout::None);
    let error = CgroupLayout::detect(&tree.root()).expect_err("none");
    assert!(error.to_string().contains("disabled at boot"), "{error}");
}

#[test]
fn a_group_joins_its_twin_and_goes_without_trace() {
    for (layout, dirs) in [(FakeLayout::V1, 1), (FakeLayout::V2, 1), (FakeLayout::Hybrid, 2)] {
        let (_folder, tree) = fake(layout);
        let before = tree.snapshot();
        let mut session = open(&tree);
        let group = MemoryCgroup::create(&mut session, "server").expect("made");
        assert_eq!(group.join_dirs().len(), dirs);
        assert!(group.join_dirs().iter().all(|dir| dir.join("cgroup.procs").exists()));
        group.move_in(700_001).expect("moved");
        assert_eq!(group.pids().expect("listed"), [700_001]);
        group.kill().expect("killed");
        assert_eq!(group.pids().expect("listed"), Vec::<u32>::new());
        group.remove().expect("removed");
        assert!(session.undo().left.is_empty());
        assert_eq!(tree.differences(&before), Vec::<String>::new(), "{layout:?}");
    }
}

#[test]
fn v1_takes_both_limits_in_either_direction() {
    let (_folder, tree) = fake(FakeLayout::V1);
    let mut session = open(&tree);
    let group = MemoryCgroup::create(&mut session, "server").expect("made");
    let mib = |n| Limit::Bytes(Bytes::mib(n));
    for (memory, swap, both) in [
        (mib(100), mib(100), "209715200"),
        (mib(400), mib(0), "419430400"),
        (mib(10), mib(1000), "1059061760"),
        (mib(20), Limit::Max, "9223372036854771712"),
        (mib(5), mib(1), "6291456"),
        (Limit::Max, Limit::Max, "9223372036854771712"),
    ] {
        group.set_limits(memory, swap).expect("set");
        assert_eq!(group.limit().expect("read"), memory);
        let file = group.dir().join("memory.memsw.limit_in_bytes");
        assert_eq!(tree.root().value(file).as_deref(), Some(both));
    }
}

#[test]
fn limits_round_to_pages_and_what_does_not_stick_is_told() {
    let (_folder, tree) = fake(FakeLayout::V2);
    let mut session = open(&tree);
    let group = MemoryCgroup::create(&mut session, "server").expect("made");
    group.set_limits(Limit::Bytes(Bytes(1_000_000)), Limit::Bytes(Bytes(0))).expect("set");
    assert_eq!(group.limit().expect("read"), Limit::Bytes(Bytes(999_424)));
    group.set_high(Limit::Bytes(Bytes::mib(1))).expect("set");
    assert_eq!(group.swap_usage().expect("read"), Some(Bytes(0)));
    assert_eq!(group.events().expect("read").oom_kill, Some(0));
    assert_eq!(group.stat().expect("read").get("pgscan"), Some(0));
    assert_eq!(group.reclaim(Bytes::mib(1), Some(60)).expect("asked"), Reclaimed::All);
    let again = Fault {
        operation: "write",
        path: "memory.reclaim".to_owned(),
        errno: rustix::io::Errno::AGAIN,
        times: 1,
    };
    tree.kernel().inject(again);
    assert_eq!(group.reclaim(Bytes::mib(1), None).expect("asked"), Reclaimed::Partly);
}

#[test]
fn without_swap_accounting_a_swap_limit_is_refused() {
    for layout in [FakeLayout::V1, FakeLayout::V2] {
        let (_folder, tree) = fake(layout);
        tree.put("no-swap-accounting", "").expect("written");
        let mut session = open(&tree);
        let group = MemoryCgroup::create(&mut session, "server").expect("made");
        let memory = Limit::Bytes(Bytes::mib(4));
        group.set_limits(memory, Limit::Max).expect("no limit on swap is fine");
        let error = group.set_limits(memory, memory).expect_err("no accounting");
        assert!(error.to_string().contains("swapaccount=1"), "{error}");
    }
}

#[test]
fn v1_has_swappiness_of_its_own_and_no_reclaim() {
    let (_folder, tree) = fake(FakeLayout::Hybrid);
    let mut session = open(&tree);
    let group = MemoryCgroup::create(&mut session, "server").expect("made");
    assert_eq!(group.set_swappiness(&mut session, 100).expect("set"), SwappinessScope::Cgroup);
    assert_eq!(tree.text("proc/sys/vm/swappiness"), "60\n");
    let error = group.reclaim(Bytes::mib(1), None).expect_err("v1");
    assert!(matches!(error, HostError::Unsupported { .. }), "{error}");
    assert_eq!(group.events().expect("read").failcnt, Some(0));
    assert_eq!(group.events().expect("read").oom, None, "absent, not zero");
    assert_eq!(group.peak().expect("read"), Some(Bytes(0)));
    assert_eq!(group.usage().expect("read"), Bytes(0));
}

/// A v2 group that is not the root and holds the tool itself.
fn nested(tree: &FakeTree, members: &str) {
    let folder = "sys/fs/cgroup/user.slice";
    for (file, text) in [
        ("cgroup.type", "domain\n"),
        ("cgroup.procs", members),
        ("cgroup.controllers", "memory\n"),
        ("cgroup.subtree_control", ""),
    ] {
        tree.put(&format!("{folder}/{file}"), text).expect("written");
    }
    tree.put("proc/self/cgroup", "0::/user.slice\n").expect("written");
    // The root of the tree belongs to somebody else.
    tree.remove("sys/fs/cgroup/cgroup.procs").expect("removed");
}

#[test]
fn the_tool_steps_aside_into_a_leaf_and_back() {
    let (_folder, tree) = fake(FakeLayout::V2);
    let own = std::process::id();
    nested(&tree, &format!("{own}\n"));
    let before = tree.snapshot();
    let mut session = open(&tree);
    let group = MemoryCgroup::create(&mut session, "server").expect("made");
    assert!(group.dir().starts_with("/sys/fs/cgroup/user.slice"));
    assert_eq!(tree.text("sys/fs/cgroup/user.slice/cgroup.procs"), "");
    assert_eq!(tree.text("sys/fs/cgroup/user.slice/cgroup.subtree_control"), "memory\n");
    assert!(session.undo().left.is_empty());
    assert_eq!(tree.differences(&before), Vec::<String>::new());
}

#[test]
fn foreign_processes_in_our_group_are_not_moved() {
    let (_folder, tree) = fake(FakeLayout::V2);
    nested(&tree, "700002\n");
    let mut session = open(&tree);
    let error = MemoryCgroup::create(&mut session, "server").expect_err("internal processes");
    assert!(error.to_string().contains("700002") && error.to_string().contains("Delegate=yes"), "{error}");
}

#[test]
fn no_right_to_write_names_the_scope_to_start_in() {
    let (_folder, tree) = fake(FakeLayout::V2);
    nested(&tree, "");
    tree.remove("sys/fs/cgroup/user.slice/cgroup.procs").expect("removed");
    tree.put("run/systemd/system/x", "").expect("written");
    let layout = CgroupLayout::detect(&tree.root()).expect("v2");
    let found = delegation(&tree.root(), &layout).expect("looked");
    assert!(matches!(&found, Delegation::NeedsScope { prefix } if prefix[0] == "systemd-run"), "{found:?}");
    let error = MemoryCgroup::create(&mut open(&tree), "server").expect_err("not ours");
    assert!(error.to_string().contains("systemd-run --user --scope"), "{error}");
    let text = tree.text("proc/self/mountinfo").replace("cgroup2 rw", "cgroup2 ro");
    tree.put("proc/self/mountinfo", &text).expect("written");
    let error = MemoryCgroup::create(&mut open(&tree), "server").expect_err("read-only");
    assert!(error.to_string().contains("read-only"), "{error}");
}

#[test]
fn a_busy_folder_is_tried_again_and_then_given_up() {
    let (_folder, tree) = fake(FakeLayout::V2);
    let mut session = open(&tree);
    let fault = |times| Fault {
        operation: "remove_dir",
        path: "run-bench-".to_owned(),
        errno: rustix::io::Errno::BUSY,
        times,
    };
    let group = MemoryCgroup::create(&mut session, "server").expect("made");
    tree.kernel().inject(fault(5));
    group.remove().expect("after five tries");
    let group = MemoryCgroup::create(&mut session, "client").expect("made");
    tree.kernel().inject(fault(u32::MAX));
    let error = group.remove().expect_err("for ever");
    assert!(matches!(error, HostError::Busy { .. }), "{error}");
    assert_eq!(session.undo().left.len(), 1, "the host stays marked");
}

#[test]
fn names_cannot_leave_the_tree() {
    let (_folder, tree) = fake(FakeLayout::V2);
    for name in ["", "../x", "a/b", "a b", ".."] {
        let result = MemoryCgroup::create(&mut open(&tree), name);
        assert!(matches!(result, Err(HostError::Refused { .. })), "{name:?}");
    }
    assert!(!super::is_own_cgroup(Path::new("/sys/fs/cgroup/run-bench-other-x"), "abcd"));
    assert!(super::is_own_cgroup(Path::new("/sys/fs/cgroup/run-bench-abcd-x"), "abcd"));
}
