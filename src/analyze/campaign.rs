//! All comparisons of a campaign.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::claim::{self, ClaimCheck};
use super::comparison::{Comparison, Question};
use super::counters::{self, CounterComparison};
use super::difference::{self, ArmDifference};
use super::error::AnalyzeError;
use super::family;
use super::fleet::{self, FleetAnalysis};
use super::forecast::{self, ForecastCheck};
use super::noise::{self, NoiseNote};
use super::variance::{self, VarianceByLevel};
use super::verdict::Verdict;
use crate::campaign::History;
use crate::config::{AnalysisSection, ArmRole, ClaimSource, Plan};
use crate::fleet::provenance;
use crate::metric::MetricDefinition;
use crate::stats::multiplicity::benjamini_hochberg;
use crate::store::{CampaignFolder, CampaignJournal, Manifest, StopReason, TrialOutcome, TrialRecord};

/// The newest analysis schema.
const SCHEMA: u32 = 1;

/// One arm, and what sets it apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmLine {
    pub name: String,
    pub role: ArmRole,
    /// What it changes against the experiment's common settings; empty for none.
    pub settings: Vec<String>,
}

/// A trial that does not count, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvalidTrial {
    pub trial: String,
    pub status: String,
    pub reasons: Vec<String>,
}

/// Everything that reports are made from. The same records give the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignAnalysis {
    pub schema: u32,
    pub campaign: String,
    pub title: String,
    pub manifest: Manifest,
    pub arms: Vec<ArmLine>,
    /// What scaling changed of the experiment as written.
    pub changes: Vec<String>,
    /// Trials by how they ended.
    pub trials: BTreeMap<String, usize>,
    pub discarded: usize,
    pub stop: Option<StopReason>,
    /// The question as it was asked: metric, margin, error rate, stopping rule.
    pub question: AnalysisSection,
    /// Primary comparisons first, then the exploratory ones.
    pub comparisons: Vec<Comparison>,
    pub claim: Option<ClaimCheck>,
    pub claim_source: Option<ClaimSource>,
    /// What the model said before the first trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<ForecastCheck>,
    /// Host by host, where the campaign ran on a fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetAnalysis>,
    /// Kernel counters of the measured phase; exploratory.
    pub counters: Vec<CounterComparison>,
    pub variance: Vec<VarianceByLevel>,
    /// Facts that were not the same in all arms.
    pub differences: Vec<ArmDifference>,
    pub noise: Vec<NoiseNote>,
    pub not_counted: Vec<InvalidTrial>,
    /// Why no statement about time may rest on these records.
    pub functional_only: Option<String>,
}

impl CampaignAnalysis {
    /// The comparisons that decide: primary metrics of candidates.
    pub fn deciding(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|c| c.primary && c.role == ArmRole::Candidate)
    }
}

