//! The fleet's tables: each host, each class, all hosts together.

use super::table::{Cell, Row, Table, heads};
use crate::analyze::{CampaignAnalysis, HostVerdict, Verdict};
use crate::report::words;

/// One table for each deciding comparison.
pub fn fleet(analysis: &CampaignAnalysis) -> Vec<Table> {
    let Some(fleet) = &analysis.fleet else { return Vec::new() };
    let table = |one: &crate::analyze::FleetComparison| {
        let mut rows: Vec<Row> = one.hosts.iter().map(|h| row(h, false)).collect();
        if one.classes.len() > 1 {
            rows.extend(one.classes.iter().map(|c| row(c, true)));
        }
        Table {
            id: "hosts",
            title: format!("Hosts: {} of {}", one.metric, one.candidate),
            note: format!("{}. {}", one.words, words::over_hosts(one).unwrap_or_default()),
            heads: heads(&["host", "class", "#blocks", "#change", "#interval", "verdict"]),
            rows,
        }
    };
    fleet.comparisons.iter().map(table).collect()
}

fn row(line: &HostVerdict, is_class: bool) -> Row {
    let class = match line.verdict {
        Verdict::Better => "better b",
        Verdict::Worse => "worse b",
        _ => "",
    };
    let name = if is_class { words::class_name(line) } else { line.name.clone() };
    Row {
        cells: vec![
            Cell::text(name),
            Cell::text(line.class.clone()),
            Cell::number(line.blocks.to_string(), Some(line.blocks as f64)),
            Cell::number(line.change.map_or(String::new(), words::change), line.change.map(|c| c.0)),
            Cell::number(
                line.interval.map(words::interval).unwrap_or_default(),
                line.interval.map(|i| i.0.0),
            ),
            Cell { text: line.verdict.to_string(), class, ..Cell::default() },
        ],
        dim: false,
    }
}
