//! One line for each value of each trial, as CSV.

use super::Export;
use super::table::role;
use crate::metric::{Direction, Unit};
use crate::report::error::ReportError;
use crate::store::{TrialOutcome, TrialRecord};

const HEAD: [&str; 14] = [
    "campaign", "workload", "arm", "role", "block", "position", "attempt", "started", "outcome", "counts",
    "metric", "unit", "better", "value",
];

pub(super) fn render(export: &Export<'_>) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEAD).map_err(ReportError::csv)?;
    for record in export.records {
        let place = place(export, record);
        for measurement in &record.measurements {
            let metric = &measurement.metric;
            let value = measurement.value.to_string();
            let own = [metric.id.as_str(), unit(metric.unit), better(metric.direction), value.as_str()];
            let line = place.iter().map(String::as_str).chain(own);
            writer.write_record(line).map_err(ReportError::csv)?;
        }
        if record.measurements.is_empty() {
            let line = place.iter().map(String::as_str).chain([""; 4]);
            writer.write_record(line).map_err(ReportError::csv)?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| ReportError::csv(e.into_error().into()))?;
    Ok(String::from_utf8(bytes).expect("all fields are texts"))
}

/// The cells that all values of a trial share.
fn place(export: &Export<'_>, record: &TrialRecord) -> [String; 10] {
    let id = &record.spec.id;
    [
        export.analysis.campaign.clone(),
        id.workload.clone(),
        id.arm.clone(),
        role(record.spec.role).to_owned(),
        id.block.to_string(),
        id.position.to_string(),
        id.attempt.to_string(),
        record.started.to_string(),
        outcome(&record.outcome).to_owned(),
        if record.counts() { "yes" } else { "no" }.to_owned(),
    ]
}

/// A trial's end in one word.
pub(super) fn outcome(outcome: &TrialOutcome) -> &'static str {
    match outcome {
        TrialOutcome::Valid => "valid",
        TrialOutcome::Invalid { .. } => "invalid",
        TrialOutcome::Failed { .. } => "failed",
        TrialOutcome::Unsupported { .. } => "unsupported",
        TrialOutcome::Interrupted => "interrupted",
    }
}

/// The base unit that values are stored in.
pub(super) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "count",
        Unit::Ratio => "ratio",
        other => other.symbol(),
    }
}

pub(super) fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
        Direction::Neutral => "",
    }
}
