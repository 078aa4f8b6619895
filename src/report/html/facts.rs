//! What ran and where: differences between arms, host, kernel, tools.

use super::table::{Cell, Row, Table, heads};
use crate::analyze::CampaignAnalysis;
use crate::store::TrialRecord;

/// Facts that were not the same in all arms.
pub fn differences(analysis: &CampaignAnalysis) -> Option<Table> {
    let rows: Vec<Row> = analysis
        .differences
        .iter()
        .map(|d| {
            let values: Vec<String> = d.values.iter().map(|(arm, value)| format!("{arm}: {value}")).collect();
            Row {
                cells: vec![
                    Cell::text(d.fact.clone()),
                    Cell::text(values.join("; ")),
                    Cell::text(if d.declared { "asked for" } else { "not asked for: may explain a change" }),
                ],
                dim: d.declared,
            }
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        id: "differences",
        title: "Differences between arms".to_owned(),
        note: "Facts of the trials that were the same within each arm and not the same in all arms."
            .to_owned(),
        heads: heads(&["fact", "values", "experiment"]),
        rows,
    })
}

/// Host, kernel and tools, as the campaign and its first trial recorded them.
pub fn host(analysis: &CampaignAnalysis, records: &[TrialRecord]) -> Table {
    let manifest = &analysis.manifest;
    let kernel = &manifest.kernel;
    let mut facts = vec![
        ("host".to_owned(), manifest.host.clone()),
        ("kernel".to_owned(), format!("{} {}", kernel.release, kernel.version).trim().to_owned()),
    ];
    let optional = [
        ("kernel build", &kernel.build_id),
        ("kernel configuration", &kernel.config_hash),
        ("kernel command line", &kernel.command_line),
        ("boot", &kernel.boot_id),
    ];
    facts.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))));
    if let Some(record) = records.iter().find(|r| r.counts()) {
        facts.extend(
            record
                .spec
                .memcg
                .iter()
                .map(|m| ("memory limit of the baseline".to_owned(), m.limit.to_string())),
        );
        facts.extend(record.swap.iter().map(|s| {
            let way = if s.synchronous { "synchronous" } else { "queued" };
            ("swap".to_owned(), format!("{} {}, {way}, {}", s.kind, s.size, s.device))
        }));
        facts
            .extend(record.driver.iter().map(|d| ("driver".to_owned(), format!("{} {}", d.name, d.version))));
        let parameters: Vec<String> = record.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
        if !parameters.is_empty() {
            facts.push(("parameters in force".to_owned(), parameters.join(", ")));
        }
    }
    let tools =
        manifest.tools.iter().map(|(name, tool)| (name.clone(), format!("{} ({})", tool.version, tool.path)));
    facts.extend(tools);
    Table {
        id: "host",
        title: "Host".to_owned(),
        note: String::new(),
        heads: heads(&["fact", "value"]),
        rows: facts
            .into_iter()
            .map(|(fact, value)| Row { cells: vec![Cell::text(fact), Cell::text(value)], dim: false })
            .collect(),
    }
}

/// Remarks on the noise, one a row.
pub fn noise(analysis: &CampaignAnalysis) -> Option<Table> {
    let row = |n: &crate::analyze::NoiseNote| Row {
        cells: vec![Cell::text(n.kind.clone()), Cell::text(n.message.clone())],
        dim: false,
    };
    (!analysis.noise.is_empty()).then(|| Table {
        id: "noise",
        title: "Noise".to_owned(),
        note: String::new(),
        heads: heads(&["kind", "what was seen"]),
        rows: analysis.noise.iter().map(row).collect(),
    })
}
