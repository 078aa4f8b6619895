//! OpenMetrics text, for a scraper that follows a lab over time.

use std::fmt::Write;

use super::Export;
use super::table::{mean, rows};
use crate::analyze::Comparison;
use crate::report::error::ReportError;
use crate::report::words;

pub(super) fn render(export: &Export<'_>) -> Result<String, ReportError> {
    let mut text = String::new();
    let analysis = export.analysis;
    let common = format!(
        "campaign=\"{}\",host=\"{}\",kernel=\"{}\"",
        escape(&analysis.campaign),
        escape(&analysis.manifest.host),
        escape(&analysis.manifest.kernel.release)
    );
    family(&mut text, "run_bench_mean", "Mean over trials of one arm, in the metric's base unit.");
    for row in rows(export) {
        for (arm, values) in analysis.arms.iter().zip(&row.values).filter(|(_, v)| !v.is_empty()) {
            let labels = format!("{common},{}", labels(row.workload, row.metric.id.as_str(), &arm.name));
            let _ = writeln!(text, "run_bench_mean{{{labels}}} {}", mean(values));
        }
    }
    type Read = fn(&Comparison) -> Option<f64>;
    let families: [(&str, &str, Read); 5] = [
        ("run_bench_change_ratio", "Relative change against the baseline, as a share.", |c| {
            Some(words::raw(c)?.0.as_share())
        }),
        ("run_bench_change_low_ratio", "Lower end of the change's interval.", |c| {
            Some(words::raw(c)?.1?.0.as_share())
        }),
        ("run_bench_change_high_ratio", "Upper end of the change's interval.", |c| {
            Some(words::raw(c)?.1?.1.as_share())
        }),
        ("run_bench_blocks", "Blocks that the comparison rests on.", |c| Some(c.blocks.len() as f64)),
        ("run_bench_p", "p of the deciding test, corrected.", |c| c.adjusted_p),
    ];
    for (name, help, read) in families {
        family(&mut text, name, help);
        for comparison in analysis.comparisons.iter().filter(|c| c.primary) {
            if let Some(value) = read(comparison).filter(|v| v.is_finite()) {
                let _ = writeln!(text, "{name}{{{common},{}}} {value}", of(comparison));
            }
        }
    }
    text.push_str("# TYPE run_bench_verdict info\n# HELP run_bench_verdict Verdict of a comparison.\n");
    for comparison in analysis.comparisons.iter().filter(|c| c.primary) {
        let _ = writeln!(
            text,
            "run_bench_verdict_info{{{common},{},verdict=\"{}\"}} 1",
            of(comparison),
            comparison.verdict
        );
    }
    text.push_str("# EOF\n");
    Ok(text)
}

fn family(text: &mut String, name: &str, help: &str) {
    let _ = writeln!(text, "# TYPE {name} gauge\n# HELP {name} {help}");
}

fn of(comparison: &Comparison) -> String {
    labels(&comparison.workload, comparison.metric.id.as_str(), &comparison.candidate.arm)
}

fn labels(workload: &str, metric: &str, arm: &str) -> String {
    format!("workload=\"{}\",metric=\"{}\",arm=\"{}\"", escape(workload), escape(metric), escape(arm))
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
