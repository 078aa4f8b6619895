//! Tables of the page, ready for the template.

use crate::analyze::{CampaignAnalysis, Comparison, Verdict};
use crate::config::ArmRole;
use crate::metric::Unit;
use crate::report::number::{Quantity, p_value};
use crate::report::series::counter_name;
use crate::report::text::{arm_rows, exploratory_rows, primary_metrics};
use crate::report::words;
use crate::stats::Summary;

/// A column's head.
pub struct Head {
    pub text: &'static str,
    pub number: bool,
}

/// One cell.
#[derive(Default)]
pub struct Cell {
    pub text: String,
    /// Words of the style sheet.
    pub class: &'static str,
    /// What the cell sorts by, where that is not its text.
    pub sort: Option<f64>,
    /// Text and target; shown instead of the text.
    pub links: Vec<(String, String)>,
}

/// One row.
pub struct Row {
    pub cells: Vec<Cell>,
    pub dim: bool,
}

/// A table with its heading.
pub struct Table {
    pub id: &'static str,
    pub title: String,
    pub note: String,
    pub heads: Vec<Head>,
    pub rows: Vec<Row>,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }

    pub fn number(text: impl Into<String>, value: Option<f64>) -> Self {
        Cell { text: text.into(), class: "n", sort: value.filter(|v| v.is_finite()), links: Vec::new() }
    }
}

