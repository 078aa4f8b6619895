//! Rows 23 and 24: the tool killed at every step, the host restarted wrongly.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::host_rows::zram;
use super::seen::{FOLDER, Injected, Seen, fake, options, session};
use crate::exec::Command;
use crate::host::cgroup::{Limit, MemoryCgroup};
use crate::host::fake::{FakeLayout, FakeTree};
use crate::host::journal::{Owner, recover_all};
use crate::host::knob::Knob;
use crate::host::ramdisk::{RamdiskChoice, RamdiskFilesystem};
use crate::host::swap::RamdiskSwap;
use crate::host::{CrashMode, CrashPoint, HostError, HostSession, SysRoot};
use crate::store::KernelIdentity;
use crate::target::guest::{self, Launch, Limits};
use crate::trial::wrong_kernel;
use crate::units::Bytes;

/// Everything that a trial does to a host, and its orderly end.
fn trial(root: SysRoot, owner: Owner) -> Result<(), HostError> {
    let mut own = HostSession::open_as(root, options(), owner)?;
    RamdiskSwap::enable(&mut own, &zram(Some("lz4")))?;
    RamdiskFilesystem::create(&mut own, &RamdiskChoice::LoopTmpfs, Bytes::mib(1))?;
    let group = MemoryCgroup::create(&mut own, "server")?;
    group.set_limits(Limit::Bytes(Bytes::mib(64)), Limit::Max)?;
    group.set_swappiness(&mut own, 10)?;
    for knob in [
        Knob::Sysctl { name: "vm.page-cluster".to_owned(), value: "0".to_owned() },
        Knob::TransparentHugepage { mode: "never".to_owned() },
        Knob::Governor { name: "performance".to_owned() },
    ] {
        knob.set(&mut own)?;
    }
    own.undo();
    Ok(())
}

/// Kills a trial at `step`; whether the step was reached.
fn killed_at(seen: &mut Seen, step: u64, mode: CrashMode) -> Result<bool, Box<dyn std::error::Error>> {
    let (_folder, tree) = fake(FakeLayout::Hybrid)?;
    let before = tree.snapshot();
    let crash = Arc::new(CrashPoint::at(step, mode));
    // Whether it failed or its undo was cut short does not matter.
    let _ = trial(tree.root().with_crash_point(crash.clone()), tree.dead_owner());
    let report = recover_all(&tree.root(), FOLDER.as_ref())?;
    let differences = tree.differences(&before);
    if !report.is_clean() || !differences.is_empty() {
        seen.check(format!("killed at step {step} ({mode:?}): {differences:?} {report:?}"), false);
        seen.restored = Some(false);
    }
    Ok(crash.stopped())
}

pub(super) fn kills(seen: &mut Seen) -> Injected {
    seen.restored = Some(true);
    for mode in [CrashMode::Refuse, CrashMode::Torn] {
        let mut step = 0;
        while killed_at(seen, step, mode)? {
            step += 1;
        }
        seen.check(format!("{step} steps, {mode:?}"), step > 60);
    }
    // A clean that is killed itself, at every step of its own.
    for step in 0.. {
        let (_folder, tree) = fake(FakeLayout::Hybrid)?;
        let before = tree.snapshot();
        let _ = trial(
            tree.root().with_crash_point(Arc::new(CrashPoint::at(50, CrashMode::Refuse))),
            tree.dead_owner(),
        );
        let second = Arc::new(CrashPoint::at(step, CrashMode::Torn));
        let _ = recover_all(&tree.root().with_crash_point(second.clone()), FOLDER.as_ref());
        recover_all(&tree.root(), FOLDER.as_ref())?;
        if !tree.differences(&before).is_empty() {
            seen.check(format!("clean killed at step {step}"), false);
        }
        if !second.stopped() {
            seen.check(format!("{step} steps of clean"), step > 8);
            break;
        }
    }
    owners(seen)
}

