//! Verdicts on campaigns whose truth is known.

use super::*;
use crate::analyze::Verdict;
use crate::analyze::detectable;
use crate::analyze::fixture::{EXPERIMENT, campaign, noisy};
use crate::store::CounterChange;

fn verdicts(experiment: &str, factor: f64, deviation: f64) -> CampaignAnalysis {
    let results = tempfile::tempdir().expect("a folder");
    let value = |block, position, arm: &str| {
        let factor = if arm == "b" { factor } else { 1.0 };
        Some(noisy(1000.0, factor, deviation, (block, position)))
    };
    analyze(&campaign(results.path(), "c", experiment, &value)).expect("analysed")
}

fn deciding(analysis: &CampaignAnalysis) -> &Comparison {
    analysis.deciding().next().expect("one candidate")
}

#[test]
fn a_clear_change_is_found_and_the_control_is_quiet() {
    let analysis = verdicts(EXPERIMENT, 1.05, 0.005);
    let comparison = deciding(&analysis);
    assert_eq!(comparison.verdict, Verdict::Better, "{}", comparison.reason);
    let result = comparison.result.as_ref().expect("enough blocks");
    let (low, high) = result.interval.expect("fixed plans have an interval");
    assert!(low.0 < 5.0 && 5.0 < high.0, "{low} {high}");
    assert!(analysis.noise.iter().any(|n| n.kind == "floor"), "{:?}", analysis.noise);
    assert_eq!(verdicts(EXPERIMENT, 0.95, 0.005).deciding().next().expect("one").verdict, Verdict::Worse);
}

#[test]
fn no_change_is_equivalent_when_quiet_and_unresolved_when_noisy() {
    assert_eq!(deciding(&verdicts(EXPERIMENT, 1.0, 0.002)).verdict, Verdict::Equivalent);
    let noisy = verdicts(EXPERIMENT, 1.0, 0.05);
    assert_eq!(deciding(&noisy).verdict, Verdict::Unresolved);
    let (reason, result) =
        (&deciding(&noisy).reason, deciding(&noisy).result.as_ref().expect("enough blocks"));
    let seen = detectable(result.detectable.expect("noise was measured"));
    assert!(reason.ends_with(&format!("8 blocks with this noise see {seen} or more")), "{reason}");
}

#[test]
fn a_change_no_larger_than_that_of_equal_arms_is_none() {
    let results = tempfile::tempdir().expect("a folder");
    let moved = |factor: f64| {
        move |block, position, arm: &str| {
            let factor = if arm == "a" {
                1.0
            } else if arm == "b" {
                factor
            } else {
                1.05
            };
            Some(noisy(1000.0, factor, 0.003, (block, position)))
        }
    };
    let analysed = |name, factor| analyze(&campaign(results.path(), name, EXPERIMENT, &moved(factor)));
    let alike = analysed("alike", 1.04).expect("analysed");
    assert_eq!(deciding(&alike).verdict, Verdict::Unresolved, "{}", deciding(&alike).reason);
    assert!(deciding(&alike).reason.contains("equal arms"), "{}", deciding(&alike).reason);
    assert_eq!(deciding(&analysed("larger", 1.2).expect("analysed")).verdict, Verdict::Better);
}

#[test]
fn too_few_blocks_never_give_a_verdict() {
    for (blocks, expected) in
        [("1", Verdict::Invalid), ("2", Verdict::Unresolved), ("5", Verdict::Unresolved)]
    {
        let text = EXPERIMENT.replace("blocks = 8", &format!("blocks = {blocks}"));
        assert_eq!(deciding(&verdicts(&text, 1.5, 0.001)).verdict, expected, "{blocks} blocks");
    }
}

#[test]
fn a_constant_metric_has_an_answer() {
    let results = tempfile::tempdir().expect("a folder");
    let analysis =
        analyze(&campaign(results.path(), "c", EXPERIMENT, &|_, _, _| Some(78.8))).expect("analysed");
    assert_eq!(deciding(&analysis).verdict, Verdict::Equivalent);
    serde_json::to_string(&analysis).expect("every number is finite");
}

#[test]
fn zero_and_negative_values_are_refused_by_name() {
    for number in [0.0, -3.0] {
        let results = tempfile::tempdir().expect("a folder");
        let analysis =
            analyze(&campaign(results.path(), "c", EXPERIMENT, &|_, _, _| Some(number))).expect("analysed");
        assert_eq!(deciding(&analysis).verdict, Verdict::Invalid);
        assert!(deciding(&analysis).reason.contains("zero or negative"), "{}", deciding(&analysis).reason);
    }
}

#[test]
fn incomplete_blocks_are_left_out_and_named() {
    let results = tempfile::tempdir().expect("a folder");
    let value = |block, position, arm: &str| {
        let broken = block == 3 && arm == "b";
        (!broken).then(|| noisy(1000.0, 1.0, 0.002, (block, position)))
    };
    let analysis = analyze(&campaign(results.path(), "c", EXPERIMENT, &value)).expect("analysed");
    assert_eq!(deciding(&analysis).incomplete_blocks, [3]);
    assert_eq!(deciding(&analysis).blocks.len(), 7);
    assert!(analysis.noise.iter().any(|n| n.kind == "incomplete-blocks"));
    assert_eq!(analysis.not_counted.len(), 2);
}

