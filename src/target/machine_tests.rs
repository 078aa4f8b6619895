//! Trials in fake guests: shell scripts that leave what a guest would.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::super::guest::{END, Limits, Packer, SCHEMA};
use super::super::seal::tests::spec;
use super::*;
use crate::exec::Command;

/// What a guest's parcel says and holds.
struct Left {
    exit: Option<i32>,
    problem: Option<&'static str>,
    record: Option<&'static str>,
}

/// Runs a trial whose guest leaves this, and returns its outcome.
async fn outcome(left: Left) -> (TrialStatus, TrialOutcome, tempfile::TempDir) {
    let exchange = Exchange::create().unwrap();
    let (path, nonce) = (exchange.path().to_owned(), exchange.nonce().to_owned());
    let end = JobEnd {
        schema: SCHEMA,
        nonce: nonce.clone(),
        exit: left.exit,
        problem: left.problem.map(str::to_owned),
        init_at: Nanos(1),
        job_at: Nanos(2),
        ended_at: Nanos(3),
    };
    let mut packer = Packer::default();
    packer.file(END, serde_json::to_vec(&end).unwrap());
    let out = path.join("work");
    std::fs::create_dir(&out).unwrap();
    if let Some(text) = left.record {
        std::fs::write(out.join("record.json"), text).unwrap();
    }
    packer.folder(guest::OUT, &out).unwrap();
    let parcel = path.join("ready");
    packer.deliver(&nonce, &parcel).unwrap();
    let program = path.join("guest");
    let marks: String = ["init", "ready", "job", "ended", "delivered"]
        .map(|s| format!("echo run-bench guest {nonce} {s}\n"))
        .concat();
    std::fs::write(&program, format!("#!/bin/sh\necho Linux version 9.9.9\n{marks}")).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let limits = Limits::for_job(Duration::from_secs(20));
    let launch = Launch { command: Command::new(&program), nonce, limits, parcel };
    let keep = tempfile::tempdir().unwrap();
    let folder = TrialFolder::at(&keep.path().join("t")).unwrap();
    let trial = GuestTrial { spec: &spec("n"), folder: &folder, host: "host", stamp: Stamp::default() };
    let prepared = Prepared { launch, exchange, machine: program };
    let status = trial.run(prepared, &CancellationToken::new()).await.unwrap();
    assert!(!path.exists(), "the exchange folder is gone");
    assert!(folder.path().join("raw").join(CONSOLE).is_file());
    (status, folder.record().unwrap().outcome, keep)
}

fn message(outcome: TrialOutcome) -> String {
    match outcome {
        TrialOutcome::Failed { stage, message } => format!("{stage}: {message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn status_0_without_a_record_is_a_failed_trial() {
    let (status, outcome, _keep) = outcome(Left { exit: Some(0), problem: None, record: None }).await;
    assert_eq!(status, TrialStatus::Failed);
    let text = message(outcome);
    assert!(
        text.starts_with(
            "guest-job: the trial in the guest left no record of its own: it ended with status 0"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn a_killed_trial_is_told_as_one() {
    let left = Left { exit: None, problem: Some("the job was ended: Deadline"), record: None };
    let (_, outcome, _keep) = outcome(left).await;
    assert!(message(outcome).contains("the job was ended: Deadline"));
}
