//! The result for a terminal: verdicts in words first, then what they rest on.

use std::fmt::Write;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

use super::number::Quantity;
use super::words;
use crate::analyze::{CampaignAnalysis, ClaimCheck, Comparison, FleetComparison, HostVerdict};
use crate::config::ArmRole;
use crate::stats::Summary;

/// Width where the terminal's is not known.
const USUAL_WIDTH: u16 = 100;
/// Counters and exploratory metrics shown at most.
const MOST: usize = 8;

/// The result, as wide as the terminal that standard output is, else 100 columns.
pub fn terminal(analysis: &CampaignAnalysis) -> String {
    // An own table knows the width of standard output, where that is a terminal.
    let width = Table::new().width().unwrap_or(USUAL_WIDTH);
    terminal_of_width(analysis, width.clamp(60, 160))
}

pub(super) fn terminal_of_width(analysis: &CampaignAnalysis, width: u16) -> String {
    let mut text = format!("\n{}\n\n", analysis.title);
    for comparison in analysis.deciding() {
        verdict(&mut text, analysis, comparison, width);
        hosts(&mut text, analysis, comparison, width);
    }
    if analysis.deciding().next().is_none() {
        text.push_str("There is no candidate arm, so there is nothing to decide.\n\n");
    }
    if let Some(claim) = &analysis.claim {
        claim_lines(&mut text, claim, width);
    }
    if let Some(forecast) = &analysis.forecast {
        paragraph(&mut text, "", &format!("Forecast: {}.", words::forecast_row(forecast)), width);
        for line in words::forecast_lines(forecast) {
            paragraph(&mut text, "  ", &line, width);
        }
        text.push('\n');
    }
    if let Some(reason) = &analysis.functional_only {
        paragraph(&mut text, "", &format!("No statement about time may rest on this run: {reason}."), width);
        text.push('\n');
    }
    for comparison in primary_metrics(analysis) {
        arms(&mut text, analysis, comparison, width);
    }
    exploratory(&mut text, analysis, width);
    counters(&mut text, analysis, width);
    trials(&mut text, analysis, width);
    for note in &analysis.noise {
        paragraph(&mut text, "note: ", &note.message, width);
    }
    for change in &analysis.changes {
        paragraph(&mut text, "scaled: ", change, width);
    }
    text
}

fn verdict(text: &mut String, analysis: &CampaignAnalysis, comparison: &Comparison, width: u16) {
    let layout = if comparison.within_layout_noise() { ", within layout noise" } else { "" };
    paragraph(text, "", &format!("{}{layout}.", words::headline(comparison)), width);
    let mut lines = Vec::new();
    if let Some((raw, interval)) = words::raw(comparison) {
        let interval = interval.map_or("no interval yet".to_owned(), words::interval);
        lines.push(format!("{} {interval}, {}", words::change(raw), words::basis(comparison)));
    }
    lines.push(comparison.reason.clone());
    let floor = words::floor(analysis, comparison).map(|f| format!("noise floor {f}"));
    lines.extend([words::resolution(comparison), floor].into_iter().flatten());
    for line in lines.iter().filter(|l| !l.is_empty()) {
        paragraph(text, "  ", line, width);
    }
    text.push('\n');
}

/// Host by host, where there are several.
fn hosts(text: &mut String, analysis: &CampaignAnalysis, comparison: &Comparison, width: u16) {
    let same = |one: &&FleetComparison| {
        one.workload == comparison.workload
            && one.metric == comparison.metric.id
            && one.candidate == comparison.candidate.arm
    };
    let found = analysis.fleet.iter().flat_map(|f| &f.comparisons).find(same);
    let Some(one) = found.filter(|one| one.hosts.len() > 1) else { return };
    paragraph(text, "Hosts: ", &format!("{}.", one.words), width);
    let mut table = table(width, &["host", "class", "blocks", "change", "interval", "verdict"]);
    let mut row = |name: String, line: &HostVerdict| {
        table.add_row(cells(&[
            name,
            line.class.clone(),
            line.blocks.to_string(),
            line.change.map_or("-".to_owned(), words::change),
            line.interval.map(words::interval).unwrap_or_default(),
            line.verdict.to_string(),
        ]));
    };
    for host in &one.hosts {
        row(host.name.clone(), host);
    }
    for class in one.classes.iter().filter(|c| c.hosts > 1 && one.classes.len() > 1) {
        row(words::class_name(class), class);
    }
    let _ = writeln!(text, "{}", table.trim_fmt());
    if let Some(over) = words::over_hosts(one) {
        paragraph(text, "  ", &over, width);
    }
    text.push('\n');
}