/// Recomputes everything from a campaign's folder.
pub fn analyze(folder: &CampaignFolder) -> Result<CampaignAnalysis, AnalyzeError> {
    let (manifest, plan, records) = (folder.manifest()?, folder.plan()?, folder.records()?);
    let history = History::new(&CampaignJournal::read(&folder.journal_path())?);
    let origins = provenance(folder)?;
    refuse_mixtures(&records, origins.is_some())?;
    let not_counted = not_counted(&records);
    if !records.iter().any(TrialRecord::counts) {
        return Err(nothing_valid(&records, &not_counted));
    }
    let mut comparisons = primary_comparisons(&plan, &records, manifest.seed);
    comparisons.extend(exploratory_comparisons(&plan, &records, manifest.seed));
    let fleet = origins.map(|o| fleet::pool(&plan, &o, &records, (&mut comparisons, manifest.seed)));
    for i in 0..comparisons.len() {
        if comparisons[i].role == ArmRole::Candidate {
            comparisons[i].layout_spread = noise::layout_spread(&comparisons[i], &comparisons);
            if let Some((moved, reason)) = noise::equal_arms_moved_as_far(&comparisons[i], &comparisons) {
                let comparison = &mut comparisons[i];
                comparison.equal_arms_moved = Some(moved);
                (comparison.verdict, comparison.reason) = (Verdict::Unresolved, reason);
            }
        }
    }
    let differences = difference::between_arms(&plan, &records);
    let mut notes = noise::notes(&plan, &records, &comparisons, &differences);
    notes.extend(fleet.iter().flat_map(FleetAnalysis::notes));
    Ok(CampaignAnalysis {
        schema: SCHEMA,
        campaign: manifest.campaign.clone(),
        title: plan.experiment.title.clone(),
        arms: plan.arms.iter().map(arm_line).collect(),
        changes: plan.changes.clone(),
        trials: count_trials(&records),
        discarded: records.iter().filter(|r| r.spec.discarded).count(),
        stop: history.stopped(),
        claim: claim::check(&plan, &manifest, &records, &comparisons),
        claim_source: plan.experiment.claim_source.clone(),
        forecast: forecast::check(folder, &records, &comparisons)?,
        counters: counters::compare(&plan, &records),
        variance: variance::by_level(&plan, &records),
        noise: notes,
        fleet,
        differences,
        question: plan.analysis().clone(),
        not_counted,
        functional_only: records.iter().find_map(|r| r.functional_only.clone()),
        comparisons,
        manifest,
    })
}

fn arm_line(arm: &crate::config::PlanArm) -> ArmLine {
    let mut settings = Vec::new();
    if arm.section.kernel != "running" {
        settings.push(format!("kernel {}", arm.section.kernel));
    }
    settings.extend(arm.section.patches.iter().map(|p| format!("patch {}", p.display())));
    if let Some(change) = &arm.section.memcg {
        settings.extend(change.limit.map(|l| format!("memcg limit {l}")));
        settings.extend(change.swap_limit.map(|l| format!("swap limit {l}")));
        settings.extend(change.swappiness.map(|s| format!("swappiness {s}")));
    }
    settings.extend(arm.section.knobs.iter().map(|(name, value)| format!("{name} = {value}")));
    ArmLine { name: arm.name.clone(), role: arm.role, settings }
}

fn count_trials(records: &[TrialRecord]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in records.iter().filter(|r| !r.spec.discarded) {
        *counts.entry(status(&record.outcome).to_owned()).or_insert(0) += 1;
    }
    counts
}

fn status(outcome: &TrialOutcome) -> &'static str {
    match outcome {
        TrialOutcome::Valid => "valid",
        TrialOutcome::Invalid { .. } => "invalid",
        TrialOutcome::Failed { .. } => "failed",
        TrialOutcome::Unsupported { .. } => "unsupported",
        TrialOutcome::Interrupted => "interrupted",
    }
}

fn not_counted(records: &[TrialRecord]) -> Vec<InvalidTrial> {
    let reasons = |outcome: &TrialOutcome| match outcome {
        TrialOutcome::Invalid { violations } => {
            violations.iter().map(|v| format!("{}: {} [{}]", v.rule, v.message, v.evidence)).collect()
        }
        TrialOutcome::Failed { stage, message } => vec![format!("{stage}: {message}")],
        TrialOutcome::Unsupported { reason } => vec![reason.clone()],
        TrialOutcome::Valid | TrialOutcome::Interrupted => Vec::new(),
    };
    records
        .iter()
        .filter(|r| r.outcome != TrialOutcome::Valid && !r.spec.discarded)
        .map(|r| InvalidTrial {
            trial: r.spec.id.to_string(),
            status: status(&r.outcome).to_owned(),
            reasons: reasons(&r.outcome),
        })
        .collect()
}

fn nothing_valid(records: &[TrialRecord], not_counted: &[InvalidTrial]) -> AnalyzeError {
    let count = |name: &str| count_trials(records).get(name).copied().unwrap_or(0);
    let reason = not_counted
        .iter()
        .find_map(|t| t.reasons.first().map(|r| format!("{}: {r}", t.trial)))
        .unwrap_or_else(|| "no trial has run to its end".to_owned());
    AnalyzeError::NothingValid { invalid: count("invalid"), failed: count("failed"), reason }
}

