//! Whether the host was in a steady state: drift, first runs, two modes, boots.

use std::collections::{BTreeMap, BTreeSet};

use super::noise::NoiseNote;
use crate::config::Plan;
use crate::metric::MetricDefinition;
use crate::stats::noise::{Bimodality, Drift, DriftPoint, FirstRun, FirstRunSample};
use crate::store::TrialRecord;
use crate::units::Percent;

/// Boots of an arm below which boots and arms cannot be told apart.
const FEWEST_BOOTS: usize = 2;

/// One trial of one metric.
struct Point<'a> {
    arm: usize,
    block: u32,
    position: u32,
    /// Seconds since the first trial, or its number where no clock was kept.
    time: f64,
    log: f64,
    record: &'a TrialRecord,
}

/// Remarks on every primary metric.
pub(super) fn notes(plan: &Plan, records: &[TrialRecord]) -> Vec<NoiseNote> {
    let mut notes = Vec::new();
    for workload in &plan.workloads {
        let known = workload.workload.metrics();
        for metric in known.iter().filter(|m| workload.primary.contains(&m.id)) {
            let points = points(plan, records, workload.workload.name(), metric);
            notes.extend(drift(metric, &points));
            notes.extend(first_run(metric, &points));
            notes.extend(two_modes(plan, metric, &points));
            notes.extend(few_boots(plan, &points));
        }
    }
    notes.dedup();
    notes
}

fn points<'a>(
    plan: &Plan,
    records: &'a [TrialRecord],
    workload: &str,
    metric: &MetricDefinition,
) -> Vec<Point<'a>> {
    let mut counting: Vec<&TrialRecord> =
        records.iter().filter(|r| r.counts() && r.spec.id.workload == workload).collect();
    counting.sort_by_key(|r| (r.started, r.spec.id.block, r.spec.id.position));
    let start = counting.first().map(|r| r.started);
    let clocked = counting.last().map(|r| r.started) > start;
    counting
        .into_iter()
        .enumerate()
        .filter_map(|(number, record)| {
            let value = record.value(metric.id.as_str()).filter(|v| *v > 0.0)?;
            let time = match start {
                Some(start) if clocked => record.started.duration_since(start).as_secs_f64(),
                _ => number as f64,
            };
            Some(Point {
                arm: plan.arms.iter().position(|a| a.name == record.spec.id.arm)?,
                block: record.spec.id.block,
                position: record.spec.id.position,
                time,
                log: value.ln(),
                record,
            })
        })
        .collect()
}

fn drift(metric: &MetricDefinition, points: &[Point<'_>]) -> Option<NoiseNote> {
    let points: Vec<DriftPoint> =
        points.iter().map(|p| DriftPoint { time: p.time, arm: p.arm, log: p.log }).collect();
    let drift = Drift::new(&points).ok().filter(Drift::is_notable)?;
    let message = format!(
        "{} drifts by {} over the campaign (p {}), whatever the arm; the order of trials cancels a linear drift, but the host was not in a steady state: warm up longer, or fix the frequency",
        metric.id,
        Percent::from_log_ratio(drift.total),
        if drift.p < 0.0001 { "< 0.0001".to_owned() } else { format!("= {:.4}", drift.p) }
    );
    Some(NoiseNote::new("drift", message))
}

fn first_run(metric: &MetricDefinition, points: &[Point<'_>]) -> Option<NoiseNote> {
    let mut blocks: BTreeMap<u32, Vec<(u32, FirstRunSample)>> = BTreeMap::new();
    for point in points {
        let sample = FirstRunSample { arm: point.arm, log: point.log };
        blocks.entry(point.block).or_default().push((point.position, sample));
    }
    let ordered: Vec<Vec<FirstRunSample>> = blocks
        .into_values()
        .map(|mut runs| {
            runs.sort_by_key(|(position, _)| *position);
            runs.into_iter().map(|(_, sample)| sample).collect()
        })
        .collect();
    let first = FirstRun::new(&ordered).ok().filter(FirstRun::is_notable)?;
    let message = format!(
        "the first run of a block differs by {} in {}; the coin keeps it from favouring an arm, but it widens the interval: set schedule.discard-first, or warm up longer",
        Percent::from_log_ratio(first.difference),
        metric.id
    );
    Some(NoiseNote::new("first-run", message))
}

fn two_modes(plan: &Plan, metric: &MetricDefinition, points: &[Point<'_>]) -> Vec<NoiseNote> {
    let mut notes = Vec::new();
    for (i, arm) in plan.arms.iter().enumerate() {
        let logs: Vec<f64> = points.iter().filter(|p| p.arm == i).map(|p| p.log).collect();
        let Ok(Some(modes)) = Bimodality::new(&logs) else { continue };
        if modes.bimodal {
            let message = format!(
                "{} of {} falls into two groups, {} of {} trials about {:.1}% below the others; the mean describes neither: look for what switches, such as placement or huge pages",
                metric.id,
                arm.name,
                modes.low_count,
                modes.n,
                -Percent::from_log_ratio(modes.low_mean - modes.high_mean).0
            );
            notes.push(NoiseNote::new("bimodal", message));
        }
    }
    notes
}

/// Arms in boots of their own, of which one or both has a single boot.
fn few_boots(plan: &Plan, points: &[Point<'_>]) -> Option<NoiseNote> {
    let mut boots: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for point in points {
        boots.entry(point.arm).or_default().insert(point.record.kernel.boot_id.as_deref()?);
    }
    let baseline = boots.get(&0)?;
    let apart = boots.iter().find(|(arm, of_arm)| {
        **arm != 0
            && of_arm.is_disjoint(baseline)
            && (of_arm.len() < FEWEST_BOOTS || baseline.len() < FEWEST_BOOTS)
    });
    apart.map(|(arm, of_arm)| {
        let message = format!(
            "boot effect not separable: {} ran in {} boot(s) and {} in {}, so what one boot does to a metric looks like a change; at least six blocks of four boots are needed",
            plan.arms[0].name,
            baseline.len(),
            plan.arms[*arm].name,
            of_arm.len()
        );
        NoiseNote::new("boot", message)
    })
}
