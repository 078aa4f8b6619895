//! What differs between the arms as they really ran.
//!
//! Every fact that is the same in all trials of an arm and not the same in all
//! arms is listed. Those that the experiment asked for are the question; any
//! other one is a confounder, and the report says so.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::config::Plan;
use crate::store::TrialRecord;

/// One fact that tells arms apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmDifference {
    /// Such as `kernel release` or `parameter threads`.
    pub fact: String,
    /// By arm; an arm whose trials disagree is absent.
    pub values: BTreeMap<String, String>,
    /// Whether the experiment gives these arms other settings of that kind.
    pub declared: bool,
}

/// All facts that differ between arms, the undeclared ones first.
pub(super) fn between_arms(plan: &Plan, records: &[TrialRecord]) -> Vec<ArmDifference> {
    let mut facts: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for record in records.iter().filter(|r| r.counts()) {
        for (fact, value) in facts_of(record) {
            facts.entry(fact).or_default().entry(record.spec.id.arm.clone()).or_default().insert(value);
        }
    }
    let mut found: Vec<ArmDifference> = facts
        .into_iter()
        .filter_map(|(fact, arms)| {
            let values: BTreeMap<String, String> = arms
                .into_iter()
                .filter(|(_, values)| values.len() == 1)
                .filter_map(|(arm, values)| values.into_iter().next().map(|v| (arm, v)))
                .collect();
            let distinct: BTreeSet<&String> = values.values().collect();
            (distinct.len() > 1).then(|| {
                let declared = declared(plan, &fact, &values);
                ArmDifference { fact, values, declared }
            })
        })
        .collect();
    found.sort_by_key(|d| d.declared);
    found
}

fn facts_of(record: &TrialRecord) -> Vec<(String, String)> {
    let kernel = &record.kernel;
    let mut facts = vec![
        ("kernel release".to_owned(), kernel.release.clone()),
        ("kernel version".to_owned(), kernel.version.clone()),
        ("run-bench".to_owned(), record.run_bench.version.clone()),
    ];
    let optional = [
        ("kernel build", &kernel.build_id),
        ("kernel command line", &kernel.command_line),
        ("kernel configuration", &kernel.config_hash),
        ("clocksource", &kernel.clocksource),
        ("mitigations", &kernel.mitigations),
        ("boot", &kernel.boot_id),
    ];
    facts.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))));
    facts.extend(record.spec.memcg.iter().map(|m| ("memcg limit".to_owned(), m.limit.to_string())));
    facts.extend(record.spec.knobs.iter().map(|(name, value)| (format!("knob {name}"), value.clone())));
    // Parameters belong to a workload; two workloads in one arm would always disagree.
    let workload = &record.spec.id.workload;
    facts.extend(
        record.parameters.iter().map(|(name, value)| (format!("parameter {workload} {name}"), value.clone())),
    );
    facts
}

/// Whether arms with different values were given different settings that explain it.
fn declared(plan: &Plan, fact: &str, values: &BTreeMap<String, String>) -> bool {
    let kernel = |i: usize| {
        let section = &plan.arms[i].section;
        (&section.kernel, &section.patches, &section.kernel_arguments)
    };
    let explains = |i: usize, j: usize| {
        let (a, b) = (&plan.arms[i], &plan.arms[j]);
        if fact.starts_with("kernel ") || fact == "boot" {
            kernel(i) != kernel(j)
        } else if matches!(fact, "clocksource" | "mitigations") {
            // Another kernel alone does not ask for another clock or answer to a flaw: that confounds.
            a.section.kernel_arguments != b.section.kernel_arguments
        } else if fact == "memcg limit" {
            a.memcg != b.memcg
        } else if fact.starts_with("knob ") {
            a.knobs != b.knobs
        } else {
            // A parameter of a workload may follow from any setting of the arm.
            fact.starts_with("parameter ")
                && (a.memcg != b.memcg || a.knobs != b.knobs || kernel(i) != kernel(j))
        }
    };
    let place = |arm: &String| plan.arms.iter().position(|a| a.name == *arm);
    let pairs = values.iter().flat_map(|a| values.iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| a.1 != b.1).all(|(a, b)| match (place(a.0), place(b.0)) {
        (Some(i), Some(j)) => explains(i, j),
        _ => false,
    })
}
