//! The campaign's journal: every decision, written and synced before it takes effect.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::atomic::check_schema;
use super::error::StoreError;
use super::ownership::no_links;
use super::spec::TrialId;
use crate::host::DiskRoom;
use crate::input;

/// Why a campaign stopped adding blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// All planned blocks are done.
    Planned,
    /// A look or the e-process crossed its boundary.
    Boundary,
    /// Nothing that the budget still allows could clear the margin.
    Futility,
    /// `--budget` or `schedule.budget` is spent.
    Budget,
    /// Ctrl-C.
    Interrupted,
    /// Too many trials were invalid.
    TooManyInvalid,
    /// Tasks of a fleet brought no whole block.
    Missing,
}

impl StopReason {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            StopReason::Planned => "all planned blocks are done",
            StopReason::Boundary => "every question is answered",
            StopReason::Futility => "nothing within the budget could decide it",
            StopReason::Budget => "the time budget is spent",
            StopReason::Interrupted => "interrupted",
            StopReason::TooManyInvalid => "too many trials were not valid",
            StopReason::Missing => "blocks are missing; the same command submits them again",
        }
    }
}

/// How a trial ended, for the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialStatus {
    Valid,
    Invalid,
    Failed,
    Unsupported,
    Interrupted,
    /// No record: the process was killed.
    Lost,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalEvent {
    Started {
        boot_id: Option<String>,
    },
    Resumed {
        boot_id: Option<String>,
    },
    /// Arms of a block in the order they run, one entry a trial; the coin's result.
    BlockPlanned {
        block: u32,
        workload: String,
        order: Vec<String>,
    },
    TrialStarted {
        id: TrialId,
    },
    TrialEnded {
        id: TrialId,
        status: TrialStatus,
    },
    /// An invalid trial is run again; decided without its metric.
    Rerun {
        id: TrialId,
        because: String,
    },
    /// A look at the data, announced before it is made.
    Look {
        blocks: u32,
    },
    Stopped {
        reason: StopReason,
    },
    /// A forecast was stored, with its hash, before the first trial.
    Forecast {
        hash: String,
    },
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalEntry {
    pub schema: u32,
    pub at: Timestamp,
    pub event: JournalEvent,
}

/// The journal, open for appending.
#[derive(Debug)]
pub struct CampaignJournal {
    path: PathBuf,
    file: File,
    disk: DiskRoom,
    entries: Vec<JournalEntry>,
}

impl CampaignJournal {
    /// Opens or creates the journal; a last line that a crash tore is cut off.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .custom_flags(no_links())
            .open(path)
            .map_err(StoreError::io("open", path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(StoreError::io("read", path))?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let entries = parse(path, &bytes[..whole])?;
        file.set_len(whole as u64).map_err(StoreError::io("cut", path))?;
        file.seek(SeekFrom::End(0)).map_err(StoreError::io("seek", path))?;
        Ok(CampaignJournal { path: path.to_owned(), file, disk: DiskRoom::default(), entries })
    }

    /// The same journal, on a disk with so much room.
    pub fn on(self, disk: DiskRoom) -> Self {
        CampaignJournal { disk, ..self }
    }

    /// Reads a journal without opening it for writing.
    pub fn read(path: &Path) -> Result<Vec<JournalEntry>, StoreError> {
        let bytes = input::read(path, input::RECORD).map_err(StoreError::io("read", path))?;
        CampaignJournal::parse(path, &bytes)
    }

    /// Reads the bytes of a journal, a torn last line left out; `path` is for messages only.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<JournalEntry>, StoreError> {
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        parse(path, &bytes[..whole])
    }

    pub fn entries(&self) -> &[JournalEntry] {
        &self.entries
    }

    /// Appends and syncs; on error nothing is left of the line.
    pub fn append(&mut self, event: JournalEvent) -> Result<(), StoreError> {
        self.append_entries(vec![JournalEntry { schema: super::SCHEMA, at: Timestamp::now(), event }])
    }

    /// Appends entries that were made elsewhere, with their own times, in one write.
    pub fn append_entries(&mut self, entries: Vec<JournalEntry>) -> Result<(), StoreError> {
        let mut line = Vec::new();
        for entry in &entries {
            serde_json::to_writer(&mut line, entry).map_err(|source| StoreError::Json {
                what: "journal entry",
                path: self.path.clone(),
                source,
            })?;
            line.push(b'\n');
        }
        let appended = self.disk.append_line(&mut self.file, &line);
        appended.map_err(StoreError::io("write", &self.path))?;
        self.entries.extend(entries);
        Ok(())
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<JournalEntry>, StoreError> {
    let mut entries = Vec::new();
    for (i, line) in bytes.split(|b| *b == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        check_schema(path, line)?;
        let entry = serde_json::from_slice(line).map_err(|source| StoreError::JournalLine {
            path: path.to_owned(),
            line: i + 1,
            source,
        })?;
        entries.push(entry);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_cut_and_the_rest_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        let mut journal = CampaignJournal::open(&path).expect("opened");
        journal.append(JournalEvent::Started { boot_id: None }).expect("appended");
        journal.append(JournalEvent::Look { blocks: 6 }).expect("appended");
        drop(journal);
        let whole = std::fs::read(&path).expect("there");
        for cut in 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let mut journal = CampaignJournal::open(&path).expect("a torn journal opens");
            let kept = whole[..cut].iter().filter(|b| **b == b'\n').count();
            assert_eq!(journal.entries().len(), kept, "cut at {cut}");
            journal.append(JournalEvent::Look { blocks: 12 }).expect("appended");
            assert_eq!(CampaignJournal::read(&path).expect("readable").len(), kept + 1);
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, "{\"schema\":1}\n{}\n").expect("written");
        let error = CampaignJournal::open(&path).expect_err("damaged");
        assert!(error.to_string().contains("line 1"), "{error}");
    }
}
