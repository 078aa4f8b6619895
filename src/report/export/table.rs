//! Metrics as rows, arms as columns: what tables of other tools are made of.

use std::collections::BTreeMap;

use super::Export;
use crate::analyze::Comparison;
use crate::config::ArmRole;
use crate::metric::MetricDefinition;

/// One metric of one workload with the values of every arm.
pub(super) struct MetricRow<'a> {
    pub workload: &'a str,
    pub metric: &'a MetricDefinition,
    /// In the order of the experiment's arms; empty where an arm has none.
    pub values: Vec<Vec<f64>>,
}

/// Every metric that counting trials reported.
pub(super) fn rows<'a>(export: &Export<'a>) -> Vec<MetricRow<'a>> {
    let arms = &export.analysis.arms;
    let mut rows: BTreeMap<(&str, &str), MetricRow<'a>> = BTreeMap::new();
    for record in export.records.iter().filter(|r| r.counts()) {
        let Some(arm) = arms.iter().position(|a| a.name == record.spec.id.arm) else { continue };
        for measurement in &record.measurements {
            let key = (record.spec.id.workload.as_str(), measurement.metric.id.as_str());
            let row = rows.entry(key).or_insert_with(|| MetricRow {
                workload: &record.spec.id.workload,
                metric: &measurement.metric,
                values: vec![Vec::new(); arms.len()],
            });
            row.values[arm].push(measurement.value);
        }
    }
    rows.into_values().collect()
}

/// The comparison of an arm for a row, where there is one.
pub(super) fn comparison<'a>(export: &Export<'a>, row: &MetricRow<'_>, arm: &str) -> Option<&'a Comparison> {
    export
        .analysis
        .comparisons
        .iter()
        .find(|c| c.workload == row.workload && c.metric.id == row.metric.id && c.candidate.arm == arm)
}

/// A role as records spell it.
pub(super) fn role(role: ArmRole) -> &'static str {
    match role {
        ArmRole::Baseline => "baseline",
        ArmRole::Candidate => "candidate",
        ArmRole::Control => "control",
        ArmRole::Placebo => "placebo",
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample standard deviation; `None` for fewer than two values.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|v| (v - centre) * (v - centre)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}
