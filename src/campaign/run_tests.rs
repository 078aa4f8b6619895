//! Order, resumption, reruns and stopping, with a runner that starts no process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use jiff::Timestamp;

use super::*;
use crate::campaign::RunAll;
use crate::config;
use crate::store::{
    KernelIdentity, SCHEMA, TrialFolder, TrialId, TrialRecord, TrialSpec, Version, Violation,
};

const EXPERIMENT: &str = r#"
schema = 1
title = "order"
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
reruns = 2
[analysis]
primary = "file_read.ops_per_sec"
"#;

fn plan() -> Plan {
    Plan::new(config::parse(Path::new("test.toml"), EXPERIMENT).expect("valid"))
}

fn manifest() -> Manifest {
    Manifest {
        schema: SCHEMA,
        run_bench: Version::current(),
        campaign: "c".to_owned(),
        created: Timestamp::UNIX_EPOCH,
        title: "order".to_owned(),
        experiment_hash: String::new(),
        seed: 1,
        host: "h".to_owned(),
        facts: None,
        kernel: KernelIdentity::default(),
        tools: BTreeMap::new(),
        drivers: BTreeMap::new(),
    }
}

/// Writes a record for each trial, as told by `outcome`; stops the campaign after `cancel_after`.
struct Fake {
    ran: Mutex<Vec<TrialId>>,
    outcome: fn(&TrialId) -> TrialOutcome,
    cancel_after: usize,
    cancel: CancellationToken,
}

impl Fake {
    fn new(outcome: fn(&TrialId) -> TrialOutcome) -> Self {
        Fake {
            ran: Mutex::new(Vec::new()),
            outcome,
            cancel_after: usize::MAX,
            cancel: CancellationToken::new(),
        }
    }

    fn arms(&self) -> String {
        let ran = self.ran.lock().expect("not poisoned");
        ran.iter().map(|id| id.arm.as_str()).collect()
    }
}

impl TrialRunner for Fake {
    async fn run(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        _cancel: &CancellationToken,
    ) -> Result<TrialStatus, CampaignError> {
        let mut ran = self.ran.lock().expect("not poisoned");
        ran.push(spec.id.clone());
        if ran.len() >= self.cancel_after {
            self.cancel.cancel();
        }
        let outcome = (self.outcome)(&spec.id);
        let status = match &outcome {
            TrialOutcome::Valid => TrialStatus::Valid,
            TrialOutcome::Invalid { .. } => TrialStatus::Invalid,
            TrialOutcome::Unsupported { .. } => TrialStatus::Unsupported,
            _ => TrialStatus::Failed,
        };
        folder.write_record(&record(spec, outcome))?;
        Ok(status)
    }
}

fn record(spec: &TrialSpec, outcome: TrialOutcome) -> TrialRecord {
    let (host, kernel) = ("h".to_owned(), KernelIdentity::default());
    TrialRecord { outcome, ..TrialRecord::blank(spec.clone(), host, kernel, Timestamp::UNIX_EPOCH) }
}

struct StopAt(u32);

impl Judge for StopAt {
    fn looks_at(&self, _plan: &Plan, blocks: u32) -> bool {
        blocks == self.0
    }

    fn decide(&self, _plan: &Plan, records: &[TrialRecord], blocks: u32) -> Decision {
        assert_eq!(records.iter().filter(|r| r.counts()).count() as u32, 4 * blocks);
        Decision::Stop(StopReason::Boundary)
    }
}

async fn run(results: &Path, fake: &Fake, judge: &impl Judge) -> Result<CampaignSummary, CampaignError> {
    let folder = CampaignFolder::create(results, "c").expect("created");
    let mut campaign = Campaign::open(folder, manifest(), plan(), None).expect("opened");
    campaign.run(fake, judge, &fake.cancel, &mut ()).await
}

fn valid(_id: &TrialId) -> TrialOutcome {
    TrialOutcome::Valid
}

#[tokio::test]
async fn blocks_are_mirrored_and_warmed_up_with_their_first_arm() {
    let results = tempfile::tempdir().expect("a folder");
    let fake = Fake::new(valid);
    let summary = run(results.path(), &fake, &RunAll).await.expect("ran");
    assert_eq!(summary.reason, StopReason::Planned);
    let arms = fake.arms();
    assert_eq!(arms.len(), 15, "{arms}");
    for block in arms.as_bytes().chunks(5) {
        assert_eq!(block[0], block[1], "{arms}: the warm-up is the first arm's");
        assert!(&block[1..] == b"abba" || &block[1..] == b"baab", "{arms}");
    }
}

#[tokio::test]
async fn a_resumed_campaign_runs_only_what_is_missing_and_warms_up_again() {
    let results = tempfile::tempdir().expect("a folder");
    let whole = Fake::new(valid);
    run(results.path(), &whole, &RunAll).await.expect("ran");
    let all = whole.ran.lock().expect("not poisoned").clone();

    let results = tempfile::tempdir().expect("a folder");
    let first = Fake { cancel_after: 8, ..Fake::new(valid) };
    let summary = run(results.path(), &first, &RunAll).await.expect("ran");
    assert_eq!(summary.reason, StopReason::Interrupted);
    let second = Fake::new(valid);
    run(results.path(), &second, &RunAll).await.expect("resumed");
    let mut ran = second.ran.lock().expect("not poisoned").clone();
    let warm_up = ran.remove(0);
    assert_eq!((warm_up.block, warm_up.position, warm_up.attempt), (1, 0, 1));
    assert_eq!(ran, all[8..], "everything from the ninth trial on, nothing twice");

    let third = Fake::new(valid);
    let summary = run(results.path(), &third, &RunAll).await.expect("nothing to do");
    assert_eq!((summary.reason, third.arms().as_str()), (StopReason::Planned, ""));
}

