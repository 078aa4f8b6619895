//! `run-bench clean`: undo what killed runs left on this host.

use std::path::Path;

use super::arguments::CleanArguments;
use super::exit::Exit;
use crate::host::SysRoot;
use crate::host::journal::{RecoveryReport, default_folder, recover_all};

pub fn main(_arguments: &CleanArguments) -> anyhow::Result<Exit> {
    let folder = default_folder(Path::new("."));
    // Files of a block have a journal of their own, since they outlive trials.
    let mut exit = Exit::Good;
    for folder in [crate::target::fixture_folder(&folder), folder] {
        let report = recover_all(&SysRoot::host(), &folder)?;
        if !tell(&report) {
            exit = Exit::HostNotReady;
        }
    }
    if exit != Exit::Good {
        anyhow::bail!("the host is not as it was before; see the lines marked LEFT");
    }
    Ok(exit)
}

/// Prints what was undone; whether everything was.
fn tell(report: &RecoveryReport) -> bool {
    for journal in &report.journals {
        for change in &journal.undo.undone {
            println!("undone: {change}");
        }
        for left in &journal.undo.left {
            println!("LEFT: {} ({})", left.change, left.why);
        }
    }
    for owner in &report.alive {
        println!("left alone: changes of process {}, which still runs", owner.pid);
    }
    for text in &report.unreadable {
        println!("LEFT: {text}");
    }
    report.is_clean()
}
