//! Reports over several campaigns: text, page and charts.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::chart::{Gallery, history_charts};
use super::error::ReportError;
use super::html;
use super::number::Quantity;
use super::text::paragraph;
use super::words;
use super::write::{create, write_charts};
use crate::analyze::{CampaignAnalysis, MetricHistory, history};
use crate::store::{write_atomically, write_json};

const WIDTH: u16 = 100;

/// The finding of one metric, in a sentence.
pub(super) fn finding(history: &MetricHistory) -> String {
    let metric = &history.metric.id;
    let pooled: Vec<String> = history
        .pooled
        .iter()
        .map(|p| {
            let agree =
                if p.heterogeneity_p < 0.1 { "hosts differ by more than their noise" } else { "hosts agree" };
            format!(
                "{} over {} hosts: {metric} changes by {} {}; {agree}",
                p.arm,
                p.hosts,
                words::change(p.change),
                words::interval(p.interval)
            )
        })
        .collect();
    if pooled.is_empty() {
        format!("{metric} in {}", words::count(history.changes.len(), "campaign"))
    } else {
        pooled.join(". ")
    }
}

/// All metrics that the campaigns have in common, for a terminal.
pub fn history_text(analyses: &[CampaignAnalysis]) -> String {
    let histories = history(analyses);
    if histories.is_empty() {
        return "The campaigns have no primary metric in common, so there is nothing to set side by side.\n"
            .to_owned();
    }
    let mut text = String::new();
    for history in &histories {
        paragraph(&mut text, "", &format!("{}.", finding(history)), WIDTH);
        for difference in &history.differences {
            paragraph(&mut text, "  differs: ", difference, WIDTH);
        }
        for change in &history.changes {
            let interval = change.interval.map(words::interval).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {:<24} {:<14} {:<12} {:>8}  {interval}, {}",
                change.campaign,
                change.kernel,
                change.arm,
                words::change(change.change),
                words::count(change.blocks, "block")
            );
        }
        let quantity = Quantity::of(history.metric.unit, history.points.iter().map(|p| p.mean));
        for point in history.points.iter().filter(|p| p.outlier) {
            let sentence = format!(
                "the mean of {} in {}, {}, is far from the others; it is kept",
                point.arm,
                point.campaign,
                quantity.with_unit(point.mean)
            );
            paragraph(&mut text, "  note: ", &sentence, WIDTH);
        }
        text.push('\n');
    }
    text
}

/// Writes page, charts and data of several campaigns; the page first.
pub fn write_history(analyses: &[CampaignAnalysis], out: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let histories = history(analyses);
    create(out)?;
    let mut gallery = Gallery::default();
    for one in &histories {
        match history_charts(one, histories.len() > 1) {
            Ok(charts) => gallery.charts.extend(charts),
            Err(error) => gallery.refused.push((one.metric.id.to_string(), error.to_string())),
        }
    }
    let page = out.join("index.html");
    write_atomically(&page, html::history_page(analyses, &histories, &gallery)?.as_bytes())?;
    let json = out.join("history.json");
    write_json(&json, &histories)?;
    let mut written = vec![page, json];
    written.extend(write_charts(&gallery, out)?);
    Ok(written)
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
