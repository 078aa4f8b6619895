//! Every trial, with links to what it left.

use super::table::{Cell, Row, Table, heads};
use crate::analyze::CampaignAnalysis;
use crate::report::number::Quantity;
use crate::report::text::primary_metrics;
use crate::store::{CampaignFolder, TrialOutcome, TrialRecord};

/// With more trials than this, rows link to the folder instead of each file.
const MOST_LINKED: usize = 1000;

pub fn trials(analysis: &CampaignAnalysis, folder: &CampaignFolder, records: &[TrialRecord]) -> Table {
    let primary = primary_metrics(analysis);
    let row = |record: &TrialRecord| {
        let id = &record.spec.id;
        let metric = primary.iter().find(|c| c.workload == id.workload);
        let value = metric.and_then(|c| record.value(c.metric.id.as_str()));
        let shown = metric.zip(value).map(|(c, v)| {
            let means = [&c.baseline, &c.candidate].map(|a| a.summary.as_ref().map_or(0.0, |s| s.mean));
            Quantity::of(c.metric.unit, means).with_unit(v)
        });
        let seconds = record.ended.duration_since(record.started).as_secs_f64();
        Row {
            cells: vec![
                Cell::number(id.block.to_string(), Some(f64::from(id.block))),
                Cell::number(id.position.to_string(), Some(f64::from(id.position))),
                Cell::text(id.workload.clone()),
                Cell { text: id.arm.clone(), class: "b", ..Cell::default() },
                Cell::text(outcome(record)),
                Cell::number(shown.unwrap_or_default(), value),
                Cell::number(format!("{seconds:.1} s"), Some(seconds)),
                Cell { links: links(folder, record, records.len() > MOST_LINKED), ..Cell::default() },
            ],
            dim: !record.counts(),
        }
    };
    let metrics: Vec<String> = primary.iter().map(|c| c.metric.id.to_string()).collect();
    Table {
        id: "trials",
        title: "Trials".to_owned(),
        note: format!(
            "In the order of the campaign; the value is that of {}. Grey trials do not count.",
            metrics.join(", ")
        ),
        heads: heads(&["#block", "#place", "workload", "arm", "outcome", "#value", "#time", "files"]),
        rows: records.iter().map(row).collect(),
    }
}

/// How a trial ended, in a few words.
fn outcome(record: &TrialRecord) -> String {
    let mut text = match &record.outcome {
        TrialOutcome::Valid if record.spec.discarded => "warm-up, discarded".to_owned(),
        TrialOutcome::Valid => "valid".to_owned(),
        TrialOutcome::Invalid { violations } => {
            let rules: Vec<String> =
                violations.iter().map(|v| format!("{}: {} [{}]", v.rule, v.message, v.evidence)).collect();
            format!("invalid: {}", rules.join("; "))
        }
        TrialOutcome::Failed { stage, message } => format!("failed in {stage}: {message}"),
        TrialOutcome::Unsupported { reason } => format!("unsupported: {reason}"),
        TrialOutcome::Interrupted => "interrupted".to_owned(),
    };
    for event in &record.host_events {
        text.push_str(&format!("; {}: {}", event.kind, event.detail));
    }
    text
}

fn links(folder: &CampaignFolder, record: &TrialRecord, only_folder: bool) -> Vec<(String, String)> {
    let name = record.spec.id.to_string();
    let base = format!("../trials/{name}");
    if only_folder {
        return vec![
            ("record".to_owned(), format!("{base}/record.json")),
            ("folder".to_owned(), format!("{base}/")),
        ];
    }
    let here = folder.path().join("trials").join(&name);
    let mut links = vec![("record".to_owned(), format!("{base}/record.json"))];
    if here.join("series.jsonl").is_file() {
        links.push(("series".to_owned(), format!("{base}/series.jsonl")));
    }
    links.extend(record.raw.iter().map(|file| (file.clone(), format!("{base}/raw/{file}"))));
    links
}
