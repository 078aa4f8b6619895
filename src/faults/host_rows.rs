//! Rows 1 to 7: cgroups, ramdisks and swap, on fake hosts.

use rustix::io::Errno;

use super::seen::{FOLDER, Injected, Seen, fake, session};
use crate::host::cgroup::{CgroupLayout, Limit, MemoryCgroup};
use crate::host::fake::{FakeLayout, FakeTree, Fault};
use crate::host::journal::recover_all;
use crate::host::ramdisk::RamdiskChoice;
use crate::host::swap::{RamdiskSwap, SwapRequest};
use crate::units::Bytes;

pub(super) fn fault(operation: &'static str, path: &str, errno: Errno, times: u32) -> Fault {
    Fault { operation, path: path.to_owned(), errno, times }
}

pub(super) fn zram(algorithm: Option<&str>) -> SwapRequest {
    let choice = RamdiskChoice::Zram { algorithm: algorithm.map(str::to_owned) };
    SwapRequest { choice, size: Bytes::mib(1) }
}

pub(super) fn no_swap_accounting(seen: &mut Seen) -> Injected {
    for layout in [FakeLayout::V1, FakeLayout::V2] {
        let (_folder, tree) = fake(layout)?;
        tree.put("no-swap-accounting", "")?;
        let before = tree.snapshot();
        let mut session = session(&tree)?;
        let group = MemoryCgroup::create(&mut session, "server")?;
        let limit = Limit::Bytes(Bytes::mib(4));
        seen.refused(&format!("{layout:?}"), group.set_limits(limit, limit), &["swapaccount=1"]);
        drop(session);
        seen.host(&tree, &before);
    }
    Ok(())
}

pub(super) fn controllers(seen: &mut Seen) -> Injected {
    for (layout, name) in [(FakeLayout::V1, "v1"), (FakeLayout::V2, "v2"), (FakeLayout::Hybrid, "hybrid")] {
        let (_folder, tree) = fake(layout)?;
        let before = tree.snapshot();
        let found = CgroupLayout::detect(&tree.root())?;
        seen.check(format!("{name} is found as {}", found.name()), found.name() == name);
        let mut session = session(&tree)?;
        let group = MemoryCgroup::create(&mut session, "server")?;
        group.set_limits(Limit::Bytes(Bytes::mib(4)), Limit::Max)?;
        let read = group.limit()?;
        seen.check(format!("{name} takes a limit"), read == Limit::Bytes(Bytes::mib(4)));
        drop(session);
        seen.host(&tree, &before);
    }
    let (_folder, tree) = fake(FakeLayout::None)?;
    let before = tree.snapshot();
    let created = MemoryCgroup::create(&mut session(&tree)?, "server");
    seen.refused("no memory controller", created, &["disabled at boot", "cgroup_enable=memory"]);
    seen.host(&tree, &before);
    Ok(())
}

/// A v2 group that is not the root, with `members`.
fn nested(tree: &FakeTree, members: &str) -> std::io::Result<()> {
    for (file, text) in [
        ("cgroup.type", "domain\n"),
        ("cgroup.procs", members),
        ("cgroup.controllers", "memory\n"),
        ("cgroup.subtree_control", ""),
    ] {
        tree.put(&format!("sys/fs/cgroup/user.slice/{file}"), text)?;
    }
    tree.put("proc/self/cgroup", "0::/user.slice\n")?;
    // The root of the tree belongs to somebody else.
    tree.remove("sys/fs/cgroup/cgroup.procs")
}

pub(super) fn delegation(seen: &mut Seen) -> Injected {
    let (_folder, tree) = fake(FakeLayout::V2)?;
    nested(&tree, &format!("{}\n", std::process::id()))?;
    let before = tree.snapshot();
    let mut own = session(&tree)?;
    MemoryCgroup::create(&mut own, "server")?;
    let stayed = tree.text("sys/fs/cgroup/user.slice/cgroup.procs");
    seen.check("the tool steps aside into a leaf", stayed.is_empty());
    drop(own);
    seen.host(&tree, &before);

    let (_folder, tree) = fake(FakeLayout::V2)?;
    nested(&tree, "700002\n")?;
    let before = tree.snapshot();
    let created = MemoryCgroup::create(&mut session(&tree)?, "server");
    seen.refused("foreign processes in our group", created, &["700002", "Delegate=yes"]);
    seen.host(&tree, &before);

    let (_folder, tree) = fake(FakeLayout::V2)?;
    nested(&tree, "")?;
    tree.remove("sys/fs/cgroup/user.slice/cgroup.procs")?;
    tree.put("run/systemd/system/x", "")?;
    let before = tree.snapshot();
    let created = MemoryCgroup::create(&mut session(&tree)?, "server");
    seen.refused("not delegated", created, &["systemd-run --user --scope"]);
    seen.host(&tree, &before);
    let text = tree.text("proc/self/mountinfo").replace("cgroup2 rw", "cgroup2 ro");
    tree.put("proc/self/mountinfo", &text)?;
    let before = tree.snapshot();
    let created = MemoryCgroup::create(&mut session(&tree)?, "server");
    seen.refused("a read-only tree", created, &["read-only"]);
    seen.host(&tree, &before);
    Ok(())
}

