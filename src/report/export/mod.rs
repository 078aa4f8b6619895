//! The result for other tools, one file a format.

mod benchstat;
mod csv;
mod jsonl;
mod junit;
mod kcidb;
mod lkp;
mod mmtests;
mod openmetrics;
mod table;

use super::error::ReportError;
use crate::analyze::CampaignAnalysis;
use crate::store::TrialRecord;

/// What exports are made from.
#[derive(Debug, Clone, Copy)]
pub struct Export<'a> {
    pub analysis: &'a CampaignAnalysis,
    pub records: &'a [TrialRecord],
}

/// A format: its name on the command line, its file, and how it is made.
#[derive(Debug, Clone, Copy)]
pub struct ExportFormat {
    pub name: &'static str,
    pub file: &'static str,
    pub render: fn(&Export<'_>) -> Result<String, ReportError>,
}

/// Every format, in the order of its name.
pub const FORMATS: [ExportFormat; 8] = [
    ExportFormat { name: "benchstat", file: "benchstat.txt", render: benchstat::render },
    ExportFormat { name: "csv", file: "trials.csv", render: csv::render },
    ExportFormat { name: "jsonl", file: "trials.jsonl", render: jsonl::render },
    ExportFormat { name: "junit", file: "junit.xml", render: junit::render },
    ExportFormat { name: "kcidb", file: "kcidb.json", render: kcidb::render },
    ExportFormat { name: "lkp", file: "lkp.txt", render: lkp::render },
    ExportFormat { name: "mmtests", file: "mmtests.txt", render: mmtests::render },
    ExportFormat { name: "openmetrics", file: "metrics.prom", render: openmetrics::render },
];

#[cfg(test)]
mod tests;