/// `#` before a name makes the column one of numbers.
pub fn heads(names: &[&'static str]) -> Vec<Head> {
    names
        .iter()
        .map(|name| Head { text: name.trim_start_matches('#'), number: name.starts_with('#') })
        .collect()
}

fn verdict_cell(comparison: Option<&Comparison>) -> Cell {
    let Some(comparison) = comparison else { return Cell::text("baseline") };
    let class = match comparison.verdict {
        Verdict::Better if comparison.role == ArmRole::Candidate => "better b",
        Verdict::Worse if comparison.role == ArmRole::Candidate => "worse b",
        _ => "",
    };
    Cell { text: words::verdict(comparison).to_owned(), class, ..Cell::default() }
}

fn change_cells(comparison: Option<&Comparison>) -> [Cell; 2] {
    let raw = comparison.and_then(words::raw);
    [
        Cell::number(raw.map_or(String::new(), |r| words::change(r.0)), raw.map(|r| r.0.0)),
        Cell::number(
            raw.and_then(|r| r.1).map(words::interval).unwrap_or_default(),
            raw.and_then(|r| r.1).map(|i| i.0.0),
        ),
    ]
}

/// A table of arms for each primary metric.
pub fn arms(analysis: &CampaignAnalysis) -> Vec<Table> {
    let metrics = primary_metrics(analysis);
    let several = metrics.len() > 1;
    metrics
        .into_iter()
        .enumerate()
        .map(|(i, first)| {
            let rows = arm_rows(analysis, first);
            let quantity = Quantity::of(first.metric.unit, rows.iter().filter_map(|r| r.1).map(|s| s.mean));
            let unit = if quantity.symbol().is_empty() { "" } else { ", in " };
            let metric = if several { format!(": {}", first.metric.id) } else { String::new() };
            Table {
                id: if i == 0 { "arms" } else { "arms-also" },
                title: format!("Arms{metric}"),
                note: format!(
                    "{}: {}{unit}{}.",
                    first.metric.id,
                    words::axis(&first.metric.label, first.metric.direction),
                    quantity.symbol()
                ),
                heads: heads(&[
                    "arm",
                    "settings",
                    "#n",
                    "#mean",
                    "#median",
                    "#CV",
                    "#change",
                    "#interval",
                    "#p",
                    "verdict",
                ]),
                rows: rows.into_iter().map(|r| arm_row(analysis, &quantity, r)).collect(),
            }
        })
        .collect()
}

fn arm_row(
    analysis: &CampaignAnalysis,
    quantity: &Quantity,
    (name, summary, comparison): (&str, Option<&Summary>, Option<&Comparison>),
) -> Row {
    let line = analysis.arms.iter().find(|a| a.name == name);
    let settings = line.map_or(String::new(), |l| l.settings.join(", "));
    let number = |of: fn(&Summary) -> f64| {
        Cell::number(summary.map_or("-".to_owned(), |s| quantity.number(of(s))), summary.map(of))
    };
    let variation = summary.and_then(|s| s.coefficient_of_variation);
    let [change, interval] = change_cells(comparison);
    let p = comparison.and_then(|c| c.result.as_ref()).map(|r| r.p);
    Row {
        cells: vec![
            Cell { text: name.to_owned(), class: "b", ..Cell::default() },
            Cell::text(settings),
            Cell::number(summary.map_or(0, |s| s.n).to_string(), summary.map(|s| s.n as f64)),
            number(|s| s.mean),
            number(|s| s.median),
            Cell::number(words::variation(variation), variation),
            change,
            interval,
            Cell::number(p.map(p_value).unwrap_or_default(), p),
            verdict_cell(comparison),
        ],
        dim: false,
    }
}

/// Metrics that do not decide.
pub fn exploratory(analysis: &CampaignAnalysis) -> Option<Table> {
    let rows = exploratory_rows(analysis);
    (!rows.is_empty()).then(|| Table {
        id: "exploratory",
        title: "Other metrics".to_owned(),
        note: "Exploratory: corrected together by Benjamini and Hochberg; a finding here is a question for the next experiment.".to_owned(),
        heads: heads(&["metric", "arm", "#before", "#after", "#change", "#interval", "#adjusted p", "verdict"]),
        rows: rows.into_iter().map(exploratory_row).collect(),
    })
}

fn exploratory_row(comparison: &Comparison) -> Row {
    let means = [&comparison.baseline, &comparison.candidate].map(|a| a.summary.as_ref().map(|s| s.mean));
    let quantity = Quantity::of(comparison.metric.unit, means.iter().flatten().copied());
    let number =
        |mean: Option<f64>| Cell::number(mean.map_or("-".to_owned(), |m| quantity.with_unit(m)), mean);
    let [change, interval] = change_cells(Some(comparison));
    let p = comparison.adjusted_p;
    Row {
        cells: vec![
            Cell::text(comparison.metric.id.to_string()),
            Cell::text(comparison.candidate.arm.clone()),
            number(means[0]),
            number(means[1]),
            change,
            interval,
            Cell::number(p.map_or("-".to_owned(), p_value), p),
            verdict_cell(Some(comparison)),
        ],
        dim: !matches!(comparison.verdict, Verdict::Better | Verdict::Worse),
    }
}

/// Every kernel counter.
pub fn counters(analysis: &CampaignAnalysis) -> Option<Table> {
    let row = |c: &crate::analyze::CounterComparison| {
        let quantity = Quantity::of(Unit::Count, [c.baseline, c.changed_to]);
        Row {
            cells: vec![
                Cell::text(counter_name(&c.counter)),
                Cell::text(c.candidate.clone()),
                Cell::number(quantity.with_unit(c.baseline), Some(c.baseline)),
                Cell::number(quantity.with_unit(c.changed_to), Some(c.changed_to)),
                Cell::number(c.change.map_or("-".to_owned(), words::change), c.change.map(|p| p.0)),
                Cell::number(c.interval.map(words::interval).unwrap_or_default(), c.interval.map(|i| i.0.0)),
                Cell::number(c.adjusted_p.map_or("-".to_owned(), p_value), c.adjusted_p),
            ],
            dim: !c.moved(),
        }
    };
    (!analysis.counters.is_empty()).then(|| Table {
        id: "counters",
        title: "Kernel counters".to_owned(),
        note: "Change over the measured phase, median a run; exploratory. Grey rows did not move at a false discovery rate of 0.1.".to_owned(),
        heads: heads(&["counter", "arm", "#before", "#after", "#change", "#interval", "#adjusted p"]),
        rows: analysis.counters.iter().map(row).collect(),
    })
}
