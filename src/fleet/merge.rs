//! Taking whole blocks from tasks' folders into the campaign, each once.
//!
//! The choice of a try is written to `merged.jsonl` first; then its trials are
//! moved and its journal entries taken over. A merge that was killed is done
//! again from that line, so the same try counts and nothing counts twice. The
//! choice never looks at a metric: the oldest whole try of a block is taken.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::FleetError;
use super::layout::{FleetFile, FleetFolder};
use super::provenance::{BlockOrigin, read_origins};
use super::task::TaskStart;
use crate::campaign::{History, block_is_whole};
use crate::config::{Plan, TargetKind};
use crate::store::{
    CampaignFolder, CampaignJournal, JournalEntry, JournalEvent, Manifest, StoreError, TrialId, TrialRecord,
    TrialSpec, TrialStatus, read_json,
};

/// A try that does not count although its task says that it is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedTry {
    pub block: u32,
    pub path: PathBuf,
    pub why: String,
}

/// What one merge did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Merged {
    /// Blocks that are new in the campaign.
    pub blocks: Vec<u32>,
    pub refused: Vec<RefusedTry>,
    /// Blocks that were run twice to their end; the older try counts.
    pub twice: Vec<u32>,
}

/// The campaign's side of merging; held by the process that holds its lock.
#[derive(Debug)]
pub struct Merger {
    folder: FleetFolder,
    file: FleetFile,
    plan: Plan,
    manifest: Manifest,
    journal: CampaignJournal,
    history: History,
    origins: BTreeMap<u32, BlockOrigin>,
}

/// A verified try.
struct WholeTry {
    path: PathBuf,
    origin: BlockOrigin,
    entries: Vec<JournalEntry>,
    /// Every trial with a record, valid or not.
    trials: Vec<TrialId>,
}

impl Merger {
    pub fn open(folder: &FleetFolder) -> Result<Self, FleetError> {
        let campaign = folder.campaign();
        let journal = CampaignJournal::open(&campaign.journal_path())?;
        let mut merger = Merger {
            file: folder.file()?,
            plan: campaign.plan()?,
            manifest: campaign.manifest()?,
            history: History::new(journal.entries()),
            origins: BTreeMap::new(),
            folder: folder.clone(),
            journal,
        };
        merger.origins = read_origins(&folder.merged_path())?;
        Ok(merger)
    }

