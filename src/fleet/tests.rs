//! The life of arrays on a fake batch system: whole, killed, lost, torn, twice, resumed, merged.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::drive::FleetRun;
use super::fake::{FakeSlurm, Fate, Told, drive, fleet};
use super::layout::FleetFolder;
use super::merge::Merger;
use super::provenance::provenance;
use super::standing::standing;
use crate::campaign::{History, block_is_whole};
use crate::store::{CampaignJournal, StopReason};

/// Names of the campaign's trials.
fn trials(folder: &FleetFolder) -> Vec<String> {
    let records = folder.campaign().records().expect("readable");
    records.iter().map(|r| r.spec.id.to_string()).collect()
}

#[tokio::test]
async fn every_block_comes_once_from_its_own_host() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = fleet(results.path());
    let (end, told) = drive(&folder, &FakeSlurm::new(&folder, |_, _| Fate::Whole)).await;
    assert_eq!(end.reason, StopReason::Planned);
    assert_eq!(told.submitted, [("n1".to_owned(), vec![0, 1, 2]), ("n2".to_owned(), vec![3, 4, 5])]);
    assert_eq!(trials(&folder).len(), 24, "six blocks of ABBA");
    for record in folder.campaign().records().expect("readable") {
        let node = if record.spec.id.block < 3 { "n1" } else { "n2" };
        assert_eq!(record.host, format!("host of {node}"), "{}", record.spec.id);
    }
    let origin = provenance(folder.campaign()).expect("readable").expect("a fleet");
    assert_eq!(origin.hosts(), [("n1", "epyc"), ("n2", "epyc")]);
    let history = History::new(&CampaignJournal::read(&folder.campaign().journal_path()).expect("readable"));
    let plan = folder.campaign().plan().expect("there");
    assert!((0..6).all(|b| block_is_whole(&plan, 1, &history, b)));
    assert_eq!(history.stopped(), Some(StopReason::Planned));
}

#[tokio::test]
async fn a_resumed_fleet_submits_only_what_is_missing_and_says_why() {
    fn fates(block: u32, submission: u32) -> Fate {
        match (submission, block) {
            (1..=2, 1) => Fate::Killed("NODE_FAIL"),
            (1..=2, 2) => Fate::Stopped("TIMEOUT"),
            (1..=2, 3) => Fate::Lost("CANCELLED"),
            (1..=2, 4) => Fate::FullDisk,
            _ => Fate::Whole,
        }
    }
    let results = tempfile::tempdir().expect("a folder");
    let folder = fleet(results.path());
    let slurm = FakeSlurm::new(&folder, fates);
    let (end, _) = drive(&folder, &slurm).await;
    assert_eq!(end.reason, StopReason::Missing);
    let why: Vec<(String, Vec<u32>)> =
        end.standing.missing().into_iter().map(|(why, blocks)| (why.to_owned(), blocks)).collect();
    assert_eq!(why.len(), 4, "{why:?}");
    for (block, words) in [
        (1, "its task was killed on n1: its node failed"),
        (2, "it ran into its time limit (longer: fleet.time-limit), and restored n1"),
        (3, "it was cancelled, on n2, before it began"),
        (4, "its task failed on n2: cannot write"),
    ] {
        assert!(why.iter().any(|(w, b)| *b == [block] && w.starts_with(words)), "{block}: {why:?}");
    }
    assert_eq!(trials(&folder).len(), 8, "blocks 0 and 5: nothing of a part block is taken");
    let (end, told) = drive(&folder, &slurm).await;
    assert_eq!(end.reason, StopReason::Planned, "{:?}", end.standing);
    assert_eq!(told.submitted, [("n1".to_owned(), vec![1, 2]), ("n2".to_owned(), vec![3, 4])]);
    assert_eq!(trials(&folder).len(), 24);
    let (end, told) = drive(&folder, &slurm).await;
    assert!(end.reason == StopReason::Planned && told.submitted.is_empty() && told.merged.is_empty());
}

#[tokio::test]
async fn a_task_that_ran_twice_counts_once_and_the_merge_can_be_repeated() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = fleet(results.path());
    let slurm = FakeSlurm::new(&folder, |block, _| if block == 2 { Fate::Twice } else { Fate::Whole });
    let (_, told) = drive(&folder, &slurm).await;
    assert!(told.merged.iter().any(|m| m.twice == [2]), "{:?}", told.merged);
    let origin = provenance(folder.campaign()).expect("readable").expect("a fleet");
    assert_eq!(origin.blocks[&2].task.restart, 0, "the older run counts");
    let before = trials(&folder);
    assert_eq!(before.len(), 24);
    let all: Vec<u32> = (0..6).collect();
    let merged = Merger::open(&folder).expect("opened").merge(&all).expect("merged again");
    assert!(merged.blocks.is_empty() && merged.refused.is_empty(), "{merged:?}");
    assert_eq!(trials(&folder), before);
}

/// A merge may die after its choice is written, in the middle of the moves, or
/// before the journal is written; done again it gives the same campaign.
#[tokio::test]
async fn a_merge_that_was_killed_is_done_again() {
    for moved in 0..=4 {
        let results = tempfile::tempdir().expect("a folder");
        let folder = fleet(results.path());
        drive(&folder, &FakeSlurm::new(&folder, |_, _| Fate::Whole)).await;
        let whole = trials(&folder);
        // Take block 4 back to where such a death leaves it.
        let journal = folder.campaign().journal_path();
        let text = std::fs::read_to_string(&journal).expect("there");
        let kept: Vec<&str> = text.lines().filter(|l| !l.contains("\"block\":4,")).collect();
        std::fs::write(&journal, kept.join("\n") + "\n").expect("written");
        let of_try = folder.tries(4).remove(0);
        let of_block: Vec<&String> = whole.iter().filter(|t| t.starts_with("b0004")).collect();
        for trial in &of_block[moved..] {
            let from = folder.campaign().path().join("trials").join(trial);
            std::fs::rename(from, of_try.join("trials").join(trial)).expect("moved back");
        }
        let mut merger = Merger::open(&folder).expect("opened");
        assert_eq!(merger.lacking(), [4]);
        assert_eq!(merger.merge(&[4]).expect("merged").blocks, [4], "{moved} were moved");
        assert_eq!(trials(&folder), whole);
        assert!(merger.lacking().is_empty());
    }
}