pub(super) fn busy_folder(seen: &mut Seen) -> Injected {
    let (_folder, tree) = fake(FakeLayout::V2)?;
    let before = tree.snapshot();
    let mut own = session(&tree)?;
    let group = MemoryCgroup::create(&mut own, "server")?;
    tree.kernel().inject(fault("remove_dir", "run-bench-", Errno::BUSY, 5));
    seen.check("busy five times, then removed", group.remove().is_ok());
    let group = MemoryCgroup::create(&mut own, "client")?;
    // Enough for three rounds of patience.
    tree.kernel().inject(fault("remove_dir", "run-bench-", Errno::BUSY, 1000));
    seen.refused("busy for long", group.remove(), &["stayed busy after"]);
    seen.check("the host is marked", !own.undo().left.is_empty());
    drop(own);
    for _ in 0..100 {
        if recover_all(&tree.root(), FOLDER.as_ref())?.is_clean() {
            break;
        }
    }
    seen.host(&tree, &before);
    Ok(())
}

pub(super) fn zram_trouble(seen: &mut Seen) -> Injected {
    let (_folder, tree) = fake(FakeLayout::V2)?;
    let before = tree.snapshot();
    for (path, times) in [("zram1/disksize", 3), ("zram1/reset", 4), ("hot_remove", 5)] {
        tree.kernel().inject(fault("write", path, Errno::BUSY, times));
    }
    let mut own = session(&tree)?;
    let made = RamdiskSwap::enable(&mut own, &zram(None))?;
    seen.check("busy at first, then used", made.device.ends_with("zram1"));
    drop(own);
    seen.host(&tree, &before);

    let mut own = session(&tree)?;
    let refused = RamdiskSwap::enable(&mut own, &zram(Some("deflate")));
    seen.refused("an algorithm that is not built", refused, &["lzo-rle lz4 zstd"]);
    drop(own);
    seen.host(&tree, &before);

    tree.kernel().inject(fault("write", "disksize", Errno::NOMEM, 1));
    let mut own = session(&tree)?;
    seen.refused("disksize fails", RamdiskSwap::enable(&mut own, &zram(None)), &["disksize"]);
    drop(own);
    seen.host(&tree, &before);
    let foreign = tree.text("sys/block/zram0/disksize");
    seen.check("the foreign zram0 is untouched", foreign == "1073741824\n");
    Ok(())
}

/// A ramdisk that was there before us.
fn put_ram0(tree: &FakeTree, kib: u64, content: &str) -> std::io::Result<()> {
    tree.put("sys/block/ram0/size", &format!("{}\n", kib * 2))?;
    tree.put("sys/block/ram0/diskseq", "9\n")?;
    tree.put("dev/ram0", content)
}

pub(super) fn foreign_ramdisk(seen: &mut Seen) -> Injected {
    let brd = SwapRequest { choice: RamdiskChoice::Brd, size: Bytes::mib(1) };
    for (kib, content, in_swap, reason) in [
        (4096, "", false, "4MiB, 1MiB are needed"),
        (1024, "precious", false, "it holds data"),
        (1024, "", true, "it is active swap"),
    ] {
        let (_folder, tree) = fake(FakeLayout::V2)?;
        put_ram0(&tree, kib, content)?;
        if in_swap {
            tree.put("proc/swaps", "Filename\n/dev/ram0 partition 1020 0 3\n")?;
        }
        let before = tree.snapshot();
        seen.refused(reason, RamdiskSwap::enable(&mut session(&tree)?, &brd), &[reason]);
        seen.host(&tree, &before);
    }
    Ok(())
}

pub(super) fn swapoff(seen: &mut Seen) -> Injected {
    for errno in [Errno::NOMEM, Errno::INTR] {
        let (_folder, tree) = fake(FakeLayout::V2)?;
        let before = tree.snapshot();
        let mut own = session(&tree)?;
        RamdiskSwap::enable(&mut own, &zram(None))?;
        // By the undo, by the end of the session, and by the next run.
        tree.kernel().inject(fault("swapoff", "zram1", errno, 3));
        seen.check(format!("{errno:?}: the host is marked"), !own.undo().left.is_empty());
        drop(own);
        seen.refused("the next run", session(&tree), &["/dev/zram1", "run-bench clean"]);
        seen.check("a later clean succeeds", recover_all(&tree.root(), FOLDER.as_ref())?.is_clean());
        seen.host(&tree, &before);
    }
    for (foreign, expected) in [(-2, Some(1000)), (5000, Some(5001)), (32_767, None)] {
        let (_folder, tree) = fake(FakeLayout::V2)?;
        let text = format!("Filename Type Size Used Priority\n/dev/sda2 partition 1024 512 {foreign}\n");
        tree.put("proc/swaps", &text)?;
        let before = tree.snapshot();
        let mut own = session(&tree)?;
        let made = RamdiskSwap::enable(&mut own, &zram(None)).ok().map(|swap| swap.priority);
        seen.check(format!("beside foreign swap of priority {foreign}: {made:?}"), made == expected);
        drop(own);
        seen.host(&tree, &before);
    }
    Ok(())
}
