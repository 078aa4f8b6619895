//! Campaigns that something is wrong with: each has a clear, right answer.

use super::*;
use crate::analyze::Verdict;
use crate::analyze::fixture::{EXPERIMENT, Value, campaign, noisy};
use crate::store::{CampaignFolder, StoreError};

fn folder(results: &tempfile::TempDir, experiment: &str, value: Value<'_>) -> CampaignFolder {
    campaign(results.path(), "c", experiment, value)
}

fn results() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn no_valid_trial_names_the_first_reason() {
    let results = results();
    let error = analyze(&folder(&results, EXPERIMENT, &|_, _, _| None)).expect_err("nothing to compare");
    assert!(matches!(error, AnalyzeError::NothingValid { invalid: 48, failed: 0, .. }), "{error}");
    assert!(error.to_string().contains("told to be invalid"), "{error}");
}

#[test]
fn one_arm_only_is_invalid_and_says_that_no_block_is_complete() {
    let results = results();
    let value =
        |block, position, arm: &str| (arm == "a").then(|| noisy(1000.0, 1.0, 0.01, (block, position)));
    let analysis = analyze(&folder(&results, EXPERIMENT, &value)).expect("analysed");
    let comparison = analysis.deciding().next().expect("a candidate");
    assert_eq!(comparison.verdict, Verdict::Invalid);
    assert!(comparison.reason.contains("0 complete block(s)"), "{}", comparison.reason);
    assert!(comparison.candidate.summary.is_none() && comparison.baseline.summary.is_some());
}

#[test]
fn zero_variance_with_a_change_is_better_by_its_sign_alone() {
    let results = results();
    let value = |_, _, arm: &str| Some(if arm == "b" { 1050.0 } else { 1000.0 });
    let analysis = analyze(&folder(&results, EXPERIMENT, &value)).expect("analysed");
    let comparison = analysis.deciding().next().expect("a candidate");
    let result = comparison.result.as_ref().expect("eight blocks");
    assert!(result.paired.is_constant() && (result.p - 2.0 / 256.0).abs() < 1e-12, "{}", result.p);
    assert_eq!(comparison.verdict, Verdict::Better);
    serde_json::to_string(&analysis).expect("every number is finite");
}

#[test]
fn a_half_written_record_is_named_with_its_path() {
    let results = results();
    let folder = folder(&results, EXPERIMENT, &|_, _, _| Some(1.0));
    let trial = &folder.trials().expect("listed")[3];
    let record = trial.spec_path().with_file_name("record.json");
    let text = std::fs::read_to_string(&record).expect("there");
    std::fs::write(&record, &text[..text.len() / 2]).expect("written");
    let error = analyze(&folder).expect_err("half a record");
    assert!(matches!(error, AnalyzeError::Store(StoreError::Json { .. })), "{error}");
    assert!(error.to_string().contains("record.json"), "{error}");
    std::fs::remove_file(&record).expect("removed");
    let analysis = analyze(&folder).expect("a trial without a record was killed and is passed over");
    assert_eq!(analysis.trials.values().sum::<usize>(), 47);
}

#[test]
fn a_newer_record_is_refused_by_name() {
    let results = results();
    let folder = folder(&results, EXPERIMENT, &|_, _, _| Some(1.0));
    let record = folder.trials().expect("listed")[0].spec_path().with_file_name("record.json");
    let text = std::fs::read_to_string(&record).expect("there").replacen("\"schema\": 1", "\"schema\": 7", 1);
    std::fs::write(&record, text).expect("written");
    let error = analyze(&folder).expect_err("newer");
    assert!(error.to_string().contains("has schema 7, newer than"), "{error}");
}

#[test]
fn trials_of_another_host_are_no_comparison() {
    let results = results();
    let folder = folder(&results, EXPERIMENT, &|_, _, _| Some(1.0));
    let trial = &folder.trials().expect("listed")[0];
    let mut record = trial.record().expect("read");
    record.host = "Another CPU (ffffffff)".to_owned();
    trial.write_record(&record).expect("written");
    let error = analyze(&folder).expect_err("two hosts");
    assert!(error.to_string().contains("Another CPU"), "{error}");
}

#[test]
fn a_placebo_that_moves_as_much_makes_it_layout_noise() {
    let results = results();
    let experiment =
        EXPERIMENT.replace("name = \"a2\"\nrole = \"control\"", "name = \"a2\"\nrole = \"placebo\"");
    let value = |block, position, arm: &str| {
        let factor = if arm == "a" { 1.0 } else { 1.02 };
        Some(noisy(1000.0, factor, 0.002, (block, position)))
    };
    let analysis = analyze(&folder(&results, &experiment, &value)).expect("analysed");
    let comparison = analysis.deciding().next().expect("a candidate");
    assert!(comparison.within_layout_noise(), "{:?}", comparison.layout_spread);
    assert!(analysis.noise.iter().any(|n| n.kind == "layout-noise"), "{:?}", analysis.noise);
}

