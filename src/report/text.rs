//! The result for a terminal.

use std::fmt::Write;

use crate::analyze::{CampaignAnalysis, Comparison};

/// The verdicts in words, with interval, n and what could have been resolved.
pub fn terminal(analysis: &CampaignAnalysis) -> String {
    let mut text = format!("\n{}\n", analysis.title);
    for comparison in analysis.comparisons.iter().filter(|c| c.primary) {
        let _ = writeln!(text, "{}", line(comparison));
    }
    for note in &analysis.noise {
        let _ = writeln!(text, "note: {}", note.message);
    }
    text
}

fn line(comparison: &Comparison) -> String {
    let mut text = format!(
        "{} against {}, {}: {}",
        comparison.candidate.arm, comparison.baseline.arm, comparison.metric.id, comparison.verdict
    );
    if let Some(result) = &comparison.result {
        let _ = write!(text, ", {}", result.estimate);
        if let Some((low, high)) = result.interval {
            let _ = write!(text, " [{low}, {high}]");
        }
        let _ = write!(text, ", {} blocks", result.paired.n);
    }
    let _ = write!(text, "; {}", comparison.reason);
    text
}
