//! Where a fleet's files lie in its campaign's folder.
//!
//! ```text
//! fleet/
//!   fleet.json                 hosts, settings, confounders: written once, after the doctor
//!   task.sh  run-bench         what the batch system starts: a fixed script, a copy of this program
//!   doctor/<node>.json         what each node answered
//!   submissions/0001.json      which blocks an array holds, its node and job
//!   blocks/b0003/<try>/        a campaign folder of one block, as one task left it
//!   merged.jsonl               which try of each block counts
//!   seen.json                  the last state of tasks that ended without a block
//!   logs/                      what tasks printed
//! ```

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::choose::UnfitNode;
use super::error::FleetError;
use super::scheduler::TaskLine;
use crate::config::FleetSection;
use crate::store::{
    CampaignFolder, StoreError, create_private_folder, read_json, write_atomically, write_json,
};
use crate::units::Nanos;

/// The newest schema of a fleet's files.
pub(super) const SCHEMA: u32 = 1;

/// Starts the program and arguments that it is given. Fixed text: whatever a
/// user wrote comes as arguments, which no shell reads again.
const SCRIPT_TEXT: &str = "#!/bin/sh\nexec \"$@\"\n";

/// One host of the fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetHost {
    pub node: String,
    pub class: String,
    /// Stable name of the machine.
    pub host: String,
}

/// What the fleet was started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetFile {
    pub schema: u32,
    pub section: FleetSection,
    /// run-bench as the nodes find it.
    pub program: PathBuf,
    /// In the order of their blocks: host i runs blocks i × n to (i + 1) × n - 1.
    pub hosts: Vec<FleetHost>,
    pub blocks_per_host: u32,
    /// For one block.
    pub time_limit: Nanos,
    pub unfit: Vec<UnfitNode>,
    /// What is not the same on all hosts, a sentence each.
    pub confounders: Vec<String>,
}

impl FleetFile {
    pub fn blocks(&self) -> u32 {
        self.blocks_per_host * self.hosts.len() as u32
    }

    /// The host that a block was planned for.
    pub fn host_of(&self, block: u32) -> Option<&FleetHost> {
        self.hosts.get((block / self.blocks_per_host.max(1)) as usize)
    }

    pub fn class_of(&self, node: &str) -> Option<&str> {
        self.hosts.iter().find(|h| h.node == node).map(|h| h.class.as_str())
    }
}

/// The blocks that go to one node in one array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    pub node: String,
    pub class: String,
    /// Task i runs the i-th of them.
    pub blocks: Vec<u32>,
}

/// One array that was submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    pub schema: u32,
    pub number: u32,
    pub at: Timestamp,
    pub assignment: Assignment,
    /// Absent when this process was killed while it submitted.
    pub job: Option<u64>,
}

/// Last states of tasks, kept since batch systems forget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeenTasks {
    pub schema: u32,
    pub tasks: Vec<TaskLine>,
}

/// The fleet's part of a campaign's folder.
#[derive(Debug, Clone)]
pub struct FleetFolder {
    campaign: CampaignFolder,
    path: PathBuf,
}

impl FleetFolder {
    pub(super) const SCRIPT: &'static str = "fleet/task.sh";
    pub(super) const LOGS: &'static str = "fleet/logs";

    /// Made when absent, with the script.
    pub fn create(campaign: &CampaignFolder) -> Result<Self, FleetError> {
        let folder = FleetFolder::of(campaign);
        for part in ["", "doctor", "submissions", "blocks", "logs"] {
            create_private_folder(&folder.path.join(part))?;
        }
        let script = folder.path.join("task.sh");
        write_atomically(&script, SCRIPT_TEXT.as_bytes())?;
        set_mode(&script, 0o755)?;
        Ok(folder)
    }

    pub fn of(campaign: &CampaignFolder) -> Self {
        FleetFolder { path: campaign.path().join("fleet"), campaign: campaign.clone() }
    }

    /// Every job of a campaign has this name.
    pub fn job_name(campaign: &CampaignFolder) -> String {
        format!("run-bench-{}", campaign.name())
    }

    pub fn campaign(&self) -> &CampaignFolder {
        &self.campaign
    }

    /// Whether this campaign is one of a fleet whose hosts were chosen.
    pub fn is_there(&self) -> bool {
        self.path.join("fleet.json").is_file() && self.campaign.has_manifest()
    }

    pub fn file(&self) -> Result<FleetFile, StoreError> {
        read_json(&self.path.join("fleet.json"), "fleet")
    }

    pub fn write_file(&self, file: &FleetFile) -> Result<(), StoreError> {
        write_json(&self.path.join("fleet.json"), file)
    }

