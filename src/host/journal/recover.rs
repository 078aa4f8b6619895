//! Replays the journals of processes that died.

use std::path::{Path, PathBuf};

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::file::{journal_paths, read_journal, remove_journal, set_aside};
use super::lock::HostLock;
use super::owner::Owner;
use super::undo::{UndoReport, undo_steps};

/// What was done about one journal.
#[derive(Debug)]
pub struct JournalReport {
    pub path: PathBuf,
    pub owner: Option<Owner>,
    pub purpose: String,
    pub undo: UndoReport,
}

/// What was found and done.
#[derive(Debug, Default)]
pub struct RecoveryReport {
    pub journals: Vec<JournalReport>,
    /// Owners that still run: their changes were left alone.
    pub alive: Vec<Owner>,
    /// Journals that could not be read or removed, with the reason.
    pub unreadable: Vec<String>,
}

impl RecoveryReport {
    /// Whether the host is as it was before the dead processes.
    pub fn is_clean(&self) -> bool {
        self.unreadable.is_empty() && self.journals.iter().all(|journal| journal.undo.left.is_empty())
    }
}

/// Where journals and the lock lie: `/run/run-bench` for root, the user's
/// runtime folder otherwise, `fallback` where there is none.
pub fn default_folder(fallback: &Path) -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/run/run-bench");
    }
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir()) {
        Some(runtime) => runtime.join("run-bench"),
        None => fallback.join(".run-bench"),
    }
}

/// Undoes what dead processes left, under the host's lock.
pub fn recover_all(root: &SysRoot, folder: &Path) -> Result<RecoveryReport, HostError> {
    let lock = HostLock::acquire(root, folder, "clean")?;
    recover_locked(root, folder, &lock)
}

/// As [`recover_all`], for a caller that holds the lock already.
pub(in super::super) fn recover_locked(
    root: &SysRoot,
    folder: &Path,
    _lock: &HostLock,
) -> Result<RecoveryReport, HostError> {
    let mut report = RecoveryReport::default();
    for path in journal_paths(&root.path(folder)) {
        match recover_one(root, &path, &mut report) {
            Ok(Some(journal)) => report.journals.push(journal),
            Ok(None) => {}
            Err(stop @ HostError::CrashPoint { .. }) => return Err(stop),
            Err(error) => report.unreadable.push(error.to_string()),
        }
    }
    Ok(report)
}

fn recover_one(
    root: &SysRoot,
    path: &Path,
    report: &mut RecoveryReport,
) -> Result<Option<JournalReport>, HostError> {
    let Some(found) = read_journal(path)? else {
        remove_journal(root, path)?;
        return Ok(None);
    };
    if found.header.owner.is_alive(root)? {
        report.alive.push(found.header.owner);
        return Ok(None);
    }
    let same_boot = found.header.owner.is_of_this_boot(root)?;
    let damage = found.damage.clone();
    let (header, mut journal) = found.reopen()?;
    let undo = undo_steps(root, &mut journal, 0, same_boot);
    if undo.left.is_empty() {
        match damage {
            Some(damage) => {
                let aside = set_aside(path)?;
                report.unreadable.push(format!("{}: {damage}; look at it, then delete it", aside.display()));
            }
            None => journal.finish(root)?,
        }
    }
    Ok(Some(JournalReport {
        path: path.to_owned(),
        owner: Some(header.owner),
        purpose: header.purpose,
        undo,
    }))
}
