//! A comparison table as the 0-day robot prints it.
//!
//! Its rules: two decimals below 1000, whole numbers above, four digits from
//! 1e8 on; `± N%` only for a standard deviation of more than 2% of the mean and
//! more than one run; the change is raw, so that more seconds are a plus;
//! metrics that are themselves percentages show the plain difference.

use std::fmt::Write;

use super::Export;
use super::table::{MetricRow, deviation, mean, rows};
use crate::metric::Unit;
use crate::report::error::ReportError;

/// Smaller deviations are not shown.
const SHOWN_DEVIATION: f64 = 0.02;
const FIRST: usize = 16;
const COLUMN: usize = 27;

pub(super) fn render(export: &Export<'_>) -> Result<String, ReportError> {
    let mut text = String::new();
    let analysis = export.analysis;
    let rule = "=".repeat(COLUMN * analysis.arms.len());
    let manifest = &analysis.manifest;
    let _ = writeln!(
        text,
        "{rule}\ntestcase/tbox/kernel:\n  {}/{}/{}",
        analysis.campaign, manifest.host, manifest.kernel.release
    );
    let _ = writeln!(text, "\ncommit:");
    for arm in &analysis.arms {
        let _ = writeln!(text, "  {}", arm.name);
    }
    text.push('\n');
    head(&mut text, export);
    failures(&mut text, export);
    let stddev: String =
        (0..analysis.arms.len())
            .map(|i| {
                if i == 0 { "         %stddev".to_owned() } else { "     %change         %stddev".to_owned() }
            })
            .collect();
    let _ = writeln!(text, "{stddev}");
    let marks: String =
        (0..analysis.arms.len())
            .map(|i| {
                if i == 0 {
                    "             \\  ".to_owned()
                } else {
                    "        |                \\  ".to_owned()
                }
            })
            .collect();
    let _ = writeln!(text, "{}", marks.trim_end());
    for row in rows(export) {
        line(&mut text, &row);
    }
    Ok(text)
}

fn head(text: &mut String, export: &Export<'_>) {
    let (mut names, mut rules) = (String::new(), String::new());
    for (i, arm) in export.analysis.arms.iter().enumerate() {
        let width = if i == 0 { FIRST } else { COLUMN };
        let _ = write!(names, "{:>width$}", arm.name);
        let gap = if i == 0 { "" } else { " " };
        let _ = write!(rules, "{gap}{}", "-".repeat(width - gap.len()));
    }
    let _ = writeln!(text, "{names}\n{rules}");
}

/// Trials that did not count, as `failed:runs`.
fn failures(text: &mut String, export: &Export<'_>) {
    let counts: Vec<(usize, usize)> = export
        .analysis
        .arms
        .iter()
        .map(|arm| {
            let of_arm: Vec<_> =
                export.records.iter().filter(|r| !r.spec.discarded && r.spec.id.arm == arm.name).collect();
            (of_arm.iter().filter(|r| !r.counts()).count(), of_arm.len())
        })
        .collect();
    if counts.iter().all(|c| c.0 == 0) {
        return;
    }
    let fail = |(failed, runs): (usize, usize)| {
        format!("{:>10}:{runs:<5}", if failed == 0 { String::new() } else { failed.to_string() })
    };
    let share = |(failed, runs): (usize, usize)| 100.0 * failed as f64 / runs.max(1) as f64;
    let mut heads = "       fail:runs".to_owned();
    let mut line = fail(counts[0]);
    for count in &counts[1..] {
        heads.push_str("  %reproduction    fail:runs");
        let _ = write!(line, "{:>12.0}% {}", share(*count) - share(counts[0]), fail(*count));
    }
    let _ = writeln!(text, "{heads}");
    let _ = writeln!(text, "{line}  run-bench.invalid_trials");
}

fn line(text: &mut String, row: &MetricRow<'_>) {
    let Some(base) = row.values.first().filter(|v| !v.is_empty()) else { return };
    let mut line = cell(base);
    for values in &row.values[1..] {
        if values.is_empty() {
            line.push_str(&" ".repeat(COLUMN));
            continue;
        }
        let _ = write!(line, "{:>11}{}", change(row.metric.unit, mean(base), mean(values)), cell(values));
    }
    let _ = writeln!(text, "{line}  {}", row.metric.id);
}

fn cell(values: &[f64]) -> String {
    let centre = mean(values);
    let share = deviation(values).map_or(0.0, |d| d / centre.abs());
    let error = if share > SHOWN_DEVIATION { format!(" ±{:>3.0}%", 100.0 * share) } else { String::new() };
    format!("{:>10}{error:<6}", number(centre))
}

fn number(value: f64) -> String {
    match value.abs() {
        size if size < 1000.0 => format!("{value:.2}"),
        size if size > 1e8 => exponent(value),
        _ => format!("{value:.0}"),
    }
}

/// Four digits and an exponent of at least two, as C prints `%.4g`.
fn exponent(value: f64) -> String {
    let text = format!("{value:.3e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{digits}e+{power:0>2}"),
        None => text,
    }
}

fn change(unit: Unit, before: f64, after: f64) -> String {
    if unit == Unit::Percent {
        return format!("{:+.1} ", after - before);
    }
    if before == 0.0 {
        return String::new();
    }
    let percent = 100.0 * (after - before) / before;
    if percent.abs() >= 100_000.0 { format!("{}%", short(percent)) } else { format!("{percent:+.1}%") }
}

/// Two digits and an exponent, as C prints `%+.2g`.
fn short(value: f64) -> String {
    let text = format!("{value:+.1e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{digits}e+{power:0>2}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_robot() {
        assert_eq!(
            [26_805.4, 0.5, 999.994, 5.187_3e8, 1000.0].map(number),
            ["26805", "0.50", "999.99", "5.187e+08", "1000"]
        );
        assert_eq!(change(Unit::PerSecond, 26_805.0, 32_612.0), "+21.7%");
        assert_eq!(change(Unit::Percent, 92.0, 91.7), "-0.3 ");
        assert_eq!(change(Unit::Count, 1.0, 3200.0), "+3.2e+05%");
        assert_eq!(change(Unit::Count, 0.0, 5.0), "");
    }

    #[test]
    fn small_and_single_deviations_are_not_shown() {
        assert_eq!(cell(&[100.0, 101.0, 99.0]), "    100.00      ");
        assert_eq!(cell(&[100.0, 110.0, 90.0]), "    100.00 ± 10%");
        assert_eq!(cell(&[100.0]), "    100.00      ");
    }
}
