//! The journal's file: append with sync, and read what a killed process left.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::entry::{Change, Header, Line, SCHEMA};
use super::owner::Owner;
use crate::units::hex;

pub(super) const PREFIX: &str = "journal-";
const SUFFIX: &str = ".jsonl";

/// A change with its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub step: u64,
    pub change: Change,
    /// What a written file read afterwards.
    pub seen: Option<String>,
}

/// The journal of this process, open for appending.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    nonce: String,
    recorded: Vec<Recorded>,
    next_step: u64,
}

impl Journal {
    /// A new journal in `folder` for `owner`.
    pub fn create(root: &SysRoot, folder: &Path, owner: &Owner, purpose: &str) -> Result<Self, HostError> {
        let folder = root.path(folder);
        ensure_private_folder(&folder)?;
        let nonce = new_nonce()?;
        let path = folder.join(format!("{PREFIX}{}-{nonce}{SUFFIX}", owner.pid));
        let failed = |error: io::Error| HostError::Journal {
            path: path.clone(),
            what: format!("cannot be created: {error}; nothing was changed"),
        };
        root.crash().step(|| "journal create".to_owned())?;
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|file| File::open(&folder)?.sync_all().map(|()| file))
            .map_err(failed)?;
        let mut journal = Journal { path, file, nonce, recorded: Vec::new(), next_step: 0 };
        let header = Header {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            nonce: journal.nonce.clone(),
            purpose: purpose.to_owned(),
            owner: owner.clone(),
        };
        journal.append(root, &Line::Header(header))?;
        Ok(journal)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Part of the name of everything this process makes.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// The changes not undone yet, in order.
    pub fn recorded(&self) -> &[Recorded] {
        &self.recorded
    }

    /// Puts a change on disk, before it is made.
    pub(in super::super) fn record(&mut self, root: &SysRoot, change: Change) -> Result<u64, HostError> {
        let step = self.next_step;
        self.append(root, &Line::Change { step, change: change.clone() })?;
        self.next_step += 1;
        self.recorded.push(Recorded { step, change, seen: None });
        Ok(step)
    }

    pub(in super::super) fn note_seen(
        &mut self,
        root: &SysRoot,
        step: u64,
        value: &str,
    ) -> Result<(), HostError> {
        self.append(root, &Line::Seen { step, value: value.to_owned() })?;
        if let Some(recorded) = self.recorded.iter_mut().find(|r| r.step == step) {
            recorded.seen = Some(value.to_owned());
        }
        Ok(())
    }

    pub(in super::super) fn void(&mut self, root: &SysRoot, step: u64) -> Result<(), HostError> {
        self.append(root, &Line::Void { step })?;
        self.recorded.retain(|r| r.step != step);
        Ok(())
    }

    pub(in super::super) fn undone(&mut self, root: &SysRoot, step: u64) -> Result<(), HostError> {
        self.recorded.retain(|r| r.step != step);
        self.append(root, &Line::Undone { step })
    }

    /// Deletes the file of a journal with nothing left to undo.
    pub(in super::super) fn finish(&self, root: &SysRoot) -> Result<(), HostError> {
        remove_journal(root, &self.path)
    }

    fn append(&mut self, root: &SysRoot, line: &Line) -> Result<(), HostError> {
        let mut text = serde_json::to_string(line).map_err(|error| self.failed(error.to_string()))?;
        text.push('\n');
        if let Err(stop) = root.crash().step(|| format!("journal {}", text.trim_end())) {
            if root.crash().tears() {
                let _ = self.file.write_all(&text.as_bytes()[..text.len() / 2]);
            }
            return Err(stop);
        }
        let appended = root.disk().append_line(&mut self.file, text.as_bytes());
        appended.map_err(|error| self.failed(format!("cannot be written: {error}; the change was not made")))
    }

    fn failed(&self, what: String) -> HostError {
        HostError::Journal { path: self.path.clone(), what }
    }
}

/// A journal as found on disk.
#[derive(Debug)]
pub(super) struct Found {
    pub path: PathBuf,
    pub header: Header,
    pub recorded: Vec<Recorded>,
    /// A line that is neither whole nor the torn last one.
    pub damage: Option<String>,
    next_step: u64,
}