    pub fn file(&self) -> &FleetFile {
        &self.file
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    /// Writes an event to the campaign's journal.
    pub fn note(&mut self, event: JournalEvent) -> Result<(), FleetError> {
        self.journal.append(event)?;
        self.history = History::new(self.journal.entries());
        Ok(())
    }

    /// Whether the campaign has this block.
    pub fn has(&self, block: u32) -> bool {
        self.origins.contains_key(&block)
            && block_is_whole(&self.plan, self.manifest.seed, &self.history, block)
    }

    /// Blocks that the campaign lacks.
    pub fn lacking(&self) -> Vec<u32> {
        (0..self.file.blocks()).filter(|block| !self.has(*block)).collect()
    }

    /// Merges whichever of these blocks have a whole try.
    pub fn merge(&mut self, blocks: &[u32]) -> Result<Merged, FleetError> {
        let mut merged = Merged::default();
        let mut whole = Vec::new();
        for block in blocks.iter().copied().filter(|b| !self.has(*b)) {
            let mut found: Vec<WholeTry> = Vec::new();
            for path in self.folder.tries(block) {
                match self.verify(block, &path) {
                    Ok(Some(of_try)) => found.push(of_try),
                    Ok(None) => {}
                    Err(why) => merged.refused.push(RefusedTry { block, path, why }),
                }
            }
            if found.len() > 1 {
                merged.twice.push(block);
            }
            // What an interrupted merge chose stays chosen.
            let chosen = match self.origins.get(&block) {
                Some(origin) => found.into_iter().find(|t| t.origin == *origin),
                None => found.into_iter().next(),
            };
            whole.extend(chosen);
        }
        self.commit(&whole)?;
        merged.blocks = whole.iter().map(|t| t.origin.block).collect();
        Ok(merged)
    }

    fn commit(&mut self, whole: &[WholeTry]) -> Result<(), FleetError> {
        if whole.is_empty() {
            return Ok(());
        }
        let new: Vec<BlockOrigin> =
            whole.iter().map(|t| t.origin.clone()).filter(|o| !self.origins.contains_key(&o.block)).collect();
        append_origins(&self.folder.merged_path(), &new)?;
        self.origins.extend(new.into_iter().map(|o| (o.block, o)));
        let trials = self.folder.campaign().path().join("trials");
        let mut entries = Vec::new();
        for of_try in whole {
            for id in &of_try.trials {
                let (from, to) =
                    (of_try.path.join("trials").join(id.to_string()), trials.join(id.to_string()));
                if from.is_dir() {
                    std::fs::rename(&from, &to).map_err(StoreError::io("move a trial to", &to))?;
                }
            }
            entries.extend(of_try.entries.iter().cloned());
        }
        sync(&trials)?;
        self.journal.append_entries(entries)?;
        self.history = History::new(self.journal.entries());
        Ok(())
    }

    /// A try whose journal says that its block is whole, with every record read
    /// again. `None` where it never came so far; an error where it lies.
    fn verify(&self, block: u32, path: &Path) -> Result<Option<WholeTry>, String> {
        let Ok(of_try) = CampaignFolder::open(path) else { return Ok(None) };
        let Ok(entries) = CampaignJournal::read(&of_try.journal_path()) else { return Ok(None) };
        let history = History::new(&entries);
        if !block_is_whole(&self.plan, self.manifest.seed, &history, block) {
            return Ok(None);
        }
        let said = |error: StoreError| error.to_string();
        let start = TaskStart::read(&of_try).map_err(said)?;
        let theirs = of_try.manifest().map_err(said)?;
        let (ours, campaign) = (&self.manifest, &theirs.campaign);
        if start.block != block || theirs.seed != ours.seed || *campaign != ours.campaign {
            return Err(format!(
                "it belongs to block {} of {campaign} with seed {}, not to this block",
                start.block, theirs.seed
            ));
        }
        let mut trials = Vec::new();
        for entry in &entries {
            let JournalEvent::TrialEnded { id, status } = &entry.event else { continue };
            if *status == TrialStatus::Lost {
                continue;
            }
            self.verify_record(&of_try, id, (*status, &start.host))?;
            trials.push(id.clone());
        }
        let taken = |event: &JournalEvent| {
            matches!(
                event,
                JournalEvent::BlockPlanned { .. }
                    | JournalEvent::TrialStarted { .. }
                    | JournalEvent::TrialEnded { .. }
                    | JournalEvent::Rerun { .. }
            )
        };
        let class = self.file.class_of(&start.task.node).map(str::to_owned);
        let class = class.ok_or_else(|| format!("{} is no host of this fleet", start.task.node))?;
        Ok(Some(WholeTry {
            path: path.to_owned(),
            origin: BlockOrigin { block, class, host: start.host, task: start.task },
            entries: entries.into_iter().filter(|e| taken(&e.event)).collect(),
            trials,
        }))
    }

    fn verify_record(
        &self,
        of_try: &CampaignFolder,
        id: &TrialId,
        (status, host): (TrialStatus, &str),
    ) -> Result<(), String> {
        let name = id.to_string();
        let within = of_try.path().join("trials").join(&name);
        // A merge that was killed may have moved it already.
        let moved = self.folder.campaign().path().join("trials").join(&name);
        let trial = if within.is_dir() || !moved.is_dir() { within } else { moved };
        let whole = |error: StoreError| format!("{name} is not whole: {error}");
        let record: TrialRecord = read_json(&trial.join("record.json"), "trial record").map_err(whole)?;
        let spec: TrialSpec = read_json(&trial.join("spec.json"), "trial specification").map_err(whole)?;
        let wrong = |what: &str| Err(format!("the record of {name} {what}"));
        if record.spec.nonce != spec.nonce || record.spec.id != *id {
            return wrong("is that of another trial");
        }
        if record.spec.campaign != self.manifest.campaign {
            return wrong("is that of another campaign");
        }
        if status == TrialStatus::Valid && record.outcome != crate::store::TrialOutcome::Valid {
            return wrong("is not valid, although its journal says so");
        }
        // A guest has a name of its own.
        if self.plan.target().kind == TargetKind::Host && record.host != host {
            return wrong("is from another host than its task");
        }
        Ok(())
    }
}

/// Appends whole lines; a torn last line of a killed merge is cut first.
fn append_origins(path: &Path, origins: &[BlockOrigin]) -> Result<(), FleetError> {
    if origins.is_empty() {
        return Ok(());
    }
    let bytes = std::fs::read(path).unwrap_or_default();
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let mut text = Vec::new();
    for origin in origins {
        serde_json::to_writer(&mut text, origin).map_err(|source| StoreError::Json {
            what: "origin of a block",
            path: path.to_owned(),
            source,
        })?;
        text.push(b'\n');
    }
    let io = |action| StoreError::io(action, path);
    let mut file = File::options().create(true).truncate(false).write(true).open(path).map_err(io("open"))?;
    file.set_len(whole as u64).map_err(io("cut"))?;
    std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).map_err(io("seek"))?;
    file.write_all(&text).and_then(|()| file.sync_data()).map_err(io("write"))?;
    Ok(())
}

fn sync(folder: &Path) -> Result<(), FleetError> {
    let file = File::open(folder).map_err(StoreError::io("open", folder))?;
    Ok(file.sync_all().map_err(StoreError::io("sync", folder))?)
}
