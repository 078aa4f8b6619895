//! A report for KernelCI's common database, schema 5.3.
//!
//! The file only: this program holds no token and sends nothing.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Export;
use super::csv::unit;
use crate::analyze::{CampaignAnalysis, Comparison, Verdict};
use crate::report::error::ReportError;
use crate::report::words;
use crate::units::hex;

/// Who submits; a lab replaces it by the name it was given.
const ORIGIN: &str = "run_bench";

#[derive(Serialize)]
struct Report {
    version: Version,
    checkouts: Vec<Checkout>,
    builds: Vec<Build>,
    tests: Vec<Test>,
}

#[derive(Serialize)]
struct Version {
    major: u32,
    minor: u32,
}

#[derive(Serialize)]
struct Checkout {
    id: String,
    origin: &'static str,
    comment: String,
}

#[derive(Serialize)]
struct Build {
    id: String,
    checkout_id: String,
    origin: &'static str,
    comment: String,
}

#[derive(Serialize)]
struct Test {
    id: String,
    build_id: String,
    origin: &'static str,
    path: String,
    comment: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<Number>,
    start_time: String,
    environment: Environment,
    misc: Misc,
}

#[derive(Serialize)]
struct Number {
    value: f64,
    unit: &'static str,
    prefix: &'static str,
}

#[derive(Serialize)]
struct Environment {
    comment: String,
}

/// What has no field of its own.
#[derive(Serialize)]
struct Misc {
    baseline: Option<f64>,
    change_percent: Option<f64>,
    change_low_percent: Option<f64>,
    change_high_percent: Option<f64>,
    blocks: usize,
    p: Option<f64>,
    verdict: String,
}

pub(super) fn render(export: &Export<'_>) -> Result<String, ReportError> {
    let analysis = export.analysis;
    let arms: Vec<&str> = analysis.arms.iter().map(|a| a.name.as_str()).collect();
    let report = Report {
        version: Version { major: 5, minor: 3 },
        checkouts: arms.iter().map(|arm| checkout(analysis, arm)).collect(),
        builds: arms.iter().map(|arm| build(analysis, arm)).collect(),
        tests: analysis.deciding().map(|c| test(analysis, c)).collect(),
    };
    let mut text = serde_json::to_string_pretty(&report).map_err(ReportError::Json)?;
    text.push('\n');
    Ok(text)
}

/// Unique for this campaign: its name, its host and its start.
fn id(analysis: &CampaignAnalysis, rest: &str) -> String {
    let manifest = &analysis.manifest;
    let mut digest = Sha256::new();
    digest.update(format!("{}\n{}\n{}", manifest.host, manifest.created, manifest.experiment_hash));
    let hash = hex(&digest.finalize()[..6]);
    format!("{ORIGIN}:{}-{hash}-{rest}", analysis.campaign)
}

fn checkout(analysis: &CampaignAnalysis, arm: &str) -> Checkout {
    let line = analysis.arms.iter().find(|a| a.name == arm);
    let settings = line.map_or(String::new(), |l| l.settings.join(", "));
    let kernel = &analysis.manifest.kernel.release;
    Checkout {
        id: id(analysis, arm),
        origin: ORIGIN,
        comment: if settings.is_empty() {
            format!("Linux {kernel}")
        } else {
            format!("Linux {kernel}, {settings}")
        },
    }
}

fn build(analysis: &CampaignAnalysis, arm: &str) -> Build {
    let kernel = &analysis.manifest.kernel;
    Build {
        id: id(analysis, arm),
        checkout_id: id(analysis, arm),
        origin: ORIGIN,
        comment: kernel
            .build_id
            .as_ref()
            .map_or(kernel.release.clone(), |b| format!("{} build {b}", kernel.release)),
    }
}

fn test(analysis: &CampaignAnalysis, comparison: &Comparison) -> Test {
    let (workload, arm) = (&comparison.workload, &comparison.candidate.arm);
    let metric = comparison.metric.id.as_str();
    let raw = words::raw(comparison);
    let mean = |summary: Option<&crate::stats::Summary>| summary.map(|s| s.mean);
    Test {
        id: id(analysis, &format!("{arm}-{workload}-{metric}")),
        build_id: id(analysis, arm),
        origin: ORIGIN,
        path: metric.to_owned(),
        comment: words::headline(comparison),
        status: match comparison.verdict {
            Verdict::Better | Verdict::Equivalent => "PASS",
            Verdict::Worse => "FAIL",
            Verdict::Unresolved => "DONE",
            Verdict::Invalid => "ERROR",
        },
        number: mean(comparison.candidate.summary.as_ref()).map(|value| Number {
            value,
            unit: unit(comparison.metric.unit),
            prefix: if unit(comparison.metric.unit).starts_with('B') { "binary" } else { "metric" },
        }),
        start_time: analysis.manifest.created.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string(),
        environment: Environment { comment: analysis.manifest.host.clone() },
        misc: Misc {
            baseline: mean(comparison.baseline.summary.as_ref()),
            change_percent: raw.map(|r| r.0.0),
            change_low_percent: raw.and_then(|r| r.1).map(|i| i.0.0),
            change_high_percent: raw.and_then(|r| r.1).map(|i| i.1.0),
            blocks: comparison.blocks.len(),
            p: comparison.adjusted_p,
            verdict: comparison.verdict.to_string(),
        },
    }
}