#[tokio::test]
async fn a_half_written_record_is_refused_and_named() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = fleet(results.path());
    let fates = |block, submission| if block == 1 && submission == 1 { Fate::Torn } else { Fate::Whole };
    let slurm = FakeSlurm::new(&folder, fates);
    let (end, told) = drive(&folder, &slurm).await;
    assert_eq!(end.reason, StopReason::Missing);
    let refused = told.merged.iter().flat_map(|m| &m.refused).next().expect("named");
    assert!(
        refused.block == 1 && refused.why.contains("-p01-") && refused.why.contains("not whole"),
        "{refused:?}"
    );
    assert!(end.standing.missing().keys().any(|why| why.starts_with("refused: ")), "{:?}", end.standing);
    let (end, told) = drive(&folder, &slurm).await;
    assert_eq!((end.reason, told.submitted.len()), (StopReason::Planned, 1));
    assert_eq!(trials(&folder).len(), 24);
}

#[tokio::test]
async fn blocks_of_a_dead_node_go_to_another_of_its_class_or_stay_named() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = fleet(results.path());
    let slurm = FakeSlurm::new(&folder, |_, _| Fate::Whole);
    slurm.set_down(&["n1", "n2"]);
    let (end, told) = drive(&folder, &slurm).await;
    assert!(told.submitted.is_empty() && end.reason == StopReason::Missing);
    assert!(
        told.remarks[0].contains("n1 is down*") && told.remarks[0].contains("stay missing"),
        "{:?}",
        told.remarks
    );
    slurm.set_down(&["n1"]);
    let (end, told) = drive(&folder, &slurm).await;
    assert_eq!((end.reason, told.submitted.len()), (StopReason::Planned, 1));
    assert!(told.remarks[0].contains("3 of its block(s) go to n2"), "{:?}", told.remarks);
    let origin = provenance(folder.campaign()).expect("readable").expect("a fleet");
    assert_eq!(
        origin.hosts(),
        [("n2", "epyc")],
        "the block is where it was measured, not where it was planned"
    );
}

#[tokio::test]
async fn tasks_that_wait_for_dead_nodes_alone_are_taken_back() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = fleet(results.path());
    let slurm = FakeSlurm::new(&folder, |block, _| if block < 3 { Fate::Waits } else { Fate::Whole });
    let cancel = CancellationToken::new();
    let run =
        FleetRun { scheduler: &slurm, folder: &folder, cancel: &cancel, poll: Duration::from_millis(1) };
    let mut told = Told::default();
    let (end, ()) = tokio::join!(run.drive(&mut told), async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        slurm.set_down(&["n1"]);
    });
    assert_eq!(end.expect("driven").reason, StopReason::Missing);
    assert!(
        told.remarks.iter().any(|r| r.contains("n1 is down*") && r.contains("taken back")),
        "{:?}",
        told.remarks
    );
}

#[tokio::test]
async fn ctrl_c_leaves_tasks_running_or_cancels_them() {
    for cancels in [false, true] {
        let results = tempfile::tempdir().expect("a folder");
        let folder = fleet(results.path());
        let slurm = FakeSlurm::new(&folder, |_, _| Fate::Waits);
        let cancel = CancellationToken::new();
        cancel.cancel();
        let run =
            FleetRun { scheduler: &slurm, folder: &folder, cancel: &cancel, poll: Duration::from_secs(60) };
        let mut told = Told { cancels, ..Told::default() };
        let end = run.drive(&mut told).await.expect("driven");
        assert_eq!((end.reason, end.left_running), (StopReason::Interrupted, !cancels));
        assert_eq!(end.standing.waiting(), if cancels { 0 } else { 6 });
        // What still waits is not submitted a second time.
        let mut again = Told::default();
        run.drive(&mut again).await.expect("driven");
        assert_eq!(again.submitted.len(), if cancels { 2 } else { 0 });
    }
}

#[tokio::test]
async fn large_campaigns_are_split_into_arrays_that_the_site_allows() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = fleet(results.path());
    let mut slurm = FakeSlurm::new(&folder, |_, _| Fate::Whole);
    slurm.largest = 2;
    let (end, told) = drive(&folder, &slurm).await;
    let blocks: Vec<Vec<u32>> = told.submitted.into_iter().map(|(_, blocks)| blocks).collect();
    assert_eq!((end.reason, blocks), (StopReason::Planned, vec![vec![0, 1], vec![2], vec![3, 4], vec![5]]));
}

#[tokio::test]
async fn a_batch_system_that_forgets_loses_no_block() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = fleet(results.path());
    let fates = |block, _| if block == 5 { Fate::Killed("FAILED") } else { Fate::Whole };
    let mut slurm = FakeSlurm::new(&folder, fates);
    slurm.forgets = true;
    let (end, _) = drive(&folder, &slurm).await;
    assert_eq!((end.reason, end.standing.merged()), (StopReason::Missing, 5));
    let standing = standing(&folder, |b| b != 5, &[], &[]).expect("read");
    let missing = standing.missing();
    assert!(missing.keys().next().expect("one").contains("killed on n2"), "{missing:?}");
}