fn claim_lines(text: &mut String, claim: &ClaimCheck, width: u16) {
    let row = words::claim_row(claim);
    paragraph(text, "", &format!("Claim: {}. {row}.", claim.verdict.text()), width);
    paragraph(text, "  ", &claim.reason, width);
    for difference in &claim.differences {
        paragraph(text, "  differs: ", difference, width);
    }
    text.push('\n');
}

/// One comparison for each workload and primary metric.
pub(super) fn primary_metrics(analysis: &CampaignAnalysis) -> Vec<&Comparison> {
    let mut first: Vec<&Comparison> = Vec::new();
    for comparison in analysis.comparisons.iter().filter(|c| c.primary) {
        let same = |c: &&Comparison| c.workload == comparison.workload && c.metric.id == comparison.metric.id;
        if !first.iter().any(same) {
            first.push(comparison);
        }
    }
    first
}

/// All arms of a primary metric: name, values' summary, the comparison it is the candidate of.
pub(super) fn arm_rows<'a>(
    analysis: &'a CampaignAnalysis,
    first: &'a Comparison,
) -> Vec<(&'a str, Option<&'a Summary>, Option<&'a Comparison>)> {
    let same = |c: &&Comparison| c.primary && c.workload == first.workload && c.metric.id == first.metric.id;
    let others = analysis.comparisons.iter().filter(same);
    std::iter::once((first.baseline.arm.as_str(), first.baseline.summary.as_ref(), None))
        .chain(others.map(|c| (c.candidate.arm.as_str(), c.candidate.summary.as_ref(), Some(c))))
        .collect()
}

fn arms(text: &mut String, analysis: &CampaignAnalysis, first: &Comparison, width: u16) {
    let rows = arm_rows(analysis, first);
    let means = rows.iter().filter_map(|r| r.1).map(|s| s.mean);
    let quantity = Quantity::of(first.metric.unit, means);
    let unit = if quantity.symbol().is_empty() { String::new() } else { format!(" ({})", quantity.symbol()) };
    let axis = words::axis(&first.metric.label, first.metric.direction);
    paragraph(text, "", &format!("{}{unit}: {axis}", first.metric.id), width);
    let mut table = table(width, &["arm", "n", "mean", "median", "CV", "change", "interval", "verdict"]);
    for (name, summary, comparison) in rows {
        let number = |of: fn(&Summary) -> f64| summary.map_or("-".to_owned(), |s| quantity.number(of(s)));
        let raw = comparison.and_then(words::raw);
        let blank = |text: Option<String>| text.unwrap_or_default();
        table.add_row(cells(&[
            name.to_owned(),
            summary.map_or("0".to_owned(), |s| s.n.to_string()),
            number(|s| s.mean),
            number(|s| s.median),
            words::variation(summary.and_then(|s| s.coefficient_of_variation)),
            blank(raw.map(|r| words::change(r.0))),
            blank(raw.and_then(|r| r.1).map(words::interval)),
            comparison.map_or("baseline", words::verdict).to_owned(),
        ]));
    }
    let _ = writeln!(text, "{}\n", table.trim_fmt());
}

/// Other metrics of candidates, those with the smallest p first.
pub(super) fn exploratory_rows(analysis: &CampaignAnalysis) -> Vec<&Comparison> {
    let mut rows: Vec<&Comparison> =
        analysis.comparisons.iter().filter(|c| !c.primary && c.role == ArmRole::Candidate).collect();
    let p = |c: &Comparison| c.adjusted_p.unwrap_or(1.0);
    rows.sort_by(|a, b| p(a).total_cmp(&p(b)).then_with(|| a.metric.id.cmp(&b.metric.id)));
    rows
}

