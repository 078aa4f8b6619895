//! `run-bench clean`: undo what killed runs left on this host.

use std::path::Path;

use super::arguments::CleanArguments;
use super::exit::Exit;
use crate::host::SysRoot;
use crate::host::journal::{default_folder, recover_all};

pub fn main(_arguments: &CleanArguments) -> anyhow::Result<Exit> {
    let report = recover_all(&SysRoot::host(), &default_folder(Path::new(".")))?;
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
    if !report.is_clean() {
        anyhow::bail!("the host is not as it was before; see the lines marked LEFT");
    }
    if report.journals.is_empty() {
        println!("nothing to undo");
    }
    Ok(Exit::Good)
}
