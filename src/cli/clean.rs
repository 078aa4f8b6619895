//! `run-bench clean`: undo what killed runs left on this host.

use std::path::Path;

use super::arguments::CleanArguments;
use super::exit::Exit;
use crate::host::journal::{RecoveryReport, default_folder, recover_all};
use crate::host::{HostError, SysRoot};
use crate::target::{BootPlaces, HostLock, fixture_folder};

pub fn main(arguments: &CleanArguments) -> anyhow::Result<Exit> {
    let trials = default_folder(Path::new("."));
    let (mut clean, mut found) = (true, false);
    // Files of a block have a journal of their own, since they outlive trials.
    for folder in [fixture_folder(&trials), trials] {
        let report = match recover_all(&SysRoot::host(), &folder) {
            // Whoever holds the host undid what others had left when it began.
            Err(HostError::Locked { holder }) if arguments.epilog => {
                sayln!("left alone: {holder} holds the host");
                continue;
            }
            report => report?,
        };
        found |= !report.journals.is_empty();
        clean &= tell(&report);
    }
    found |= take_back_boot()?;
    if !clean {
        eprintln!("run-bench: the host is not as it was before; see the lines marked LEFT");
        return Ok(Exit::HostNotReady);
    }
    if !found {
        sayln!("nothing to undo");
    }
    Ok(Exit::Good)
}

/// A boot that a campaign armed, unless that campaign still runs.
fn take_back_boot() -> anyhow::Result<bool> {
    let Ok(_idle) = HostLock::take("clean") else { return Ok(false) };
    let places = BootPlaces::of_host(std::env::current_exe()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(places.clean())?;
    if found {
        sayln!("undone: the armed boot, and the unit that resumes a campaign after it");
    }
    Ok(found)
}

/// Prints what was undone; whether everything was.
fn tell(report: &RecoveryReport) -> bool {
    for journal in &report.journals {
        for change in &journal.undo.undone {
            sayln!("undone: {change}");
        }
        for left in &journal.undo.left {
            sayln!("LEFT: {} ({})", left.change, left.why);
        }
    }
    for owner in &report.alive {
        sayln!("left alone: changes of process {}, which still runs", owner.pid);
    }
    for text in &report.unreadable {
        sayln!("LEFT: {text}");
    }
    report.is_clean()
}
