//! Records of guests, made by hand.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::config;
use crate::config::{ArmRole, Plan};
use crate::store::{TrialId, Violation};

const EXPERIMENT: &str = r#"
schema = 1
title = "sealing"
[workload.file-read]
tasks = 1
size = "1MiB"
duration = "1s"
[[arm]]
name = "a"
[[arm]]
name = "b"
[analysis]
primary = "file_read.ops_per_sec"
"#;

/// The specification of a trial, for tests of targets.
pub(in crate::target) fn spec(nonce: &str) -> TrialSpec {
    let plan = Plan::new(config::parse(Path::new("test.toml"), EXPERIMENT).expect("valid"));
    TrialSpec {
        schema: SCHEMA,
        campaign: "c".to_owned(),
        id: TrialId {
            block: 0,
            position: 0,
            attempt: 0,
            workload: "file-read".to_owned(),
            arm: "a".to_owned(),
        },
        role: ArmRole::Baseline,
        discarded: false,
        seed: 1,
        workload: plan.workloads[0].workload.clone(),
        memcg: None,
        swap: None,
        environment: plan.environment().clone(),
        knobs: BTreeMap::new(),
        sample: plan.sample().clone(),
        kernel: None,
        deadline: Nanos::from_seconds(60),
        no_progress: Nanos::from_seconds(30),
        fixture: None,
        nonce: nonce.to_owned(),
    }
}

/// A record that a trial in a guest left, with a release of `release`.
fn left(folder: &TrialFolder, nonce: &str, release: &str) {
    let stamp = Stamp::default();
    write_failure(folder, &spec(nonce), "guest", TrialOutcome::Valid, &stamp).unwrap();
    let mut record = folder.record().unwrap();
    record.kernel.release = release.to_owned();
    folder.write_record(&record).unwrap();
}

fn folder() -> (tempfile::TempDir, TrialFolder) {
    let keep = tempfile::tempdir().unwrap();
    let folder = TrialFolder::at(&keep.path().join("t")).unwrap();
    (keep, folder)
}

fn expecting(release: &str) -> Stamp {
    Stamp {
        expected: Some(KernelIdentity { release: release.to_owned(), ..KernelIdentity::default() }),
        ..Stamp::default()
    }
}

#[test]
fn a_failed_trial_is_told_with_what_the_kernel_printed() {
    let (_keep, folder) = folder();
    let failed = TrialOutcome::Failed { stage: "workload".to_owned(), message: "signal 11".to_owned() };
    write_failure(&folder, &spec("n"), "guest", failed, &Stamp::default()).unwrap();
    let stamp =
        Stamp { remarks: vec!["the guest's kernel printed: no memory".to_owned()], ..Stamp::default() };
    assert_eq!(seal(&folder, &spec("n"), &stamp).unwrap(), Some(TrialStatus::Failed));
    let TrialOutcome::Failed { message, .. } = folder.record().unwrap().outcome else { panic!("it failed") };
    assert_eq!(message, "signal 11; the guest's kernel printed: no memory");
}

#[test]
fn a_record_of_another_attempt_is_none() {
    let (_keep, folder) = folder();
    assert_eq!(seal(&folder, &spec("n"), &Stamp::default()).unwrap(), None);
    left(&folder, "old", "9.9");
    assert_eq!(seal(&folder, &spec("new"), &Stamp::default()).unwrap(), None);
}

#[test]
fn the_wrong_kernel_makes_a_trial_invalid() {
    let (_keep, folder) = folder();
    left(&folder, "n", "9.8");
    assert_eq!(seal(&folder, &spec("n"), &expecting("9.9")).unwrap(), Some(TrialStatus::Invalid));
    let TrialOutcome::Invalid { violations } = folder.record().unwrap().outcome else { panic!("invalid") };
    assert!(matches!(&violations[..], [Violation { rule, .. }] if rule == identity::RULE), "{violations:?}");
    left(&folder, "n", "9.9");
    assert_eq!(seal(&folder, &spec("n"), &expecting("9.9")).unwrap(), Some(TrialStatus::Valid));
}

#[test]
fn emulation_is_stamped_and_remarks_are_kept() {
    let (_keep, folder) = folder();
    left(&folder, "n", "9.9");
    let stamp = Stamp {
        functional_only: Some("emulated processor".to_owned()),
        remarks: vec!["WARNING: x".to_owned()],
        wall: Nanos::from_seconds(7),
        raw: vec!["console.txt".to_owned()],
        ..Stamp::default()
    };
    seal(&folder, &spec("n"), &stamp).unwrap();
    let record = folder.record().unwrap();
    assert_eq!(record.functional_only.as_deref(), Some("emulated processor"));
    assert_eq!(record.host_events[0].detail, "WARNING: x");
    assert_eq!(record.overhead, Nanos::from_seconds(7));
    assert_eq!(record.raw, ["console.txt"]);
}

#[test]
fn a_guest_whose_clock_jumps_adds_no_more_than_the_boot_took() {
    for (from, to) in
        [("2026-01-01T00:00:00Z", "2031-01-01T00:00:00Z"), ("2026-01-01T00:00:00Z", "1970-01-01T00:00:00Z")]
    {
        let (_keep, folder) = folder();
        left(&folder, "n", "9.9.9");
        let mut record = folder.record().unwrap();
        (record.started, record.ended) = (from.parse().unwrap(), to.parse().unwrap());
        folder.write_record(&record).unwrap();
        let stamp = Stamp { wall: Nanos::from_seconds(9), ..Stamp::default() };
        assert_eq!(seal(&folder, &spec("n"), &stamp).unwrap(), Some(TrialStatus::Valid));
        assert!(folder.record().unwrap().overhead <= Nanos::from_seconds(9), "{from} to {to}");
    }
}