#[test]
fn nothing_valid_is_an_error_that_says_why() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = campaign(results.path(), "c", EXPERIMENT, &|_, _, _| None);
    let error = analyze(&folder).expect_err("nothing to compare");
    assert!(error.to_string().contains("fixture.broken"), "{error}");
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let text = |_| serde_json::to_string(&verdicts(EXPERIMENT, 1.02, 0.01)).expect("serializes");
    assert_eq!(text(1), text(2));
}

#[test]
fn a_group_sequential_plan_prints_the_repeated_interval() {
    let text = EXPERIMENT.replace("blocks = 8", "blocks = 18") + "stop = \"group-sequential\"\n";
    let analysis = verdicts(&text, 1.03, 0.005);
    let result = deciding(&analysis).result.as_ref().expect("enough blocks");
    assert_eq!(result.interval_kind, crate::analyze::IntervalKind::Repeated);
    assert_eq!(deciding(&analysis).verdict, Verdict::Better);
}

#[test]
fn a_claim_is_held_against_the_interval() {
    let with_claim = |claim: &str, machine: &str| {
        let source =
            format!("claim = {claim:?}\n[claim-source]\nmachine = {machine:?}\nkernel = \"9.9\"\n[memcg]");
        verdicts(&EXPERIMENT.replace("[memcg]", &source), 1.05, 0.005).claim.expect("a claim").verdict
    };
    use crate::analyze::ClaimVerdict;
    assert_eq!(with_claim("+5.0%", "Example CPU"), ClaimVerdict::Reproduced);
    assert_eq!(with_claim("+9.0%", "Example CPU"), ClaimVerdict::Refuted);
    assert_eq!(with_claim("+5.0%", "Another CPU"), ClaimVerdict::SeenHere);
    assert_eq!(with_claim("-5.0%", "Another CPU"), ClaimVerdict::NotSeenHere);
    assert_eq!(with_claim("-5.0%", "Example CPU"), ClaimVerdict::Refuted);
    let measured = |claim: &str, factor: f64, deviation: f64| {
        let source = "machine = \"Example CPU\"\nkernel = \"9.9\"\n[memcg]";
        let text = EXPERIMENT.replace("[memcg]", &format!("claim = {claim:?}\n[claim-source]\n{source}"));
        verdicts(&text, factor, deviation).claim.expect("a claim")
    };
    // No change is claimed: only equivalence bears it out.
    assert_eq!(measured("+0.0%", 1.0, 0.002).verdict, ClaimVerdict::Reproduced);
    assert_eq!(measured("+0.0%", 1.0, 0.05).verdict, ClaimVerdict::NotResolvable);
    let noisy = measured("+1.8%", 1.018, 0.06);
    assert_eq!(noisy.verdict, ClaimVerdict::NotResolvable, "{}", noisy.reason);
    assert!(noisy.reason.contains("seen with a chance of"), "{}", noisy.reason);
    let larger = measured("+1.8%", 1.09, 0.003);
    assert_eq!(larger.verdict, ClaimVerdict::Refuted);
    assert!(larger.reason.contains("the change is larger"), "{}", larger.reason);
    let alike = EXPERIMENT
        .replace("memcg = { limit = \"80MiB\" }", "")
        .replace("[memcg]", "claim = \"+5%\"\n[memcg]");
    let check = verdicts(&alike, 1.05, 0.005).claim.expect("a claim");
    assert_eq!(check.verdict, ClaimVerdict::NotTested);
    assert!(check.reason.contains("\"b\" is set up like the baseline"), "{}", check.reason);
}

/// Writes a campaign of ten thousand trials with counters, to measure `compare` on it.
#[test]
#[ignore = "writes 10,000 trials to the folder named by RUN_BENCH_MANY_TRIALS"]
fn ten_thousand_trials() {
    let Ok(place) = std::env::var("RUN_BENCH_MANY_TRIALS") else { return };
    let text = EXPERIMENT.replace("blocks = 8", "blocks = 1667");
    let value = |block, position, _: &str| Some(noisy(1000.0, 1.0, 0.01, (block, position)));
    let folder = campaign(std::path::Path::new(&place), "many", &text, &value);
    for trial in folder.trials().expect("listed") {
        let mut record = trial.record().expect("read");
        let place = (record.spec.id.block, record.spec.id.position);
        for counter in 0..150 {
            let change = noisy(1e6, 1.0, 0.05, (place.0, 10 + 10 * counter + place.1)) as u64;
            let change = CounterChange { before: 123_456_789, after: 123_456_789 + change };
            record.counters.insert(format!("memory_stat.invented_counter_{counter:03}"), change);
        }
        trial.write_record(&record).expect("written");
    }
    assert_eq!(folder.records().expect("read").len(), 10_002);
}
