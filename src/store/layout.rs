//! Where things lie in a campaign's folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::atomic::{create_private_folder, read_json, write_json_on};
use super::error::StoreError;
use super::journal::CampaignJournal;
use super::manifest::Manifest;
use super::ownership::no_links;
use super::record::TrialRecord;
use super::spec::{TrialId, TrialSpec};
use crate::config::Plan;
use crate::host::DiskRoom;

/// A campaign's folder.
#[derive(Debug, Clone)]
pub struct CampaignFolder {
    path: PathBuf,
    disk: DiskRoom,
}

/// A trial's folder.
#[derive(Debug, Clone)]
pub struct TrialFolder {
    path: PathBuf,
    disk: DiskRoom,
}

/// Refuses what could leave the results folder or hide in it.
fn check_name(name: &str) -> Result<(), StoreError> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let good = !name.is_empty() && name.len() <= 120 && name.bytes().all(allowed) && !name.starts_with('.');
    if good { Ok(()) } else { Err(StoreError::Name { name: name.to_owned() }) }
}

fn refuse_link(path: &Path) -> Result<(), StoreError> {
    match path.symlink_metadata() {
        Ok(meta) if meta.file_type().is_symlink() => Err(StoreError::Link { path: path.to_owned() }),
        _ => Ok(()),
    }
}

impl CampaignFolder {
    fn at(path: PathBuf) -> Self {
        CampaignFolder { path, disk: DiskRoom::default() }
    }

    /// The same folder, on a disk with so much room.
    pub fn on(self, disk: DiskRoom) -> Self {
        CampaignFolder { disk, ..self }
    }

    /// Opens or makes the journal.
    pub fn open_journal(&self) -> Result<CampaignJournal, StoreError> {
        Ok(CampaignJournal::open(&self.journal_path())?.on(self.disk.clone()))
    }

    /// Creates `results/name`; it may exist already, when a campaign is resumed.
    pub fn create(results: &Path, name: &str) -> Result<Self, StoreError> {
        check_name(name)?;
        let path = results.join(name);
        std::fs::create_dir_all(results).map_err(StoreError::io("create", results))?;
        refuse_link(&path)?;
        create_private_folder(&path)?;
        create_private_folder(&path.join("trials"))?;
        Ok(CampaignFolder::at(path))
    }

    /// An existing campaign.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        refuse_link(path)?;
        if path.join("manifest.json").is_file() {
            Ok(CampaignFolder::at(path.to_owned()))
        } else {
            Err(StoreError::NoCampaign { path: path.to_owned() })
        }
    }

    /// A folder that may have no manifest yet.
    pub fn unfinished(path: &Path) -> Result<Self, StoreError> {
        refuse_link(path)?;
        Ok(CampaignFolder::at(path.to_owned()))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last part of the path.
    pub fn name(&self) -> String {
        self.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub fn journal_path(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    pub fn experiment_path(&self) -> PathBuf {
        self.path.join("experiment.toml")
    }

    /// Counters over time that the model made for an arm, if anybody asked it.
    pub fn simulated_path(&self, workload: &str, arm: &str) -> PathBuf {
        self.path.join("simulated").join(workload).join(format!("{arm}.jsonl"))
    }

    pub fn report_path(&self) -> PathBuf {
        self.path.join("report")
    }

    pub fn has_manifest(&self) -> bool {
        self.path.join("manifest.json").is_file()
    }

    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        write_json_on(&self.disk, &self.path.join("manifest.json"), manifest)
    }

    pub fn manifest(&self) -> Result<Manifest, StoreError> {
        read_json(&self.path.join("manifest.json"), "manifest")
    }

    pub fn write_plan(&self, plan: &Plan) -> Result<(), StoreError> {
        write_json_on(&self.disk, &self.path.join("plan.json"), plan)
    }

    pub fn plan(&self) -> Result<Plan, StoreError> {
        read_json(&self.path.join("plan.json"), "plan")
    }

    /// Takes the campaign for this process; released when the file is dropped.
    pub fn lock(&self) -> Result<File, StoreError> {
        let path = self.path.join("lock");
        refuse_link(&path)?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .custom_flags(no_links())
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0).map_err(StoreError::io("write", &path))?;
                std::io::Write::write_all(&mut &file, std::process::id().to_string().as_bytes())
                    .map_err(StoreError::io("write", &path))?;
                Ok(file)
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                let pid = std::fs::read_to_string(&path).unwrap_or_default();
                Err(StoreError::Locked { path: self.path.clone(), pid })
            }
            Err(std::fs::TryLockError::Error(e)) => Err(StoreError::io("lock", &path)(e)),
        }
    }

    /// The folder of a trial; created when absent.
    pub fn create_trial(&self, id: &TrialId) -> Result<TrialFolder, StoreError> {
        let name = id.to_string();
        check_name(&name)?;
        let trials = self.path.join("trials");
        refuse_link(&trials)?;
        let path = trials.join(name);
        refuse_link(&path)?;
        create_private_folder(&path)?;
        Ok(TrialFolder { path, disk: self.disk.clone() })
    }

    /// Folders of every trial, in the order of their names.
    pub fn trials(&self) -> Result<Vec<TrialFolder>, StoreError> {
        let folder = self.path.join("trials");
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(StoreError::io("list", &folder))? {
            let entry = entry.map_err(StoreError::io("list", &folder))?;
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                paths.push(entry.path());
            }
        }
        paths.sort();
        Ok(paths.into_iter().map(|path| TrialFolder { path, disk: self.disk.clone() }).collect())
    }

    /// Every finished record. A trial without one was killed and is passed over.
    /// Of two valid attempts at one place the later stands: the campaign was
    /// killed and resumed while the earlier one was ending.
    pub fn records(&self) -> Result<Vec<TrialRecord>, StoreError> {
        let mut records: Vec<TrialRecord> = Vec::new();
        for trial in self.trials()? {
            if trial.has_record() {
                records.push(trial.record()?);
            }
        }
        let mut last: BTreeMap<_, u32> = BTreeMap::new();
        for id in records.iter().filter(|r| r.counts()).map(|r| r.spec.id.clone()) {
            let attempt = last.entry(TrialId { attempt: 0, ..id.clone() }).or_default();
            *attempt = (*attempt).max(id.attempt);
        }
        records.retain(|record| {
            let id = &record.spec.id;
            !record.counts() || last.get(&TrialId { attempt: 0, ..id.clone() }) == Some(&id.attempt)
        });
        Ok(records)
    }
}