#[tokio::test]
async fn invalid_trials_are_repeated_until_the_cap() {
    fn first_attempts_fail(id: &TrialId) -> TrialOutcome {
        if id.position == 2 && id.attempt == 0 {
            let violations = vec![Violation::new("test.rule", "broken", "1")];
            TrialOutcome::Invalid { violations }
        } else {
            TrialOutcome::Valid
        }
    }
    let results = tempfile::tempdir().expect("a folder");
    let fake = Fake::new(first_attempts_fail);
    let summary = run(results.path(), &fake, &RunAll).await.expect("ran");
    assert_eq!(summary.reason, StopReason::TooManyInvalid, "three blocks need three reruns, two are allowed");
    assert!(summary.last_trouble.expect("said").contains("test.rule"));
    let records = CampaignFolder::create(results.path(), "c").expect("there").records().expect("readable");
    assert_eq!(records.iter().filter(|r| matches!(r.outcome, TrialOutcome::Invalid { .. })).count(), 3);
}

#[tokio::test]
async fn a_look_is_journalled_before_it_decides() {
    let results = tempfile::tempdir().expect("a folder");
    let summary = run(results.path(), &Fake::new(valid), &StopAt(2)).await.expect("ran");
    assert_eq!(summary.reason, StopReason::Boundary);
    let journal = CampaignJournal::read(&results.path().join("c/journal.jsonl")).expect("readable");
    let tail: Vec<_> = journal.iter().rev().take(2).map(|e| e.event.clone()).collect();
    assert_eq!(tail[0], JournalEvent::Stopped { reason: StopReason::Boundary });
    assert_eq!(tail[1], JournalEvent::Look { blocks: 2 });
}

#[tokio::test]
async fn unsupported_ends_the_campaign_with_its_reason() {
    let results = tempfile::tempdir().expect("a folder");
    let fake = Fake::new(|_| TrialOutcome::Unsupported { reason: "no SCTP in this kernel".to_owned() });
    let error = run(results.path(), &fake, &RunAll).await.expect_err("unsupported");
    assert!(error.to_string().contains("no SCTP"), "{error}");
}

fn third_of(fake: &Fake) -> TrialId {
    fake.ran.lock().expect("not poisoned")[2].clone()
}

#[tokio::test]
async fn a_trial_that_finished_after_its_campaign_was_killed_counts_once() {
    let results = tempfile::tempdir().expect("a folder");
    let first = Fake { cancel_after: 3, ..Fake::new(valid) };
    run(results.path(), &first, &RunAll).await.expect("ran");
    let path = results.path().join("c/journal.jsonl");
    let text = std::fs::read_to_string(&path).expect("there");
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&path, lines[..lines.len() - 2].join("\n") + "\n").expect("written");
    // Its record is there: it is taken up, not run again.
    let again = Fake::new(valid);
    run(results.path(), &again, &RunAll).await.expect("resumed");
    let third = third_of(&first);
    let ran_again = |id: &TrialId| id.place() == third.place();
    assert!(!again.ran.lock().expect("not poisoned").iter().any(ran_again));
    // Had it ended a moment later, there would be two: one counts.
    let folder = CampaignFolder::create(results.path(), "c").expect("there");
    let mut late = folder.create_trial(&third).expect("there").record().expect("read");
    late.spec.id.attempt += 1;
    folder.create_trial(&late.spec.id).expect("made").write_record(&late).expect("written");
    let records = folder.records().expect("readable");
    let there: Vec<u32> = records
        .iter()
        .filter(|r| r.counts() && r.spec.id.place() == third.place())
        .map(|r| r.spec.id.attempt)
        .collect();
    assert_eq!(there, [1], "of two attempts at one place the later");
    assert_eq!(records.iter().filter(|r| r.counts()).count(), 12);
}

#[tokio::test]
async fn a_trial_without_an_end_is_lost_and_run_again() {
    let results = tempfile::tempdir().expect("a folder");
    let fake = Fake { cancel_after: 3, ..Fake::new(valid) };
    run(results.path(), &fake, &RunAll).await.expect("ran");
    let path = results.path().join("c/journal.jsonl");
    let text = std::fs::read_to_string(&path).expect("there");
    let cut: Vec<&str> = text.lines().collect();
    // Drop the end of the third trial and the stop: as after kill -9.
    std::fs::write(&path, cut[..cut.len() - 2].join("\n") + "\n").expect("written");
    let record = results.path().join(format!("c/trials/{}/record.json", third_of(&fake)));
    std::fs::remove_file(&record).expect("there was one");
    let again = Fake::new(valid);
    run(results.path(), &again, &RunAll).await.expect("resumed");
    let ran = again.ran.lock().expect("not poisoned");
    assert!(ran.iter().any(|id| id.position == 2 && id.block == 0 && id.attempt == 1), "{ran:?}");
}
