//! Where the noise comes from: runs, blocks, boots.
//!
//! Components by moments on the log scale: runs of the same arm in one block,
//! blocks of one arm, and, where the records show more than one boot of an arm,
//! boots. The block's part cancels in block differences; the run's does not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::Plan;
use crate::metric::{MetricDefinition, MetricId};
use crate::stats::summary::logarithms;
use crate::stats::variance::VarianceComponents;
use crate::store::TrialRecord;

/// The spread that one level adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarianceLevel {
    /// `runs`, `blocks`, and where boots have several runs, `runs in a boot` and `boots`.
    pub level: String,
    /// Deviation of the log, close to a coefficient of variation.
    pub deviation: f64,
    /// How many of them the estimate rests on.
    pub n: usize,
}

/// The levels of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarianceByLevel {
    pub workload: String,
    pub metric: MetricId,
    pub levels: Vec<VarianceLevel>,
    /// Share of blocks in the variance of one run, all arms together.
    pub block_share: f64,
    /// p of the test that boots of one arm do not differ.
    pub boot_p: Option<f64>,
}

/// The components of every primary metric that can be told apart.
pub(super) fn by_level(plan: &Plan, records: &[TrialRecord]) -> Vec<VarianceByLevel> {
    let mut all = Vec::new();
    for workload in &plan.workloads {
        let name = workload.workload.name();
        let known = workload.workload.metrics();
        for metric in known.iter().filter(|m| workload.primary.contains(&m.id)) {
            all.extend(of_metric(plan, records, name, metric));
        }
    }
    all
}

fn of_metric(
    plan: &Plan,
    records: &[TrialRecord],
    workload: &str,
    metric: &MetricDefinition,
) -> Option<VarianceByLevel> {
    let by_block = nested(plan, records, (workload, metric), |r| Some(r.spec.id.block.to_string()));
    let blocks = VarianceComponents::new(&by_block).ok()?;
    let mut levels = vec![
        VarianceLevel { level: "runs".to_owned(), deviation: blocks.run, n: blocks.runs },
        VarianceLevel { level: "blocks".to_owned(), deviation: blocks.boot, n: blocks.boots },
    ];
    let by_boot = nested(plan, records, (workload, metric), |r| r.kernel.boot_id.clone());
    let boots = VarianceComponents::new(&by_boot).ok();
    if let Some(boots) = boots.filter(|b| b.boots > plan.arms.len()) {
        let level = |level: &str, deviation, n| VarianceLevel { level: level.to_owned(), deviation, n };
        levels.push(level("runs in a boot", boots.run, boots.runs));
        levels.push(level("boots", boots.boot, boots.boots));
    }
    Some(VarianceByLevel {
        workload: workload.to_owned(),
        metric: metric.id.clone(),
        levels,
        block_share: blocks.boot_share,
        boot_p: boots.filter(|b| b.boots > plan.arms.len()).and_then(|b| b.boot_p),
    })
}

/// Logs by arm and group; arms with no group are left out.
fn nested(
    plan: &Plan,
    records: &[TrialRecord],
    (workload, metric): (&str, &MetricDefinition),
    group: impl Fn(&TrialRecord) -> Option<String>,
) -> Vec<Vec<Vec<f64>>> {
    let mut arms = Vec::new();
    for arm in &plan.arms {
        let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let of_arm =
            |r: &&TrialRecord| r.counts() && r.spec.id.workload == workload && r.spec.id.arm == arm.name;
        for record in records.iter().filter(of_arm) {
            let log = record.value(metric.id.as_str()).and_then(|v| logarithms(&[v]).ok());
            if let (Some(log), Some(group)) = (log, group(record)) {
                groups.entry(group).or_default().extend(log);
            }
        }
        if !groups.is_empty() {
            arms.push(groups.into_values().collect());
        }
    }
    arms
}