impl TrialFolder {
    /// A folder at a path of the caller's choice, as `run-bench trial --out` takes.
    pub fn at(path: &Path) -> Result<Self, StoreError> {
        refuse_link(path)?;
        create_private_folder(path)?;
        Ok(TrialFolder { path: path.to_owned(), disk: DiskRoom::default() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn spec_path(&self) -> PathBuf {
        self.path.join("spec.json")
    }

    pub fn series_path(&self) -> PathBuf {
        self.path.join("series.jsonl")
    }

    /// The folder of raw tool output; created when absent.
    pub fn raw(&self) -> Result<PathBuf, StoreError> {
        let path = self.path.join("raw");
        refuse_link(&path)?;
        create_private_folder(&path)?;
        Ok(path)
    }

    pub fn has_record(&self) -> bool {
        self.path.join("record.json").is_file()
    }

    /// Keeps a record that must not be counted, under another name.
    pub fn set_record_aside(&self) -> Result<(), StoreError> {
        let (record, aside) = (self.path.join("record.json"), self.path.join("record.unchecked.json"));
        std::fs::rename(&record, &aside).map_err(StoreError::io("set aside", &record))
    }

    pub fn write_spec(&self, spec: &TrialSpec) -> Result<(), StoreError> {
        write_json_on(&self.disk, &self.spec_path(), spec)
    }

    pub fn write_record(&self, record: &TrialRecord) -> Result<(), StoreError> {
        write_json_on(&self.disk, &self.path.join("record.json"), record)
    }

    pub fn record(&self) -> Result<TrialRecord, StoreError> {
        read_json(&self.path.join("record.json"), "trial record")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_the_results_folder() {
        let results = tempfile::tempdir().expect("a folder");
        for bad in ["", "..", "../x", "a/b", ".hidden", "a b", "x\0"] {
            assert!(CampaignFolder::create(results.path(), bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn links_are_refused() {
        let results = tempfile::tempdir().expect("a folder");
        let elsewhere = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink(elsewhere.path(), results.path().join("c")).expect("a link");
        let error = CampaignFolder::create(results.path(), "c").expect_err("a link");
        assert!(matches!(error, StoreError::Link { .. }), "{error}");
    }

    #[test]
    fn a_campaign_is_locked_once() {
        let results = tempfile::tempdir().expect("a folder");
        let folder = CampaignFolder::create(results.path(), "c").expect("created");
        let held = folder.lock().expect("free");
        let error = folder.lock().expect_err("held");
        assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
        drop(held);
        folder.lock().expect("free again");
    }
}
