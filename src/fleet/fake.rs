//! A batch system and trials that run in the test's own process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::drive::{FleetEnd, FleetRun, FleetWatch};
use super::error::FleetError;
use super::layout::{FleetFile, FleetFolder, FleetHost, SCHEMA, Submission};
use super::merge::Merged;
use super::request::TaskIdentity;
use super::scheduler::{JobRequest, NodeLine, Scheduler, TaskLine};
use super::standing::Standing;
use super::task::run_block;
use crate::campaign::{CampaignError, TrialRunner};
use crate::config::{self, FleetSection, Plan};
use crate::store::{
    CampaignFolder, KernelIdentity, Manifest, StoreError, TrialFolder, TrialOutcome, TrialRecord, TrialSpec,
    TrialStatus, Version,
};
use crate::units::Nanos;

const EXPERIMENT: &str = r#"
schema = 1
title = "fleet"
[workload.file-read]
tasks = 1
size = "1MiB"
duration = "1s"
[[arm]]
name = "a"
[[arm]]
name = "b"
[schedule]
blocks = 3
discard-first = false
[analysis]
primary = "file_read.ops_per_sec"
"#;

/// What becomes of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Whole,
    /// Whole, and run again by the batch system.
    Twice,
    /// SIGKILL in the middle: no last word.
    Killed(&'static str),
    /// SIGTERM in the middle: it restores and says so.
    Stopped(&'static str),
    /// It never began.
    Lost(&'static str),
    /// A record was only half written.
    Torn,
    FullDisk,
    /// It waits for ever.
    Waits,
}

type Fates = fn(block: u32, submission: u32) -> Fate;

pub(super) struct FakeSlurm {
    folder: FleetFolder,
    fates: Fates,
    down: Mutex<Vec<String>>,
    jobs: Mutex<Vec<u64>>,
    ran: Mutex<BTreeMap<(u64, u32), TaskLine>>,
    pub(super) largest: u32,
    pub(super) forgets: bool,
}

/// Runs nothing; stops or fails after so many trials.
struct NoWork {
    stop_after: usize,
    full: bool,
    cancel: CancellationToken,
    count: Mutex<usize>,
    host: String,
}

impl TrialRunner for NoWork {
    async fn run(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        _cancel: &CancellationToken,
    ) -> Result<TrialStatus, CampaignError> {
        let mut count = self.count.lock().expect("not poisoned");
        *count += 1;
        if *count > self.stop_after {
            if self.full {
                let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
                return Err(StoreError::Io { action: "write", path: folder.path().to_owned(), source }.into());
            }
            self.cancel.cancel();
            return Ok(TrialStatus::Interrupted);
        }
        folder.write_spec(spec)?;
        folder.write_record(&record(spec, &self.host))?;
        Ok(TrialStatus::Valid)
    }
}

fn record(spec: &TrialSpec, host: &str) -> TrialRecord {
    let (host, kernel) = (host.to_owned(), KernelIdentity::default());
    let blank = TrialRecord::blank(spec.clone(), host, kernel, Timestamp::UNIX_EPOCH);
    TrialRecord { outcome: TrialOutcome::Valid, ..blank }
}

impl FakeSlurm {
    pub(super) fn new(folder: &FleetFolder, fates: Fates) -> Self {
        FakeSlurm {
            folder: folder.clone(),
            fates,
            down: Mutex::default(),
            jobs: Mutex::default(),
            ran: Mutex::default(),
            largest: 1000,
            forgets: false,
        }
    }

    pub(super) fn set_down(&self, nodes: &[&str]) {
        *self.down.lock().expect("not poisoned") = nodes.iter().map(|n| (*n).to_owned()).collect();
    }

    async fn run_task(&self, submission: &Submission, job: u64, task: u32) {
        let block = submission.assignment.blocks[task as usize];
        let fate = (self.fates)(block, submission.number);
        let (stop_after, full, state, restarts) = match fate {
            Fate::Whole | Fate::Torn => (usize::MAX, false, "COMPLETED", 1),
            Fate::Twice => (usize::MAX, false, "COMPLETED", 2),
            Fate::Killed(state) | Fate::Stopped(state) => (2, false, state, 1),
            Fate::FullDisk => (2, true, "FAILED", 1),
            Fate::Lost(state) => (0, false, state, 0),
            Fate::Waits => (0, false, "PENDING", 0),
        };
        let node = submission.assignment.node.clone();
        for restart in 0..restarts {
            let cancel = CancellationToken::new();
            let host = format!("host of {node}");
            let runner = NoWork {
                stop_after,
                full,
                cancel: cancel.clone(),
                count: Mutex::default(),
                host: host.clone(),
            };
            let identity = TaskIdentity { job, task, restart, node: node.clone() };
            let manifest = Manifest { host, ..manifest() };
            let ran =
                run_block(&self.folder, (submission, &identity), &manifest, &runner, &cancel, &mut ()).await;
            assert_eq!(ran.is_err(), full, "{ran:?}");
            let of_try = self.folder.block_path(block).join(identity.try_name());
            if matches!(fate, Fate::Killed(_)) {
                std::fs::remove_file(of_try.join("end.json")).expect("it was there");
            }
            if fate == Fate::Torn {
                let trials = CampaignFolder::open(&of_try).and_then(|f| f.trials()).expect("listed");
                let torn = trials[1].path().join("record.json");
                let text = std::fs::read(&torn).expect("there");
                std::fs::write(&torn, &text[..text.len() / 2]).expect("written");
            }
        }
        let reason = if fate == Fate::Waits { "Resources" } else { "None" };
        let line =
            TaskLine { job, task, state: state.to_owned(), node: Some(node), reason: reason.to_owned() };
        self.ran.lock().expect("not poisoned").insert((job, task), line);
    }
}

impl Scheduler for FakeSlurm {
    async fn nodes(&self, _partition: Option<&str>) -> Result<Vec<NodeLine>, FleetError> {
        let down = self.down.lock().expect("not poisoned").clone();
        let node = |name: &str| NodeLine {
            name: name.to_owned(),
            state: if down.iter().any(|d| d == name) { "down*" } else { "idle" }.to_owned(),
            features: vec!["epyc".to_owned()],
            reason: "none".to_owned(),
        };
        Ok(["n1", "n2"].map(node).to_vec())
    }

    async fn largest_array(&self) -> Result<u32, FleetError> {
        Ok(self.largest)
    }

    async fn submit(&self, request: &JobRequest) -> Result<u64, FleetError> {
        assert!(request.tasks <= self.largest);
        let mut jobs = self.jobs.lock().expect("not poisoned");
        let job = 100 + jobs.len() as u64;
        jobs.push(job);
        Ok(job)
    }

    async fn tasks(&self, _name: &str) -> Result<Vec<TaskLine>, FleetError> {
        for submission in self.folder.submissions()? {
            let Some(job) = submission.job else { continue };
            for task in 0..submission.assignment.blocks.len() as u32 {
                let known = self.ran.lock().expect("not poisoned").contains_key(&(job, task));
                if !known {
                    self.run_task(&submission, job, task).await;
                }
            }
        }
        if self.forgets {
            return Ok(Vec::new());
        }
        Ok(self.ran.lock().expect("not poisoned").values().cloned().collect())
    }

    async fn accounts(&self, _jobs: &[u64]) -> Vec<TaskLine> {
        Vec::new()
    }

    async fn cancel(&self, jobs: &[u64]) -> Result<(), FleetError> {
        for line in self.ran.lock().expect("not poisoned").values_mut() {
            if jobs.contains(&line.job) && line.is_active() {
                line.state = "CANCELLED".to_owned();
            }
        }
        Ok(())
    }
}

/// Remembers what it was told.
#[derive(Default)]
pub(super) struct Told {
    pub(super) submitted: Vec<(String, Vec<u32>)>,
    pub(super) merged: Vec<Merged>,
    pub(super) remarks: Vec<String>,
    pub(super) cancels: bool,
}

impl FleetWatch for Told {
    fn submitted(&mut self, submission: &Submission) {
        let assignment = &submission.assignment;
        self.submitted.push((assignment.node.clone(), assignment.blocks.clone()));
    }

    fn merged(&mut self, merged: &Merged) {
        self.merged.push(merged.clone());
    }

    fn standing(&mut self, _standing: &Standing) {}

    fn remark(&mut self, text: &str) {
        self.remarks.push(text.to_owned());
    }

    fn cancels(&mut self, _jobs: &[u64]) -> bool {
        self.cancels
    }
}

pub(super) fn manifest() -> Manifest {
    Manifest {
        schema: SCHEMA,
        run_bench: Version::current(),
        campaign: "c".to_owned(),
        created: Timestamp::UNIX_EPOCH,
        title: "fleet".to_owned(),
        experiment_hash: String::new(),
        seed: 1,
        host: "fleet of 2: n1, n2".to_owned(),
        facts: None,
        kernel: KernelIdentity::default(),
        tools: BTreeMap::new(),
        drivers: BTreeMap::new(),
    }
}

/// A campaign on two hosts of three blocks each.
pub(super) fn fleet(results: &Path) -> FleetFolder {
    let mut plan = Plan::new(config::parse(Path::new("test.toml"), EXPERIMENT).expect("valid"));
    plan.experiment.schedule.blocks = 6;
    let campaign = CampaignFolder::create(results, "c").expect("created");
    campaign.write_plan(&plan).expect("written");
    let folder = FleetFolder::create(&campaign).expect("created");
    let host = |node: &str| FleetHost {
        node: node.to_owned(),
        class: "epyc".to_owned(),
        host: format!("host of {node}"),
    };
    let file = FleetFile {
        schema: SCHEMA,
        section: FleetSection { patience: Nanos(1_000_000), ..FleetSection::default() },
        program: "/opt/run-bench".into(),
        hosts: vec![host("n1"), host("n2")],
        blocks_per_host: 3,
        time_limit: Nanos::from_seconds(600),
        unfit: Vec::new(),
        confounders: Vec::new(),
    };
    folder.write_file(&file).expect("written");
    campaign.write_manifest(&manifest()).expect("written");
    folder
}

/// One `run` from its start to its end.
pub(super) async fn drive(folder: &FleetFolder, slurm: &FakeSlurm) -> (FleetEnd, Told) {
    let mut told = Told::default();
    let cancel = CancellationToken::new();
    let run = FleetRun { scheduler: slurm, folder, cancel: &cancel, poll: Duration::from_millis(1) };
    let end = run.drive(&mut told).await.expect("driven");
    (end, told)
}
