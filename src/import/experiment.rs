//! One claim of a mail as an experiment: its workload, limits, swap, arms and
//! question, with what had to be assumed.

use std::path::Path;

use crate::config::workload::WorkloadSection;
use crate::config::{
    self, AnalysisSection, ClaimSource, ConfigError, Experiment, Limit, MemcgSection, Role, SwapSection,
    Workload as Ours,
};
use crate::patch::{self, ArithmeticVerdict, Claim, Document, Setting, SwapKind, Workload};
use crate::units::{Bytes, Percent};

use super::arms::{self, TreeRequest};
use super::error::ImportError;
use super::metric::{ImportedMetric, imported_metric};
use super::workload::{self, Translated};
use super::{noise, render};

/// What to import.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// The claim's id; the first that can be run when absent.
    pub claim: Option<String>,
    /// A kernel tree and the patches of the mail, for arms that are built.
    pub tree: Option<TreeRequest>,
}

/// An experiment made from a mail.
#[derive(Debug, Clone)]
pub struct Imported {
    pub experiment: Experiment,
    /// The experiment as commented TOML.
    pub text: String,
    /// Id of the claim it reproduces.
    pub claim: String,
    /// What the mail does not say, one sentence each.
    pub assumed: Vec<String>,
    /// Options of the mail's commands that are not carried over.
    pub unsupported: Vec<String>,
}

/// Makes an experiment from a claim.
pub fn import(document: &Document, request: &ImportRequest) -> Result<Imported, ImportError> {
    let claim = choose(document, request)?;
    let prepared = prepare(document, claim).map_err(|reason| refusal(document, claim, request, reason))?;
    let Prepared { setting, translated, metric } = prepared;
    let mut assumed = translated.assumed;
    let arithmetic = patch::check_arithmetic(claim);
    let claimed = arithmetic.claimed_raw.filter(|c| c.is_finite() && *c > -90.0 && *c < 1000.0);
    let (target, baseline, candidate) = arms::arms(document, claim, setting, request, &mut assumed);
    let experiment = Experiment {
        schema: config::SCHEMA,
        title: title(document, claim),
        claim: claimed.map(|c| Percent(round(c, 4))),
        claim_source: Some(source(document, claim, setting, &metric)),
        memcg: memcg(setting, &mut assumed),
        swap: swap(setting, &mut assumed),
        environment: Default::default(),
        workload: section(translated.workload),
        arms: vec![baseline, candidate],
        schedule: Default::default(),
        sample: Default::default(),
        analysis: AnalysisSection {
            primary: metric.id,
            also_primary: Vec::new(),
            margin: margin(claimed),
            stop: config::StopRule::GroupSequential,
            alpha: 0.05,
            effect: claimed.filter(|c| *c != 0.0).map(|c| Percent(round(c, 4))),
        },
        target,
        fleet: None,
    };
    remarks(claim, &arithmetic, &mut assumed);
    let unsupported: Vec<String> = setting.commands.iter().flat_map(|c| c.unsupported.clone()).collect();
    // A mail may name numbers that TOML has not.
    let table = toml::Table::try_from(&experiment)
        .map_err(|error| ImportError::Invalid { id: claim.id.clone(), problems: error.to_string() })?;
    let text = render::commented(&table, claim, &assumed, &unsupported);
    accept(&text, claim)?;
    Ok(Imported { experiment, text, claim: claim.id.clone(), assumed, unsupported })
}

/// Why the claim cannot be run; where none was asked for, no other can either.
fn refusal(document: &Document, claim: &Claim, request: &ImportRequest, reason: String) -> ImportError {
    let (id, metric) = (claim.id.clone(), claim.metric.name.clone());
    if request.claim.is_some() || document.claims.len() == 1 {
        return ImportError::NotRunnable { id, metric, reason };
    }
    let mut reasons: Vec<String> = Vec::new();
    for other in document.claims.iter().take(200) {
        let Err(reason) = prepare(document, other) else { continue };
        if !reasons.contains(&reason) && reasons.len() < 4 {
            reasons.push(reason);
        }
    }
    ImportError::NoneRunnable { claims: document.claims.len(), reasons: reasons.join("; ") }
}