/// Drivers, swap kinds and value bytes are different experiments, and so are
/// hosts, but for fleets, which compare within each.
fn refuse_mixtures(records: &[TrialRecord], hosts_may_differ: bool) -> Result<(), AnalyzeError> {
    type Read = fn(&TrialRecord) -> Option<String>;
    let readers: [(&'static str, Read); 4] = [
        ("host", |r| Some(r.host.clone())),
        ("driver", |r| r.driver.as_ref().map(|d| format!("{} {}", d.name, d.version))),
        ("swap kind", |r| r.swap.as_ref().map(|s| s.kind.clone())),
        ("value bytes", |r| r.swap.as_ref().and_then(|s| s.value_bytes.clone())),
    ];
    for (what, read) in readers.into_iter().skip(usize::from(hosts_may_differ)) {
        // Versions of a driver may differ from host to host: that is told, not refused.
        let by_host = hosts_may_differ && what == "driver";
        let mut by_workload: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for record in records.iter().filter(|r| r.counts()) {
            let host = if by_host { record.host.as_str() } else { "" };
            by_workload.entry((&record.spec.id.workload, host)).or_default().extend(read(record));
        }
        if let Some(values) = by_workload.into_values().find(|v| v.len() > 1) {
            let values = values.into_iter().collect::<Vec<_>>().join(", ");
            return Err(AnalyzeError::Mixed { what, values });
        }
    }
    Ok(())
}

/// Primary metrics of every arm against the baseline; candidates are
/// corrected together, controls and placebos stand for themselves.
pub(super) fn primary_comparisons(plan: &Plan, records: &[TrialRecord], seed: u64) -> Vec<Comparison> {
    let mut all = Vec::new();
    for workload in &plan.workloads {
        let known = workload.workload.metrics();
        for id in &workload.primary {
            let metric =
                known.iter().find(|d| d.id == *id).expect("validation checked that the workload reports it");
            all.extend(arms_against_baseline(plan, records, workload.workload.name(), metric, (true, seed)));
        }
    }
    family::correct(&mut all, plan.analysis());
    all
}

/// Every other metric that candidates reported, corrected by Benjamini-Hochberg.
fn exploratory_comparisons(plan: &Plan, records: &[TrialRecord], seed: u64) -> Vec<Comparison> {
    let mut all = Vec::new();
    for workload in &plan.workloads {
        let name = workload.workload.name();
        let mut seen: BTreeMap<String, MetricDefinition> = BTreeMap::new();
        for record in records.iter().filter(|r| r.counts() && r.spec.id.workload == name) {
            for measurement in &record.measurements {
                let metric = &measurement.metric;
                if !workload.primary.contains(&metric.id) {
                    seen.entry(metric.id.to_string()).or_insert_with(|| metric.clone());
                }
            }
        }
        for metric in seen.values() {
            let arms = arms_against_baseline(plan, records, name, metric, (false, seed));
            all.extend(arms.into_iter().filter(|c| c.role == ArmRole::Candidate));
        }
    }
    let p: Vec<f64> = all.iter().filter_map(|c| c.result.as_ref().map(|r| r.p)).collect();
    let mut adjusted = benjamini_hochberg(&p).unwrap_or_default().into_iter();
    for comparison in &mut all {
        let p = if comparison.result.is_some() { adjusted.next() } else { None };
        comparison.decide(p, plan.analysis());
    }
    all
}

fn arms_against_baseline(
    plan: &Plan,
    records: &[TrialRecord],
    workload: &str,
    metric: &MetricDefinition,
    (primary, seed): (bool, u64),
) -> Vec<Comparison> {
    plan.arms[1..]
        .iter()
        .map(|arm| {
            let question = Question {
                workload,
                metric,
                baseline: &plan.baseline().name,
                candidate: &arm.name,
                role: arm.role,
                primary,
                seed,
            };
            Comparison::new(records, question, plan.analysis())
        })
        .collect()
}

#[cfg(test)]
#[path = "campaign_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fault_tests.rs"]
mod fault_tests;
