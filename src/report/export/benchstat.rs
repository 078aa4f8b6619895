//! Input of Go's benchstat, an independent check: medians and rank tests.
//!
//! One line a trial, one configuration a block of lines. Compare the arms with
//! `benchstat -col arm benchstat.txt`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Export;
use super::csv::better;
use crate::metric::MetricDefinition;
use crate::report::error::ReportError;

pub(super) fn render(export: &Export<'_>) -> Result<String, ReportError> {
    let analysis = export.analysis;
    let mut text = String::new();
    let _ = writeln!(text, "campaign: {}", analysis.campaign);
    let _ = writeln!(text, "host: {}", analysis.manifest.host);
    let _ = writeln!(text, "kernel: {}", analysis.manifest.kernel.release);
    let mut metrics: BTreeMap<&str, &MetricDefinition> = BTreeMap::new();
    for measurement in export.records.iter().filter(|r| r.counts()).flat_map(|r| &r.measurements) {
        metrics.insert(measurement.metric.id.as_str(), &measurement.metric);
    }
    for (id, metric) in &metrics {
        let better = better(metric.direction);
        if !better.is_empty() {
            let _ = writeln!(text, "Unit {id} better={better} assume=nothing");
        }
    }
    for arm in &analysis.arms {
        let _ = writeln!(text, "\narm: {}", arm.name);
        for record in export.records.iter().filter(|r| r.counts() && r.spec.id.arm == arm.name) {
            let _ = write!(text, "Benchmark{} 1", name(&record.spec.id.workload));
            for measurement in &record.measurements {
                let _ = write!(text, " {} {}", measurement.value, measurement.metric.id);
            }
            text.push('\n');
        }
    }
    Ok(text)
}

/// `will-it-scale` becomes `WillItScale`: the format wants a capital after `Benchmark`.
fn name(workload: &str) -> String {
    workload
        .split(|c: char| !c.is_ascii_alphanumeric())
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}