/// The text must read back as a valid experiment, whatever the mail held.
fn accept(text: &str, claim: &Claim) -> Result<(), ImportError> {
    let problems = match config::parse(Path::new("imported.toml"), text) {
        Ok(_) => return Ok(()),
        Err(ConfigError::Invalid { problems, .. }) => {
            problems.iter().map(|p| format!("{}: {}", p.key, p.message)).collect::<Vec<_>>().join("; ")
        }
        Err(error) => error.to_string(),
    };
    Err(ImportError::Invalid { id: claim.id.clone(), problems })
}

struct Prepared<'a> {
    setting: &'a Setting,
    translated: Translated,
    metric: ImportedMetric,
}

fn prepare<'a>(document: &'a Document, claim: &Claim) -> Result<Prepared<'a>, String> {
    let setting = claim.setting.and_then(|s| document.settings.get(s));
    let setting = setting.ok_or("the mail does not say what was run")?;
    let workloads: Vec<&Workload> = setting.commands.iter().map(|c| &c.workload).collect();
    let translated = workload::translate(&workloads)?;
    let metric = imported_metric(claim, &workloads)
        .filter(|metric| translated.workload.metrics().iter().any(|d| d.id == metric.id))
        .ok_or_else(|| format!("{} does not report this metric", translated.workload.name()))?;
    Ok(Prepared { setting, translated, metric })
}

/// The asked claim, or the first that can be run: the one a headline names, the
/// author's own, with values and a change.
fn choose<'a>(document: &'a Document, request: &ImportRequest) -> Result<&'a Claim, ImportError> {
    if let Some(id) = &request.claim {
        return document.claims.iter().find(|c| c.id == *id).ok_or_else(|| ImportError::UnknownClaim {
            id: id.clone(),
            known: document.claims.iter().take(20).map(|c| c.id.as_str()).collect::<Vec<_>>().join(", "),
        });
    }
    let first = document.claims.first().ok_or(ImportError::NoClaims)?;
    let runnable = document.claims.iter().filter(|c| prepare(document, c).is_ok());
    let rank = |c: &&Claim| {
        let named = c.format == patch::Format::Lkp && c.wording.is_some();
        (c.before.is_none(), !named, c.quoted, patch::check_arithmetic(c).claimed_raw.is_none())
    };
    Ok(runnable.min_by_key(rank).unwrap_or(first))
}

fn title(document: &Document, claim: &Claim) -> String {
    let subject = document.mails.get(claim.message).map_or("", |m| m.subject.title.as_str());
    let plain: String = subject.chars().filter(|c| !c.is_control()).take(150).collect();
    let plain = if plain.trim().is_empty() { "a claim from a mail".to_owned() } else { plain };
    plain.trim().to_owned()
}

fn source(document: &Document, claim: &Claim, setting: &Setting, metric: &ImportedMetric) -> ClaimSource {
    let plain = |text: &String| text.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
    let value = |side: &Option<patch::Measured>| side.as_ref().map(|m| m.value.value * metric.factor);
    let stated = document.stated_base(claim.message);
    let programs: Vec<&str> = setting.commands.iter().map(|c| c.workload.name()).collect();
    ClaimSource {
        mail: document.mails.get(claim.message).map(|m| plain(&m.headers.subject)).filter(|s| !s.is_empty()),
        metric: None,
        before: value(&claim.before),
        after: value(&claim.after),
        runs: claim.runs.as_ref().map(|r| r.count),
        machine: setting.machine.as_ref().map(plain),
        kernel: setting.kernel_base.as_ref().map(plain).or_else(|| stated.map(|base| base.commit.to_owned())),
        swap: setting.swap.as_ref().and_then(|s| s.kind).map(|kind| swap_name(kind).to_owned()),
        driver: programs.last().map(|p| (*p).to_owned()),
    }
}