#[test]
fn arms_that_differ_unasked_are_named() {
    let results = results();
    let folder = folder(&results, EXPERIMENT, &|_, _, _| Some(1.0));
    for trial in folder.trials().expect("listed") {
        let mut record = trial.record().expect("read");
        if record.spec.id.arm == "b" {
            record.kernel.command_line = Some("mitigations=off".to_owned());
            record.kernel.mitigations = Some("retbleed: Vulnerable".to_owned());
        } else {
            record.kernel.command_line = Some("quiet".to_owned());
            record.kernel.mitigations = Some("retbleed: Mitigation: untrained return thunk".to_owned());
        }
        trial.write_record(&record).expect("written");
    }
    let analysis = analyze(&folder).expect("analysed");
    let found: Vec<_> = analysis.differences.iter().filter(|d| !d.declared).collect();
    assert!(
        found.iter().any(|d| d.fact == "kernel command line" && d.values["b"] == "mitigations=off"),
        "{found:?}"
    );
    assert!(
        found.iter().any(|d| d.fact == "mitigations" && d.values["b"] == "retbleed: Vulnerable"),
        "{found:?}"
    );
    assert!(analysis.noise.iter().any(|n| n.kind == "confounder"), "{:?}", analysis.noise);
}

#[test]
fn arms_in_one_boot_each_cannot_be_told_from_boots() {
    let results = results();
    let value = |block, position, _: &str| Some(noisy(1000.0, 1.0, 0.01, (block, position)));
    let folder = folder(&results, EXPERIMENT, &value);
    for trial in folder.trials().expect("listed") {
        let mut record = trial.record().expect("read");
        record.kernel.boot_id = Some(format!("boot-of-{}", record.spec.id.arm));
        trial.write_record(&record).expect("written");
    }
    let analysis = analyze(&folder).expect("analysed");
    assert!(analysis.noise.iter().any(|n| n.kind == "boot"), "{:?}", analysis.noise);
}

#[test]
fn emulated_trials_give_no_verdict_on_time() {
    let results = results();
    let value = |block, position, arm: &str| {
        Some(noisy(1000.0, if arm == "b" { 1.5 } else { 1.0 }, 0.01, (block, position)))
    };
    let folder = folder(&results, EXPERIMENT, &value);
    for trial in folder.trials().expect("listed") {
        let mut record = trial.record().expect("read");
        record.functional_only = Some("the processor was emulated".to_owned());
        trial.write_record(&record).expect("written");
    }
    let analysis = analyze(&folder).expect("analysed");
    for comparison in &analysis.comparisons {
        assert_eq!(comparison.verdict, Verdict::Invalid);
        assert!(comparison.result.is_none() && comparison.reason.contains("function only"), "{comparison:?}");
    }
    assert_eq!(analysis.functional_only.as_deref(), Some("the processor was emulated"));
}

#[test]
fn boots_with_several_trials_are_a_level_of_their_own() {
    let results = results();
    let boot = |block: u32, position: u32| (block, if position == 3 { 2 } else { position });
    // Boots differ by 3%, trials of one boot by 0.5%.
    let value = |block, position, _: &str| {
        let (of_block, place) = boot(block, position);
        Some(noisy(1000.0, 1.0, 0.005, (block, position)) * noisy(1.0, 1.0, 0.03, (500 + of_block, place)))
    };
    let many = EXPERIMENT.replace("blocks = 8", "blocks = 60");
    let folder = folder(&results, &many, &value);
    for trial in folder.trials().expect("listed") {
        let mut record = trial.record().expect("read");
        let (block, place) = boot(record.spec.id.block, record.spec.id.position);
        record.kernel.boot_id = Some(format!("{block}-{place}"));
        trial.write_record(&record).expect("written");
    }
    let analysis = analyze(&folder).expect("analysed");
    let level = |name: &str| {
        let levels = &analysis.variance[0].levels;
        levels.iter().find(|l| l.level == name).unwrap_or_else(|| panic!("{name} in {levels:?}")).clone()
    };
    let (boots, runs) = (level("boots"), level("runs in a boot"));
    assert!((0.026..0.034).contains(&boots.deviation), "{boots:?}");
    assert!((0.004..0.006).contains(&runs.deviation), "{runs:?}");
    // Of six places in a block two share a boot.
    assert_eq!((boots.n, runs.n), (300, 360));
    assert!(analysis.variance[0].boot_p.is_some_and(|p| p < 1e-6), "{:?}", analysis.variance[0].boot_p);
}
