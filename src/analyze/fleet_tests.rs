//! Hosts that agree, that differ, that are too few.

use std::path::Path;

use super::super::fixture::{campaign, noisy};
use super::super::{CampaignAnalysis, Verdict, analyze};
use crate::analyze::IntervalKind;
use crate::config::FleetSection;
use crate::fleet::{BlockOrigin, FleetFile, FleetFolder, FleetHost, TaskIdentity};
use crate::store::CampaignFolder;
use crate::units::Nanos;

const BLOCKS: u32 = 8;

/// Makes a finished campaign one of a fleet: eight blocks a host.
fn on_hosts(folder: &CampaignFolder, hosts: &[(&str, &str)]) {
    let fleet = FleetFolder::create(folder).expect("created");
    let host = |(node, class): &(&str, &str)| FleetHost {
        node: (*node).to_owned(),
        class: (*class).to_owned(),
        host: format!("machine {node}"),
    };
    let file = FleetFile {
        schema: 1,
        section: FleetSection::default(),
        program: "/opt/run-bench".into(),
        hosts: hosts.iter().map(host).collect(),
        blocks_per_host: BLOCKS,
        time_limit: Nanos::from_seconds(60),
        unfit: Vec::new(),
        confounders: vec!["the kernel is not the same on all hosts: 9.9.8 on a1; 9.9.9 on b1".to_owned()],
    };
    let lines = (0..file.blocks()).map(|block| {
        let host = file.host_of(block).expect("planned");
        let task = TaskIdentity { job: 1, task: block, restart: 0, node: host.node.clone() };
        let origin = BlockOrigin { block, class: host.class.clone(), host: host.host.clone(), task };
        serde_json::to_string(&origin).expect("serialised") + "\n"
    });
    let text: String = lines.collect();
    fleet.write_file(&file).expect("written");
    std::fs::write(folder.path().join("fleet/merged.jsonl"), text).expect("written");
}

/// `factors[i]` is what the candidate does on host i.
pub(crate) fn fleet(results: &Path, hosts: &[(&str, &str)], factors: &[f64]) -> CampaignAnalysis {
    let blocks = BLOCKS as usize * hosts.len();
    let experiment = super::super::fixture::EXPERIMENT.replace("blocks = 8", &format!("blocks = {blocks}"));
    let value = |block: u32, position: u32, arm: &str| {
        let host = (block / BLOCKS) as usize;
        // Hosts differ in speed tenfold: only what happens within one may count.
        let level = 1000.0 * 10_f64.powi(host as i32);
        Some(noisy(level, if arm == "b" { factors[host] } else { 1.0 }, 0.004, (block, position)))
    };
    let folder = campaign(results, "c", &experiment, &value);
    on_hosts(&folder, hosts);
    analyze(&folder).expect("analysed")
}

fn deciding(analysis: &CampaignAnalysis) -> &super::Comparison {
    analysis.deciding().next().expect("one")
}

#[test]
fn hosts_that_agree_give_a_verdict_over_hosts() {
    let results = tempfile::tempdir().expect("a folder");
    let hosts = [("a1", "epyc"), ("a2", "epyc"), ("b1", "xeon"), ("b2", "xeon")];
    let analysis = fleet(results.path(), &hosts, &[1.05, 1.052, 1.048, 1.05]);
    let comparison = deciding(&analysis);
    let result = comparison.result.as_ref().expect("pooled");
    assert_eq!(comparison.verdict, Verdict::Better, "{}", comparison.reason);
    assert_eq!(result.interval_kind, IntervalKind::OverHosts);
    assert!((result.estimate.0 - 5.0).abs() < 0.5, "{result:?}");
    let over = analysis.fleet.as_ref().expect("a fleet");
    let one = &over.comparisons[0];
    assert!(one.hosts.iter().all(|h| h.verdict == Verdict::Better && h.blocks == 8), "{one:?}");
    assert_eq!(
        one.classes.iter().map(|c| (c.name.as_str(), c.hosts)).collect::<Vec<_>>(),
        [("epyc", 2), ("xeon", 2)]
    );
    // The estimate is the mean of the hosts', not of the blocks' raw values.
    let mean = one.hosts.iter().filter_map(|h| h.change).map(|c| c.to_log_ratio()).sum::<f64>() / 4.0;
    assert!((one.pooled.expect("pooled").mean - mean).abs() < 0.001);
    assert!(analysis.noise.iter().any(|n| n.kind == "hosts" && n.message.contains("9.9.8 on a1")));
    assert!(!over.any_worse());
}

#[test]
fn better_here_and_worse_there_is_said_in_words() {
    let results = tempfile::tempdir().expect("a folder");
    let hosts = [("a1", "epyc"), ("b1", "xeon")];
    let analysis = fleet(results.path(), &hosts, &[1.06, 0.95]);
    let comparison = deciding(&analysis);
    assert_eq!(comparison.verdict, Verdict::Unresolved);
    let words = &analysis.fleet.as_ref().expect("a fleet").comparisons[0].words;
    assert!(words.starts_with("better on epyc (+") && words.contains(", worse on xeon (-"), "{words}");
    assert!(words.contains("heterogeneity p"), "{words}");
    assert_eq!(comparison.reason, *words);
    assert!(analysis.fleet.expect("a fleet").any_worse());
}

#[test]
fn two_hosts_speak_for_themselves_and_hardly_for_others() {
    let results = tempfile::tempdir().expect("a folder");
    let hosts = [("a1", "epyc"), ("a2", "epyc")];
    let analysis = fleet(results.path(), &hosts, &[1.05, 1.02]);
    let comparison = deciding(&analysis);
    assert_eq!(comparison.verdict, Verdict::Unresolved, "t on one degree of freedom");
    assert!(comparison.reason.contains("over 2 hosts"), "{}", comparison.reason);
    assert!(comparison.reason.contains("better on each of a1 (+"), "{}", comparison.reason);
}

#[test]
fn a_fleet_of_one_host_is_judged_as_that_host_alone() {
    let results = tempfile::tempdir().expect("a folder");
    let alone = {
        let value = |block: u32, position: u32, arm: &str| {
            Some(noisy(1000.0, if arm == "b" { 1.05 } else { 1.0 }, 0.004, (block, position)))
        };
        analyze(&campaign(results.path(), "alone", super::super::fixture::EXPERIMENT, &value))
            .expect("analysed")
    };
    let other = tempfile::tempdir().expect("a folder");
    let analysis = fleet(other.path(), &[("a1", "any")], &[1.05]);
    assert_eq!(analysis.comparisons, alone.comparisons);
    let one = &analysis.fleet.expect("a fleet").comparisons[0];
    assert_eq!((one.pooled, one.hosts[0].verdict), (None, Verdict::Better));
    assert!(one.words.starts_with("better on a1 (+"), "{}", one.words);
}
