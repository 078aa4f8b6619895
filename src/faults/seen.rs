//! What an injection saw: notes of what held, and of what did not.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use crate::host::fake::{FakeLayout, FakeTree};
use crate::host::{HostError, HostSession, SessionOptions};

/// Where fake hosts keep the journal.
pub(super) const FOLDER: &str = "/run/run-bench";

/// The result of a row's injections: an error is an injection that could not be made.
pub(super) type Injected = Result<(), Box<dyn Error>>;

/// Gathers what the injections of one row came to.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) held: Vec<String>,
    pub(super) broken: Vec<String>,
    /// Whether every host that was touched was put back; none was touched when absent.
    pub(super) restored: Option<bool>,
}

impl Seen {
    /// Notes that `what` held, or that it did not.
    pub(super) fn check(&mut self, what: impl Into<String>, holds: bool) {
        let list = if holds { &mut self.held } else { &mut self.broken };
        list.push(what.into());
    }

    /// A refusal whose text has all of `words`.
    pub(super) fn refused<T, E: Display>(&mut self, what: &str, result: Result<T, E>, words: &[&str]) {
        match result {
            Ok(_) => self.broken.push(format!("{what}: not refused")),
            Err(error) => self.says(what, &error.to_string(), words),
        }
    }

    /// A text that has all of `words`.
    pub(super) fn says(&mut self, what: &str, text: &str, words: &[&str]) {
        match words.iter().find(|word| !text.contains(**word)) {
            None => self.held.push(format!("{what}: told")),
            Some(word) => self.broken.push(format!("{what}: {word:?} is not in {text:?}")),
        }
    }

    /// Compares a host with what it was.
    pub(super) fn host(&mut self, tree: &FakeTree, before: &BTreeMap<PathBuf, String>) {
        let differences = tree.differences(before);
        self.restored = Some(self.restored.unwrap_or(true) && differences.is_empty());
        if let Some(first) = differences.first() {
            self.broken.push(format!("the host is not as before: {first}"));
        }
    }
}

/// A fake host in a folder of its own.
pub(super) fn fake(layout: FakeLayout) -> io::Result<(tempfile::TempDir, FakeTree)> {
    // In memory, since each line of a journal is synced.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let tree = FakeTree::create(folder.path(), layout)?;
    Ok((folder, tree))
}

pub(super) fn options() -> SessionOptions {
    SessionOptions { folder: FOLDER.into(), purpose: "selftest faults".to_owned() }
}

/// A session of a process that no longer runs, so that what it leaves can be recovered.
pub(super) fn session(tree: &FakeTree) -> Result<HostSession, HostError> {
    HostSession::open_as(tree.root(), options(), tree.dead_owner())
}
