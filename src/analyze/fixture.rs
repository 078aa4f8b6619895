//! Campaign folders with invented values, for tests of analysis and reports and for `selftest faults`.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::campaign::block_order;
use crate::config::{self, ArmRole, EnvironmentSection, Plan};
use crate::metric::Measurement;
use crate::store::{
    CampaignFolder, CampaignJournal, DriverIdentity, JournalEvent, KernelIdentity, Manifest, SCHEMA,
    StopReason, TrialId, TrialOutcome, TrialRecord, TrialSpec, Version, Violation,
};
use crate::units::Nanos;

/// Two candidates' worth of text: `b` is compared with `a`, `a2` is its control.
pub(crate) const EXPERIMENT: &str = r#"
schema = 1
title = "invented limits"
[memcg]
limit = "64MiB"
[workload.file-read]
tasks = 1
size = "1MiB"
duration = "1s"
[[arm]]
name = "a"
[[arm]]
name = "b"
memcg = { limit = "80MiB" }
[[arm]]
name = "a2"
role = "control"
[schedule]
blocks = 8
[analysis]
primary = "file_read.ops_per_sec"
"#;

/// A value for a place in the schedule: block, position, arm. `None` makes the trial invalid.
pub(crate) type Value<'a> = &'a dyn Fn(u32, u32, &str) -> Option<f64>;

/// Writes a whole campaign whose primary metric has the values given.
pub(crate) fn campaign(results: &Path, name: &str, experiment: &str, value: Value<'_>) -> CampaignFolder {
    let plan = Plan::new(config::parse(Path::new("fixture.toml"), experiment).expect("a valid experiment"));
    let folder = CampaignFolder::create(results, name).expect("created");
    folder.write_plan(&plan).expect("written");
    folder.write_manifest(&manifest(name, &plan)).expect("written");
    std::fs::write(folder.experiment_path(), experiment).expect("written");
    let mut journal = CampaignJournal::open(&folder.journal_path()).expect("opened");
    journal.append(JournalEvent::Started { boot_id: None }).expect("written");
    for block in 0..plan.schedule().blocks {
        write_block(&folder, &plan, block, value);
    }
    journal.append(JournalEvent::Stopped { reason: StopReason::Planned }).expect("written");
    folder
}

fn write_block(folder: &CampaignFolder, plan: &Plan, block: u32, value: Value<'_>) {
    for workload in &plan.workloads {
        let order = block_order(plan.schedule().seed, workload.workload.name(), block, plan.arms.len());
        for (position, arm) in order.into_iter().enumerate() {
            let arm = &plan.arms[arm];
            let id = TrialId {
                block,
                position: position as u32,
                attempt: 0,
                workload: workload.workload.name().to_owned(),
                arm: arm.name.clone(),
            };
            let found = value(block, position as u32, &arm.name);
            let mut record = record(spec(plan, &id, arm.role));
            match found {
                Some(number) => {
                    let metrics = workload.workload.metrics();
                    let metric = metrics.iter().find(|m| workload.primary.contains(&m.id)).expect("declared");
                    record.measurements.push(Measurement { metric: metric.clone(), value: number });
                }
                None => {
                    let violations = vec![Violation::new("fixture.broken", "told to be invalid", "1")];
                    record.outcome = TrialOutcome::Invalid { violations };
                }
            }
            folder.create_trial(&id).expect("created").write_record(&record).expect("written");
        }
    }
}

pub(crate) fn manifest(name: &str, plan: &Plan) -> Manifest {
    Manifest {
        schema: SCHEMA,
        run_bench: Version { version: "0.0.0".to_owned(), commit: None },
        campaign: name.to_owned(),
        created: Timestamp::UNIX_EPOCH,
        title: plan.experiment.title.clone(),
        experiment_hash: "00".to_owned(),
        seed: plan.schedule().seed,
        host: "Example CPU (00000000)".to_owned(),
        facts: None,
        kernel: KernelIdentity { release: "9.9.9".to_owned(), ..KernelIdentity::default() },
        tools: BTreeMap::new(),
        drivers: BTreeMap::new(),
    }
}

fn spec(plan: &Plan, id: &TrialId, role: ArmRole) -> TrialSpec {
    TrialSpec {
        schema: SCHEMA,
        campaign: "fixture".to_owned(),
        id: id.clone(),
        role,
        discarded: false,
        seed: 1,
        workload: plan.workloads[0].workload.clone(),
        memcg: plan.experiment.memcg.clone(),
        swap: None,
        environment: EnvironmentSection::default(),
        knobs: BTreeMap::new(),
        sample: plan.sample().clone(),
        kernel: None,
        deadline: Nanos::from_seconds(60),
        no_progress: Nanos::from_seconds(60),
        fixture: None,
        nonce: id.to_string(),
    }
}

pub(crate) fn record(spec: TrialSpec) -> TrialRecord {
    let kernel = KernelIdentity { release: "9.9.9".to_owned(), ..KernelIdentity::default() };
    let host = "Example CPU (00000000)".to_owned();
    TrialRecord {
        run_bench: Version { version: "0.0.0".to_owned(), commit: None },
        outcome: TrialOutcome::Valid,
        driver: Some(DriverIdentity { name: "builtin".to_owned(), version: "0.0.0".to_owned() }),
        ..TrialRecord::blank(spec, host, kernel, Timestamp::UNIX_EPOCH)
    }
}

/// Values around `level` times the arm's factor, with noise of `deviation`, seeded by the place.
pub(crate) fn noisy(level: f64, factor: f64, deviation: f64, place: (u32, u32)) -> f64 {
    let seed = u64::from(place.0) << 32 | u64::from(place.1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    level * factor * (deviation * sum).exp()
}
