//! What tests of guest kernels share: one trial's specification and its record.

use std::collections::BTreeMap;
use std::path::Path;

use run_bench::config::{ArmRole, Plan, parse};
use run_bench::store::{SCHEMA, TrialFolder, TrialId, TrialSpec};
use run_bench::units::Nanos;

/// A small memcached in a memory cgroup on ramdisk swap, for guests of one processor.
pub const MEMCACHED: &str = r#"
schema = 1
title = "memcached in a guest"
[memcg]
limit = "32MiB"
confine = ["server"]
[swap]
kind = "ramdisk"
size = "128MiB"
[workload.memcached]
memory = "128MiB"
threads = 1
socket = "unix"
[workload.memcached.load]
driver = "builtin"
keys = 40_000
value = "1KiB"
pattern = "P:P"
ratio = "1:0"
clients = 1
threads = 1
pipeline = 8
fill = true
[[arm]]
name = "a"
[[arm]]
name = "b"
[analysis]
primary = "memcached.ops_per_sec"
"#;

/// The first trial of an experiment's first arm.
pub fn first_trial(experiment: &str) -> TrialSpec {
    let plan = Plan::new(parse(Path::new("test.toml"), experiment).expect("a valid experiment"));
    let (arm, workload) = (plan.baseline(), &plan.workloads[0].workload);
    TrialSpec {
        schema: SCHEMA,
        campaign: "test".to_owned(),
        id: TrialId {
            block: 0,
            position: 0,
            attempt: 0,
            workload: workload.name().to_owned(),
            arm: arm.name.clone(),
        },
        role: ArmRole::Baseline,
        discarded: false,
        seed: 1,
        workload: workload.clone(),
        memcg: arm.memcg.clone(),
        swap: plan.swap().cloned(),
        environment: plan.environment().clone(),
        knobs: BTreeMap::new(),
        sample: plan.sample().clone(),
        kernel: None,
        deadline: Nanos::from_seconds(120),
        no_progress: Nanos::from_seconds(60),
        fixture: None,
        nonce: "nonce-of-this-test".to_owned(),
    }
}

/// A folder for one trial.
pub fn trial_folder() -> (tempfile::TempDir, TrialFolder) {
    let keep = tempfile::tempdir().expect("a folder");
    let folder = TrialFolder::at(&keep.path().join("trial")).expect("created");
    (keep, folder)
}