    /// Copies the running program to where all nodes find it; a copy that is
    /// there stays, so that every block of a campaign is run by one program.
    pub fn copy_program(&self, executable: &Path) -> Result<PathBuf, FleetError> {
        let path = self.path.join("run-bench");
        if !path.is_file() {
            let staged = self.path.join("run-bench.new");
            std::fs::copy(executable, &staged)
                .and_then(|_| std::fs::rename(&staged, &path))
                .map_err(|source| FleetError::Program { path: path.clone(), source })?;
            set_mode(&path, 0o755)?;
        }
        Ok(path)
    }

    pub(super) fn doctor_path(&self, node: &str) -> PathBuf {
        self.path.join("doctor").join(format!("{node}.json"))
    }

    pub(super) fn blocks_path(&self) -> PathBuf {
        self.path.join("blocks")
    }

    pub(super) fn block_path(&self, block: u32) -> PathBuf {
        self.blocks_path().join(block_name(block))
    }

    pub(super) fn merged_path(&self) -> PathBuf {
        self.path.join("merged.jsonl")
    }

    pub(super) fn seen(&self) -> Result<SeenTasks, StoreError> {
        let path = self.path.join("seen.json");
        if path.is_file() { read_json(&path, "list of tasks") } else { Ok(SeenTasks::default()) }
    }

    pub(super) fn write_seen(&self, seen: &SeenTasks) -> Result<(), StoreError> {
        write_json(&self.path.join("seen.json"), seen)
    }

    fn submission_path(&self, number: u32) -> PathBuf {
        self.path.join("submissions").join(format!("{number:04}.json"))
    }

    pub fn submission(&self, number: u32) -> Result<Submission, StoreError> {
        read_json(&self.submission_path(number), "submission")
    }

    pub(super) fn write_submission(&self, submission: &Submission) -> Result<(), StoreError> {
        write_json(&self.submission_path(submission.number), submission)
    }

    /// All arrays, in the order in which they were submitted.
    pub fn submissions(&self) -> Result<Vec<Submission>, StoreError> {
        let mut all = Vec::new();
        while self.submission_path(all.len() as u32 + 1).is_file() {
            all.push(self.submission(all.len() as u32 + 1)?);
        }
        Ok(all)
    }

    /// Folders of the tries of a block, oldest job first.
    pub(super) fn tries(&self, block: u32) -> Vec<PathBuf> {
        let mut names: Vec<((u64, u32, u32), PathBuf)> = std::fs::read_dir(self.block_path(block))
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let path = entry.ok().filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))?.path();
                Some((try_order(path.file_name()?.to_str()?)?, path))
            })
            .collect();
        names.sort();
        names.into_iter().map(|(_, path)| path).collect()
    }
}

/// `b0003`.
pub(super) fn block_name(block: u32) -> String {
    format!("b{block:04}")
}

/// Job, task and restart of `j12-t3-r0`.
fn try_order(name: &str) -> Option<(u64, u32, u32)> {
    let mut parts = name.split('-');
    let mut number = |letter| parts.next()?.strip_prefix(letter)?.parse::<u64>().ok();
    let (job, task, restart) = (number('j')?, number('t')?, number('r')?);
    Some((job, u32::try_from(task).ok()?, u32::try_from(restart).ok()?))
}

fn set_mode(path: &Path, mode: u32) -> Result<(), StoreError> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(StoreError::io("set the mode of", path))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn tries_are_ordered_by_number_and_strangers_passed_over() {
        let results = tempfile::tempdir().expect("a folder");
        let campaign = CampaignFolder::create(results.path(), "c").expect("created");
        let folder = FleetFolder::create(&campaign).expect("created");
        for name in ["j10-t0-r0", "j9-t2-r1", "j9-t2-r0", "notes", "j9-t2"] {
            std::fs::create_dir_all(folder.block_path(3).join(name)).expect("made");
        }
        let names: Vec<String> =
            folder.tries(3).iter().filter_map(|p| p.file_name()?.to_str().map(str::to_owned)).collect();
        assert_eq!(names, ["j9-t2-r0", "j9-t2-r1", "j10-t0-r0"]);
        assert!(folder.tries(4).is_empty());
    }

    #[test]
    fn the_program_is_copied_once() {
        let results = tempfile::tempdir().expect("a folder");
        let folder = FleetFolder::create(&CampaignFolder::create(results.path(), "c").expect("created"))
            .expect("created");
        let program = results.path().join("first");
        std::fs::write(&program, "one").expect("written");
        let copy = folder.copy_program(&program).expect("copied");
        std::fs::write(&program, "two").expect("written");
        assert_eq!(folder.copy_program(&program).expect("kept"), copy);
        assert_eq!(std::fs::read(&copy).expect("there"), b"one");
    }
}