fn swap_name(kind: SwapKind) -> &'static str {
    match kind {
        SwapKind::Ramdisk => "ramdisk",
        SwapKind::Zram => "zram",
        SwapKind::Zswap => "zswap",
        SwapKind::Pmem => "pmem",
        SwapKind::Loop => "loop",
        SwapKind::Disk => "disk",
        SwapKind::File => "file",
    }
}

fn memcg(setting: &Setting, assumed: &mut Vec<String>) -> Option<MemcgSection> {
    let limit = setting.memcg_limit?;
    assumed.push(
        "whether the load generator was in the memcg too is not stated; only the server is confined"
            .to_owned(),
    );
    Some(MemcgSection {
        limit: Limit::Bytes(limit),
        swap_limit: Limit::Max,
        swappiness: None,
        confine: vec![Role::Server],
    })
}

fn swap(setting: &Setting, assumed: &mut Vec<String>) -> Option<SwapSection> {
    let stated = setting.swap.as_ref();
    let limit = setting.memcg_limit;
    let kind = match stated.and_then(|s| s.kind) {
        Some(SwapKind::Zram) => config::SwapKind::Zram,
        Some(SwapKind::Loop) => config::SwapKind::Loop,
        Some(SwapKind::Ramdisk) => config::SwapKind::Ramdisk,
        Some(other) => {
            assumed.push(format!(
                "the author's swap was {}; a ramdisk stands in for it, which is another path",
                swap_name(other)
            ));
            config::SwapKind::Ramdisk
        }
        None => {
            limit?;
            assumed.push("the kind of swap is not stated; a ramdisk is taken".to_owned());
            config::SwapKind::Ramdisk
        }
    };
    let size = stated.and_then(|s| s.size).unwrap_or_else(|| {
        let size = Bytes(limit.unwrap_or(Bytes::gib(4)).0.saturating_mul(4));
        assumed.push(format!("the size of swap is not stated; {size}, four times the limit, is taken"));
        size
    });
    Some(SwapSection { kind, size, algorithm: None })
}

fn section(workload: Ours) -> WorkloadSection {
    let mut section = WorkloadSection::default();
    match workload {
        Ours::Memcached(w) => section.memcached = Some(w),
        Ours::Fio(w) => section.fio = Some(w),
        Ours::Netperf(w) => section.netperf = Some(w),
        Ours::WillItScale(w) => section.will_it_scale = Some(w),
        Ours::Command(w) => section.command = Some(w),
        Ours::Usemem(w) => section.usemem = Some(w),
        Ours::ReclaimProbe(w) => section.reclaim_probe = Some(w),
        Ours::FileRead(w) => section.file_read = Some(w),
    }
    section
}

/// Half of what is claimed, within reason: a claim of 2% is not settled by a margin of 2%.
fn margin(claimed: Option<f64>) -> Percent {
    let half = claimed.map_or(1.0, |c| c.abs() / 2.0);
    Percent(if half < 0.25 { 1.0 } else { round(half.min(1.0), 2) })
}

fn round(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

fn remarks(claim: &Claim, arithmetic: &patch::Arithmetic, assumed: &mut Vec<String>) {
    if let (ArithmeticVerdict::Mismatch, Some(recomputed)) = (arithmetic.verdict, arithmetic.recomputed) {
        assumed.push(format!("the printed values give {recomputed:+.2}%, not what is printed beside them; the claim below is the printed one"));
    }
    if claim.is_ambiguous() {
        assumed.push("the claim can be read in more than one way; the first reading is taken".to_owned());
    }
    if let noise::NoiseCheck::Checked(found) = noise::check_noise(claim, arithmetic.claimed_raw)
        && let Some(needed) = found.runs_needed
    {
        assumed.push(format!(
            "with the author's noise, 90% power at the claimed size takes {needed} unpaired runs a side"
        ));
    }
}

#[cfg(test)]
#[path = "experiment_tests.rs"]
mod tests;