fn exploratory(text: &mut String, analysis: &CampaignAnalysis, width: u16) {
    let rows = exploratory_rows(analysis);
    if rows.is_empty() {
        return;
    }
    text.push_str("exploratory, corrected together (Benjamini-Hochberg)\n");
    let several = analysis.deciding().count() > 1;
    let mut table = table(width, &["metric", "before", "after", "change", "interval", "adjusted p"]);
    for comparison in rows.iter().take(MOST) {
        let means = [&comparison.baseline, &comparison.candidate].map(|a| a.summary.as_ref().map(|s| s.mean));
        let quantity = Quantity::of(comparison.metric.unit, means.iter().flatten().copied());
        let number = |mean: Option<f64>| mean.map_or("-".to_owned(), |m| quantity.with_unit(m));
        let raw = words::raw(comparison);
        table.add_row(cells(&[
            of_arm(comparison.metric.id.as_str(), &comparison.candidate.arm, several),
            number(means[0]),
            number(means[1]),
            raw.map_or("-".to_owned(), |r| words::change(r.0)),
            raw.and_then(|r| r.1).map(words::interval).unwrap_or_default(),
            comparison.adjusted_p.map_or("-".to_owned(), super::number::p_value),
        ]));
    }
    let _ = writeln!(text, "{}", table.trim_fmt());
    if rows.len() > MOST {
        let _ = writeln!(text, "  and {} more in the page", rows.len() - MOST);
    }
    text.push('\n');
}

fn counters(text: &mut String, analysis: &CampaignAnalysis, width: u16) {
    let moved: Vec<_> = analysis.counters.iter().filter(|c| c.moved()).collect();
    if moved.is_empty() {
        if !analysis.counters.is_empty() {
            let _ = writeln!(text, "no kernel counter moved, of {}\n", analysis.counters.len());
        }
        return;
    }
    let _ = writeln!(
        text,
        "kernel counters that moved, {} of {} (exploratory)",
        moved.len(),
        analysis.counters.len()
    );
    let several = analysis.deciding().count() > 1;
    let mut table = table(width, &["counter", "before", "after", "change", "interval", "adjusted p"]);
    for counter in moved.iter().take(MOST) {
        let quantity = Quantity::of(crate::metric::Unit::Count, [counter.baseline, counter.changed_to]);
        table.add_row(cells(&[
            of_arm(&counter.counter, &counter.candidate, several),
            quantity.with_unit(counter.baseline),
            quantity.with_unit(counter.changed_to),
            counter.change.map_or("from zero".to_owned(), words::change),
            counter.interval.map(words::interval).unwrap_or_default(),
            counter.adjusted_p.map_or("-".to_owned(), super::number::p_value),
        ]));
    }
    let _ = writeln!(text, "{}\n", table.trim_fmt());
}

/// A name, with its arm where there are several candidates.
fn of_arm(name: &str, arm: &str, several: bool) -> String {
    if several { format!("{arm} {name}") } else { name.to_owned() }
}

fn trials(text: &mut String, analysis: &CampaignAnalysis, width: u16) {
    let _ = writeln!(text, "{}", words::trials(analysis));
    for trial in analysis.not_counted.iter().take(MOST) {
        let reasons =
            if trial.reasons.is_empty() { String::new() } else { format!(": {}", trial.reasons.join("; ")) };
        paragraph(text, "  ", &format!("{} {}{reasons}", trial.trial, trial.status), width);
    }
    if analysis.not_counted.len() > MOST {
        let _ = writeln!(text, "  and {} more in the page", analysis.not_counted.len() - MOST);
    }
    text.push('\n');
}

fn table(width: u16, heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(cells(&heads.iter().map(|h| (*h).to_owned()).collect::<Vec<_>>()));
    if let Some(first) = table.column_mut(0) {
        first.set_padding((2, 1));
    }
    table
}

/// Words to the left, numbers to the right.
fn cells(texts: &[String]) -> Vec<Cell> {
    texts
        .iter()
        .enumerate()
        .map(|(i, text)| {
            let word = i == 0 || text.chars().all(|c| c.is_ascii_alphabetic() || c == ' ' || c == '-');
            let left = i == 0 || word && i + 1 == texts.len();
            Cell::new(text).set_alignment(if left { CellAlignment::Left } else { CellAlignment::Right })
        })
        .collect()
}

/// Words wrapped at the width; later lines are indented below the first word.
pub(super) fn paragraph(text: &mut String, start: &str, words: &str, width: u16) {
    let width = usize::from(width);
    let indent = " ".repeat(start.chars().count());
    let mut line = start.to_owned();
    let mut empty = true;
    for word in words.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            let _ = writeln!(text, "{}", line.trim_end());
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
