//! A comparison table as mmtests prints it.
//!
//! Plus is better, always: for metrics of which less is better the percentage
//! is negated. Stars mark changes that are established, brackets the others.

use std::fmt::Write;

use super::Export;
use super::table::{MetricRow, comparison, deviation, mean, rows};
use crate::analyze::Verdict;
use crate::metric::{Direction, Kind};
use crate::report::error::ReportError;

pub(super) fn render(export: &Export<'_>) -> Result<String, ReportError> {
    let arms = &export.analysis.arms;
    let rows = rows(export);
    let width = rows.iter().map(|r| r.metric.id.as_str().len()).max().unwrap_or(0).max(12);
    let mut text = format!("{:9} {:width$}", "", "");
    for arm in arms {
        let _ = write!(text, " {:>24}", arm.name);
    }
    text.push('\n');
    for row in &rows {
        if row.values[0].is_empty() {
            continue;
        }
        // Rates are averaged harmonically, amounts arithmetically.
        let rate = row.metric.kind == Kind::Throughput && row.values.iter().flatten().all(|v| *v > 0.0);
        let (name, average): (&str, fn(&[f64]) -> f64) =
            if rate { ("Hmean", harmonic) } else { ("Amean", mean) };
        line(&mut text, export, row, (name, width), |values| Some(average(values)));
        line(&mut text, export, row, ("Stddev", width), deviation);
        line(&mut text, export, row, ("CoeffVar", width), |values| {
            Some(100.0 * deviation(values)? / mean(values).abs())
        });
    }
    Ok(text)
}

fn harmonic(values: &[f64]) -> f64 {
    values.len() as f64 / values.iter().map(|v| v.recip()).sum::<f64>()
}

fn line(
    text: &mut String,
    export: &Export<'_>,
    row: &MetricRow<'_>,
    (name, width): (&str, usize),
    of: impl Fn(&[f64]) -> Option<f64>,
) {
    let _ = write!(text, "{name:9} {:width$}", row.metric.id);
    let spread = !name.ends_with("mean");
    // Less spread is better, whatever the metric.
    let lower = spread || row.metric.direction == Direction::LowerIsBetter;
    let base = of(&row.values[0]);
    for (arm, values) in export.analysis.arms.iter().zip(&row.values) {
        let value = if values.is_empty() { None } else { of(values) };
        let (Some(base), Some(value)) = (base, value) else {
            let _ = write!(text, " {:>24}", "-");
            continue;
        };
        let gain = if base == 0.0 { 0.0 } else { 100.0 * (value - base) / base };
        let gain = if lower { 0.0 - gain } else { gain };
        let verdict = comparison(export, row, &arm.name).map(|c| c.verdict);
        let found = !spread && matches!(verdict, Some(Verdict::Better | Verdict::Worse));
        let marks = if found { ['*', '*'] } else { ['(', ')'] };
        let _ = write!(text, " {value:12.2} {}{gain:8.2}%{}", marks[0], marks[1]);
    }
    text.push('\n');
}
