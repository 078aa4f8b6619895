//! The page of several campaigns.

use askama::Template;

use super::page::{Figure, figures, page_style};
use super::table::{Cell, Row, Table, heads};
use crate::analyze::{CampaignAnalysis, MetricHistory};
use crate::report::chart::Gallery;
use crate::report::error::ReportError;
use crate::report::history::finding;
use crate::report::number::{Quantity, p_value};
use crate::report::words;

#[derive(Template)]
#[template(path = "history.html", config = "src/report/html/askama.toml")]
struct Page {
    title: String,
    campaigns: String,
    version: String,
    style: String,
    script: &'static str,
    findings: Vec<String>,
    differences: Vec<String>,
    charts: Vec<Figure>,
    tables: Vec<Table>,
}

/// Renders the page; `links` are the campaigns' own pages as seen from it.
pub fn history_page(
    analyses: &[CampaignAnalysis],
    histories: &[MetricHistory],
    gallery: &Gallery,
) -> Result<String, ReportError> {
    let mut differences: Vec<String> = histories.iter().flat_map(|h| h.differences.clone()).collect();
    differences.sort();
    differences.dedup();
    let mut tables = Vec::new();
    for history in histories {
        tables.push(changes(history));
        tables.extend(pooled(history));
        tables.push(means(history));
    }
    let names: Vec<&str> = analyses.iter().map(|a| a.campaign.as_str()).collect();
    let page = Page {
        title: format!("{} side by side", words::count(analyses.len(), "campaign")),
        campaigns: names.join(", "),
        version: crate::store::Version::current().version,
        style: page_style(),
        script: include_str!("page.js"),
        findings: histories.iter().map(finding).collect(),
        differences,
        charts: figures(gallery)?,
        tables,
    };
    page.render().map_err(ReportError::Page)
}

fn changes(history: &MetricHistory) -> Table {
    let row = |c: &crate::analyze::HistoryChange| Row {
        cells: vec![
            Cell::text(c.campaign.clone()),
            Cell::text(c.host.clone()),
            Cell::text(c.kernel.clone()),
            Cell { text: c.arm.clone(), class: "b", ..Cell::default() },
            Cell::number(c.blocks.to_string(), Some(c.blocks as f64)),
            Cell::number(words::change(c.change), Some(c.change.0)),
            Cell::number(c.interval.map(words::interval).unwrap_or_default(), c.interval.map(|i| i.0.0)),
        ],
        dim: false,
    };
    Table {
        id: "changes",
        title: format!("Changes of {}", history.metric.id),
        note: String::new(),
        heads: heads(&["campaign", "host", "kernel", "arm", "#blocks", "#change", "#interval"]),
        rows: history.changes.iter().map(row).collect(),
    }
}

fn pooled(history: &MetricHistory) -> Option<Table> {
    let row = |p: &crate::analyze::PooledChange| Row {
        cells: vec![
            Cell { text: p.arm.clone(), class: "b", ..Cell::default() },
            Cell::number(p.hosts.to_string(), Some(p.hosts as f64)),
            Cell::number(words::change(p.change), Some(p.change.0)),
            Cell::number(words::interval(p.interval), Some(p.interval.0.0)),
            Cell::number(p_value(p.heterogeneity_p), Some(p.heterogeneity_p)),
            Cell::number(crate::report::number::share(p.i_squared), Some(p.i_squared)),
        ],
        dim: false,
    };
    (!history.pooled.is_empty()).then(|| Table {
        id: "pooled",
        title: "Over hosts".to_owned(),
        note: "Random effects; a small p of heterogeneity says that hosts differ by more than their noise, so that no one number holds for all.".to_owned(),
        heads: heads(&["arm", "#hosts", "#change", "#interval", "#p of heterogeneity", "#variation between hosts"]),
        rows: history.pooled.iter().map(row).collect(),
    })
}

fn means(history: &MetricHistory) -> Table {
    let quantity = Quantity::of(history.metric.unit, history.points.iter().map(|p| p.mean));
    let row = |p: &crate::analyze::HistoryPoint| Row {
        cells: vec![
            Cell::text(p.created.clone()),
            Cell::text(p.campaign.clone()),
            Cell::text(p.host.clone()),
            Cell::text(p.kernel.clone()),
            Cell { text: p.arm.clone(), class: "b", ..Cell::default() },
            Cell::number(p.n.to_string(), Some(p.n as f64)),
            Cell::number(quantity.with_unit(p.mean), Some(p.mean)),
            Cell::text(if p.outlier { "far from the others" } else { "" }),
        ],
        dim: false,
    };
    Table {
        id: "means",
        title: format!("Means of {}", history.metric.id),
        note: words::axis(&history.metric.label, history.metric.direction),
        heads: heads(&["time", "campaign", "host", "kernel", "arm", "#n", "#mean", "remark"]),
        rows: history.points.iter().map(row).collect(),
    }
}
