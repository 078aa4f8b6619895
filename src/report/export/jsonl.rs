//! One JSON object for each trial.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Export;
use super::csv::outcome;
use super::table::role;
use crate::report::error::ReportError;

/// The newest schema of a line.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    campaign: &'a str,
    trial: String,
    workload: &'a str,
    arm: &'a str,
    role: &'static str,
    block: u32,
    position: u32,
    attempt: u32,
    started: String,
    seconds: f64,
    kernel: &'a str,
    outcome: &'static str,
    counts: bool,
    /// In base units, by metric id.
    metrics: BTreeMap<&'a str, f64>,
    /// Changes over the measured phase.
    counters: BTreeMap<&'a str, u64>,
}

pub(super) fn render(export: &Export<'_>) -> Result<String, ReportError> {
    let mut text = String::new();
    for record in export.records {
        let id = &record.spec.id;
        let changes = record.counters.iter().map(|(k, c)| (k.as_str(), c.after.saturating_sub(c.before)));
        let line = Line {
            schema: SCHEMA,
            campaign: &export.analysis.campaign,
            trial: id.to_string(),
            workload: &id.workload,
            arm: &id.arm,
            role: role(record.spec.role),
            block: id.block,
            position: id.position,
            attempt: id.attempt,
            started: record.started.to_string(),
            seconds: record.ended.duration_since(record.started).as_secs_f64(),
            kernel: &record.kernel.release,
            outcome: outcome(&record.outcome),
            counts: record.counts(),
            metrics: record.measurements.iter().map(|m| (m.metric.id.as_str(), m.value)).collect(),
            counters: changes.collect(),
        };
        text.push_str(&serde_json::to_string(&line).map_err(ReportError::Json)?);
        text.push('\n');
    }
    Ok(text)
}