impl Found {
    /// Opens the journal again, to note what is undone.
    pub fn reopen(self) -> Result<(Header, Journal), HostError> {
        let failed = |error: io::Error| HostError::Journal {
            path: self.path.clone(),
            what: format!("cannot be opened for appending: {error}"),
        };
        let mut file = OpenOptions::new().append(true).open(&self.path).map_err(failed)?;
        // A torn last line must not swallow the next one.
        file.write_all(b"\n").map_err(failed)?;
        let journal = Journal {
            path: self.path,
            file,
            nonce: self.header.nonce.clone(),
            recorded: self.recorded,
            next_step: self.next_step,
        };
        Ok((self.header, journal))
    }
}

/// The journals in `folder`, sorted by name.
pub(super) fn journal_paths(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_journal = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with(PREFIX) && name.ends_with(SUFFIX)
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_journal).collect();
    paths.sort();
    paths
}

/// Reads a journal. `None` when its process died before the first whole line,
/// and so before any change.
pub(super) fn read_journal(path: &Path) -> Result<Option<Found>, HostError> {
    let failed = |what: String| HostError::Journal { path: path.to_owned(), what };
    let text = fs::read(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut header = None;
    let mut recorded: Vec<Recorded> = Vec::new();
    let mut next_step = 0;
    let mut unparsed = None;
    let mut damage = None;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Ok(parsed) = serde_json::from_str::<Line>(line) else {
            unparsed = Some(format!("line {} is damaged; a change may be missing", index + 1));
            continue;
        };
        // A torn line is one whose change was not made: the sync came first. It
        // is the last one, or was until a clean appended its own notes.
        if !matches!(parsed, Line::Undone { .. }) {
            damage = damage.or(unparsed.take());
        }
        match parsed {
            Line::Header(found) if found.schema > SCHEMA => {
                return Err(failed(format!(
                    "schema {} is newer than this tool's {SCHEMA}; clean with run-bench {}",
                    found.schema, found.version
                )));
            }
            Line::Header(found) => header = Some(found),
            _ if header.is_none() => {
                return Err(failed(format!("line {} comes before the header", index + 1)));
            }
            Line::Change { step, change } => {
                next_step = step + 1;
                recorded.push(Recorded { step, change, seen: None });
            }
            Line::Seen { step, value } => {
                if let Some(found) = recorded.iter_mut().find(|r| r.step == step) {
                    found.seen = Some(value);
                }
            }
            Line::Void { step } | Line::Undone { step } => recorded.retain(|r| r.step != step),
        }
    }
    Ok(header.map(|header| Found { path: path.to_owned(), header, recorded, damage, next_step }))
}

pub(super) fn remove_journal(root: &SysRoot, path: &Path) -> Result<(), HostError> {
    root.crash().step(|| "journal remove".to_owned())?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(HostError::Journal { path: path.to_owned(), what: format!("cannot be removed: {error}") })
        }
        _ => Ok(()),
    }
}

/// Takes a journal out of use but keeps it to be looked at.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf, HostError> {
    let aside = path.with_extension("damaged");
    fs::rename(path, &aside).map_err(|error| HostError::Journal {
        path: path.to_owned(),
        what: format!("cannot be set aside: {error}"),
    })?;
    Ok(aside)
}

/// Makes `folder` if need be, and refuses one that others could write to.
pub(super) fn ensure_private_folder(folder: &Path) -> Result<(), HostError> {
    let failed = |what: String| HostError::Journal { path: folder.to_owned(), what };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| failed(format!("the folder cannot be made: {error}")))?;
    let meta = fs::symlink_metadata(folder)
        .map_err(|error| failed(format!("cannot look at the folder: {error}")))?;
    let own = rustix::process::geteuid().as_raw();
    if !meta.is_dir() || meta.uid() != own || meta.mode() & 0o022 != 0 {
        return Err(failed(format!(
            "owner {} and mode {:o} let others change it, who could then direct what is undone; `chown {own}` and `chmod 700` it",
            meta.uid(),
            meta.mode() & 0o7777
        )));
    }
    Ok(())
}

fn new_nonce() -> Result<String, HostError> {
    let mut bytes = [0u8; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).map_err(|error| {
        HostError::Syscall { call: "getrandom", subject: "nonce".to_owned(), source: error.into() }
    })?;
    Ok(hex(&bytes))
}
