//! The right to change the host, and the duty to put it back.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::error::HostError;
use super::journal::{
    Change, HostLock, Journal, Owner, Recorded, RecoveryReport, UndoReport, recover_locked, undo_steps,
};
use super::reader::process_stat;
use super::root::SysRoot;

/// Between two looks at a lock that another process holds.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Where the journal lies and what it is for.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// A path of the host, as [`default_folder`](super::journal::default_folder) gives it.
    pub folder: PathBuf,
    /// Shown to whoever finds the host taken.
    pub purpose: String,
}

/// Holds the host's lock and a journal; undoes everything when dropped.
#[derive(Debug)]
pub struct HostSession {
    root: SysRoot,
    folder: PathBuf,
    owner: Owner,
    purpose: String,
    journal: Option<Journal>,
    private: Option<PathBuf>,
    recovery: RecoveryReport,
    _lock: HostLock,
}

impl HostSession {
    /// Takes the lock, undoes what dead processes left, and is ready for changes.
    pub fn open(root: SysRoot, options: SessionOptions) -> Result<Self, HostError> {
        let owner = Owner::current(&root)?;
        HostSession::open_as(root, options, owner)
    }

    /// As [`HostSession::open`]; waits while another process holds the host.
    pub fn open_patiently(
        root: SysRoot,
        options: SessionOptions,
        patience: Duration,
    ) -> Result<Self, HostError> {
        let by = Instant::now() + patience;
        loop {
            match HostSession::open(root.clone(), options.clone()) {
                Err(HostError::Locked { .. }) if Instant::now() < by => thread::sleep(LOCK_PAUSE),
                other => return other,
            }
        }
    }

    /// As [`HostSession::open`], with changes recorded for `owner`: tests name a dead process.
    pub fn open_as(root: SysRoot, options: SessionOptions, owner: Owner) -> Result<Self, HostError> {
        let lock = HostLock::acquire(&root, &options.folder, &options.purpose)?;
        let recovery = recover_locked(&root, &options.folder, &lock)?;
        if let Some(owner) = recovery.alive.first() {
            // It has let go of the lock with changes left: it is about to die, or hangs.
            return Err(HostError::Locked { holder: format!("{owner}, which has not undone its changes") });
        }
        if !recovery.is_clean() {
            return Err(HostError::Dirty { left: describe_left(&recovery) });
        }
        Ok(HostSession {
            root,
            folder: options.folder,
            owner,
            purpose: options.purpose,
            journal: None,
            private: None,
            recovery,
            _lock: lock,
        })
    }

    pub fn root(&self) -> &SysRoot {
        &self.root
    }

    /// What was put right when the session opened.
    pub fn recovery(&self) -> &RecoveryReport {
        &self.recovery
    }

    /// The changes in force, in order.
    pub fn changes(&self) -> &[Recorded] {
        self.journal.as_ref().map_or(&[], Journal::recorded)
    }

    /// A place in the list of changes, for [`HostSession::undo_since`].
    pub fn mark(&self) -> u64 {
        self.changes().last().map_or(0, |recorded| recorded.step + 1)
    }

    /// The mark that everything made in this session carries in its name.
    pub fn nonce(&mut self) -> Result<String, HostError> {
        Ok(self.journal()?.nonce().to_owned())
    }

    /// Records `change`, then makes it.
    pub(super) fn apply<T>(
        &mut self,
        change: Change,
        action: impl FnOnce(&SysRoot) -> Result<T, HostError>,
    ) -> Result<T, HostError> {
        let root = self.root.clone();
        let makes_new =
            matches!(change, Change::Cgroup { .. } | Change::CreateDir { .. } | Change::CreateFile { .. });
        let step = self.journal()?.record(&root, change)?;
        match action(&root) {
            Ok(value) => Ok(value),
            Err(error) => {
                // The name was taken by somebody else: it is not ours to remove.
                if makes_new && error.errno() == Some(rustix::io::Errno::EXIST.raw_os_error()) {
                    self.journal()?.void(&root, step)?;
                }
                Err(error)
            }
        }
    }

    /// Records something that was learned about an earlier change.
    pub(super) fn note(&mut self, change: Change) -> Result<(), HostError> {
        let root = self.root.clone();
        self.journal()?.record(&root, change).map(|_| ())
    }

    /// Has a child killed by the undo, where no cgroup of ours holds it.
    pub fn guard_process(&mut self, pid: u32) -> Result<(), HostError> {
        let start_time = process_stat(&self.root, pid)?.start_time;
        self.note(Change::Process { pid, start_time })
    }

    /// Sets a file to `value` and reads it back; the exact prior text is restored later.
    pub(super) fn set_file(
        &mut self,
        path: &Path,
        value: &str,
        same: impl Fn(&str, &str) -> bool,
    ) -> Result<String, HostError> {
        let root = self.root.clone();
        let prior = root.read(path)?.trim_end_matches('\n').to_owned();
        let change = Change::WriteFile { path: path.to_owned(), prior: Some(prior), value: value.to_owned() };
        let step = self.journal()?.record(&root, change)?;
        match root.write_checked(path, value, same) {
            Ok(found) => {
                self.journal()?.note_seen(&root, step, &found)?;
                Ok(found)
            }
            Err(error) => Err(error),
        }
    }

    /// A folder of this session alone, mode 0700, removed at the end.
    pub(super) fn private_folder(&mut self) -> Result<PathBuf, HostError> {
        if let Some(path) = &self.private {
            return Ok(path.clone());
        }
        let name = format!("run-bench-{}", self.nonce()?);
        let path = self.folder.join(name);
        let made = path.clone();
        self.apply(Change::CreateDir { path: path.clone() }, |root| root.create_dir(&made))?;
        self.private = Some(path.clone());
        Ok(path)
    }

    /// Undoes the changes made since `mark`, newest first.
    pub fn undo_since(&mut self, mark: u64) -> UndoReport {
        let root = self.root.clone();
        let Some(journal) = self.journal.as_mut() else { return UndoReport::default() };
        let report = undo_steps(&root, journal, mark, true);
        let private_is_gone = self.private.as_ref().is_some_and(|path| {
            report
                .undone
                .iter()
                .any(|change| matches!(change, Change::CreateDir { path: removed } if removed == path))
        });
        if private_is_gone {
            self.private = None;
        }
        report
    }

    /// Undoes everything. With nothing left the journal is deleted; otherwise
    /// it stays, and the next start or `run-bench clean` tries again.
    pub fn undo(&mut self) -> UndoReport {
        let report = self.undo_since(0);
        if report.left.is_empty()
            && let Some(journal) = self.journal.take_if(|journal| journal.recorded().is_empty())
        {
            // An empty journal that stays behind is removed by the next start.
            let _ = journal.finish(&self.root);
        }
        report
    }

    fn journal(&mut self) -> Result<&mut Journal, HostError> {
        if self.journal.is_none() {
            let journal = Journal::create(&self.root, &self.folder, &self.owner, &self.purpose)?;
            return Ok(self.journal.insert(journal));
        }
        Ok(self.journal.as_mut().expect("it is some: the branch above returned"))
    }
}

impl Drop for HostSession {
    fn drop(&mut self) {
        for left in self.undo().left {
            tracing::error!("could not undo: {}: {}", left.change, left.why);
        }
    }
}

fn describe_left(recovery: &RecoveryReport) -> String {
    let mut texts: Vec<String> = recovery.unreadable.clone();
    for left in recovery.journals.iter().flat_map(|journal| &journal.undo.left) {
        texts.push(format!("{} ({})", left.change, left.why));
    }
    texts.join("; ")
}
