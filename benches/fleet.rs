//! How long merging takes for ten thousand tasks that did no work: prints, asserts nothing.
//!
//!   cargo bench --bench fleet [-- TASKS]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use jiff::Timestamp;
use run_bench::campaign::{CampaignError, TrialRunner};
use run_bench::config::{self, FleetSection, Plan};
use run_bench::fleet::{
    Assignment, FleetFile, FleetFolder, FleetHost, Merger, Submission, TaskIdentity, run_block, standing,
};
use run_bench::store::{
    CampaignFolder, KernelIdentity, Manifest, SCHEMA, TrialFolder, TrialOutcome, TrialRecord, TrialSpec,
    TrialStatus, Version,
};
use run_bench::units::Nanos;
use tokio_util::sync::CancellationToken;

const EXPERIMENT: &str = r#"
schema = 1
title = "no work"
[workload.file-read]
tasks = 1
size = "1MiB"
duration = "1s"
[[arm]]
name = "a"
[[arm]]
name = "b"
[schedule]
blocks = 1
discard-first = false
[analysis]
primary = "file_read.ops_per_sec"
"#;

struct NoWork;

impl TrialRunner for NoWork {
    async fn run(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        _cancel: &CancellationToken,
    ) -> Result<TrialStatus, CampaignError> {
        folder.write_spec(spec)?;
        folder.write_record(&record(spec))?;
        Ok(TrialStatus::Valid)
    }
}

fn record(spec: &TrialSpec) -> TrialRecord {
    let (host, kernel) = ("host".to_owned(), KernelIdentity::default());
    let blank = TrialRecord::blank(spec.clone(), host, kernel, Timestamp::UNIX_EPOCH);
    TrialRecord { outcome: TrialOutcome::Valid, ..blank }
}

fn manifest() -> Manifest {
    Manifest {
        schema: SCHEMA,
        run_bench: Version::current(),
        campaign: "fleet".to_owned(),
        created: Timestamp::UNIX_EPOCH,
        title: "no work".to_owned(),
        experiment_hash: String::new(),
        seed: 1,
        host: "host".to_owned(),
        facts: None,
        kernel: KernelIdentity::default(),
        tools: BTreeMap::new(),
        drivers: BTreeMap::new(),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tasks: u32 = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(10_000);
    // In memory: the time of a disk's syncs is the disk's.
    let results = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let mut plan = Plan::new(config::parse(Path::new("bench.toml"), EXPERIMENT)?);
    plan.experiment.schedule.blocks = tasks;
    let campaign = CampaignFolder::create(results.path(), "fleet")?;
    campaign.write_plan(&plan)?;
    let folder = FleetFolder::create(&campaign)?;
    let host = FleetHost { node: "n1".to_owned(), class: "any".to_owned(), host: "host".to_owned() };
    folder.write_file(&FleetFile {
        schema: SCHEMA,
        section: FleetSection::default(),
        program: "/opt/run-bench".into(),
        hosts: vec![host],
        blocks_per_host: tasks,
        time_limit: Nanos::from_seconds(60),
        unfit: Vec::new(),
        confounders: Vec::new(),
    })?;
    campaign.write_manifest(&manifest())?;
    let assignment =
        Assignment { node: "n1".to_owned(), class: "any".to_owned(), blocks: (0..tasks).collect() };
    let submission =
        Submission { schema: SCHEMA, number: 1, at: Timestamp::UNIX_EPOCH, assignment, job: Some(1) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (cancel, node) = (CancellationToken::new(), manifest());
    let begun = Instant::now();
    for task in 0..tasks {
        let identity = TaskIdentity { job: 1, task, restart: 0, node: "n1".to_owned() };
        let of_task = (&submission, &identity);
        runtime.block_on(run_block(&folder, of_task, &node, &NoWork, &cancel, &mut ()))?;
    }
    println!("{tasks} tasks of 4 trials written in {:.1} s", begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    let mut merger = Merger::open(&folder)?;
    let merged = merger.merge(&merger.lacking())?;
    println!("{} blocks merged in {:.1} s", merged.blocks.len(), begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    let merged = merger.merge(&merger.lacking())?;
    println!(
        "nothing left to merge ({}), told in {:.2} s",
        merged.blocks.len(),
        begun.elapsed().as_secs_f64()
    );
    let begun = Instant::now();
    let standing = standing(&folder, |block| merger.has(block), &[], &[])?;
    println!("standing ({}) in {:.2} s", standing.text(), begun.elapsed().as_secs_f64());
    Ok(())
}