/// Leaves the changes of a process that is gone without its undo.
fn leave(tree: &FakeTree, owner: Owner) -> Result<(), HostError> {
    let crash = Arc::new(CrashPoint::at(40, CrashMode::Refuse));
    match trial(tree.root().with_crash_point(crash), owner) {
        Err(HostError::CrashPoint { .. }) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Who may be undone: only what is dead, even where its number lives again.
fn owners(seen: &mut Seen) -> Injected {
    let (_folder, tree) = fake(FakeLayout::V2)?;
    let before = tree.snapshot();
    let owner = tree.dead_owner();
    tree.put_process(owner.pid, owner.start_time)?;
    leave(&tree, owner.clone())?;
    let during = tree.snapshot();
    let report = recover_all(&tree.root(), FOLDER.as_ref())?;
    seen.check("a live owner is left alone", report.alive == [owner.clone()] && report.journals.is_empty());
    seen.check("and nothing of it is touched", tree.differences(&during).is_empty());
    seen.refused("a session beside it", session(&tree), &["process 999999", "has not undone"]);
    tree.put_process(owner.pid, owner.start_time + 1)?;
    let report = recover_all(&tree.root(), FOLDER.as_ref())?;
    seen.check("its number given to another process is not it", report.journals.len() == 1);
    std::fs::remove_dir_all(tree.root().path(format!("/proc/{}", owner.pid)))?;
    seen.host(&tree, &before);
    let held = session(&tree)?;
    let own = format!("process {} (selftest faults)", std::process::id());
    seen.refused("a second session", session(&tree), &[&own]);
    seen.refused("a clean meanwhile", recover_all(&tree.root(), FOLDER.as_ref()), &[&own]);
    drop(held);
    seen.host(&tree, &before);
    Ok(())
}

const SHORT: Limits = Limits {
    boot: Duration::from_secs(1),
    job: Duration::from_secs(1),
    power_off: Duration::from_millis(200),
    dying: Duration::from_millis(200),
};

/// What becomes of a guest that is this script.
fn guest_end(script: &str) -> Result<String, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("guest");
    let text = format!(
        "#!/bin/sh\nmark() {{ echo \"run-bench guest n1 $1\"; }}\n\
         echo '[    0.000000] Linux version 9.9.9-invented'\n{script}\n"
    );
    std::fs::write(&program, text)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    let launch = Launch {
        command: Command::new(&program),
        nonce: "n1".to_owned(),
        limits: SHORT,
        parcel: folder.path().join("parcel"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let boot = runtime.block_on(guest::run(&launch, &CancellationToken::new()))?;
    Ok(match boot.delivery {
        Ok(_) => "it delivered".to_owned(),
        Err(failure) => failure.to_string(),
    })
}

pub(super) fn reboots(seen: &mut Seen) -> Injected {
    let running = KernelIdentity {
        release: "6.12.1".to_owned(),
        version: "#1 SMP".to_owned(),
        build_id: Some("aa".to_owned()),
        ..KernelIdentity::default()
    };
    let other = KernelIdentity { build_id: Some("bb".to_owned()), ..running.clone() };
    seen.check("the right kernel is taken", wrong_kernel(&running, &running).is_none());
    seen.check("another build of the same name is not", wrong_kernel(&other, &running).is_some());
    for (what, script, words) in [
        ("a panic at boot", "echo '[ 0.5] Kernel panic - not syncing: no root'; exit 134", "Kernel panic"),
        (
            "a panic in mid-trial",
            "mark init; mark ready; mark job; echo '[ 9.5] Kernel panic - not syncing: x'; sleep 60",
            "Kernel panic",
        ),
        ("a hang at boot", "sleep 60", "boot"),
        ("status 0 without a delivery", "mark init; mark ready; mark job; exit 0", ""),
    ] {
        let said = guest_end(script)?;
        seen.check(format!("{what}: {said}"), said.contains(words) && said != "it delivered");
    }
    let (_folder, tree) = fake(FakeLayout::V2)?;
    leave(&tree, tree.dead_owner())?;
    tree.put("proc/sys/kernel/random/boot_id", "another")?;
    let during = tree.snapshot();
    let report = recover_all(&tree.root(), FOLDER.as_ref())?;
    seen.check("a journal of another boot is settled", report.is_clean() && report.journals.len() == 1);
    // Names of an earlier boot mean nothing now.
    seen.host(&tree, &during);
    Ok(())
}
