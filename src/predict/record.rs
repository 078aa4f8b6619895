//! Forecasts of an experiment, made before its first trial and kept with it.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::case::Case;
use super::error::PredictError;
use super::forecast::{Forecast, forecast};
use super::hosts;
use super::registry::by_title;
use super::simulate::Effort;
use crate::calibrate::Profile;
use crate::config::{ArmRole, Plan, PlanArm};
use crate::model::flag::{Flag, Flags};
use crate::units::hex;

/// The newest schema of forecast records.
const SCHEMA: u32 = 1;

/// What is forecast of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forecasts {
    /// For this host, at the scale at hand.
    pub here: Option<Forecast>,
    /// For the claim's machine as its author ran it, where a profile is known.
    pub there: Option<Forecast>,
    /// Why there is none.
    pub none: Option<String>,
    /// Both arms run the same kernel: what is measured is no answer to the forecast.
    pub same_kernel: bool,
}

/// Forecasts with the time they were made, and a hash over their text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastRecord {
    pub schema: u32,
    pub made: Timestamp,
    /// SHA-256 of the time and the forecasts as JSON.
    pub hash: String,
    /// SHA-256 of the profile they were priced with.
    pub profile_hash: String,
    pub forecasts: Forecasts,
}

impl ForecastRecord {
    pub fn new(forecasts: Forecasts, profile: &Profile, made: Timestamp) -> Self {
        let profile_hash = digest(profile.to_toml().as_bytes());
        let hash = content_hash(made, &profile_hash, &forecasts);
        ForecastRecord { schema: SCHEMA, made, hash, profile_hash, forecasts }
    }

    /// Whether it is as it was written.
    pub fn is_intact(&self) -> bool {
        self.hash == content_hash(self.made, &self.profile_hash, &self.forecasts)
    }
}

fn content_hash(made: Timestamp, profile: &str, forecasts: &Forecasts) -> String {
    let text = serde_json::to_string(forecasts).expect("numbers and strings serialize");
    digest(format!("{made}\n{profile}\n{text}").as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The patches of an experiment's first candidate: named ones, else those whose
/// files or subjects are known.
pub fn patches_of(plan: &Plan) -> Result<Flags, PredictError> {
    let named: Vec<&String> = candidate(plan).iter().flat_map(|arm| &arm.section.model_flags).collect();
    if !named.is_empty() {
        return named.into_iter().map(|name| Ok(name.parse::<Flag>()?)).collect();
    }
    let files = candidate(plan).into_iter().flat_map(|arm| &arm.section.patches);
    let files: BTreeSet<Flag> = files
        .filter_map(|path| by_title(&path.to_string_lossy().replace(['-', '_'], " ")))
        .map(|patch| patch.flag)
        .collect();
    if !files.is_empty() {
        return Ok(files.into_iter().collect());
    }
    let source = plan.experiment.claim_source.as_ref().and_then(|source| source.mail.clone());
    let title = source.unwrap_or_else(|| plan.experiment.title.clone());
    Ok(by_title(&title).map(|patch| patch.flag).into_iter().collect())
}

fn candidate(plan: &Plan) -> Option<&PlanArm> {
    plan.arms.iter().find(|arm| arm.role == ArmRole::Candidate)
}

/// Forecasts for an experiment on the host of `profile`, and on its claim's machine.
pub fn of_plan(plan: &Plan, profile: &Profile, effort: Effort) -> Result<Forecasts, PredictError> {
    let flags = patches_of(plan)?;
    let same_kernel = candidate(plan).is_none_or(|arm| {
        arm.section.kernel == plan.baseline().section.kernel
            && arm.section.patches == plan.baseline().section.patches
    });
    let mut found = Forecasts { here: None, there: None, none: None, same_kernel };
    if flags == Flags::NONE {
        found.none = Some(format!(
            "no forecast: {:?} is no patch that the model knows; name the nearest with model-flags = [\"…\"] in its arm",
            plan.experiment.title
        ));
        return Ok(found);
    }
    let primary = plan.analysis().primary.as_str().to_owned();
    let chosen = plan.workloads.iter().find(|w| primary.starts_with(w.workload.name()));
    let case_on = |profile: &Profile| {
        let workload = &chosen?.workload;
        Case::of_workload(workload, plan.experiment.memcg.as_ref(), &profile.machine)
    };
    match case_on(profile) {
        Some(case) => found.here = Some(forecast(&case, flags, profile, effort)?),
        None => found.none = Some("no forecast: the model has no stream for this workload".to_owned()),
    }
    found.there = on_claims_machine(plan, flags, effort, &case_on)?;
    Ok(found)
}

/// The claim's own machine, with its stated baseline. Scaled experiments are
/// shrunk alike in the model, so the case is the same.
fn on_claims_machine(
    plan: &Plan,
    flags: Flags,
    effort: Effort,
    case_on: &dyn Fn(&Profile) -> Option<Case>,
) -> Result<Option<Forecast>, PredictError> {
    let Some(source) = &plan.experiment.claim_source else { return Ok(None) };
    let Some(name) = source.machine.as_deref().and_then(hosts::described) else { return Ok(None) };
    let profile = hosts::load(name)?;
    let Some(case) = case_on(&profile) else { return Ok(None) };
    let scaled = !plan.changes.is_empty();
    let named = Case::named(case.name, &profile.machine).filter(|_| scaled);
    let case = named.unwrap_or(case);
    let metric = source.metric.as_ref().map_or(plan.analysis().primary.as_str(), |m| m.as_str());
    let case = match source.before {
        Some(before) => case.anchored(metric, before),
        None => case,
    };
    // A baseline that the prices contradict is no reason for silence.
    match forecast(&case, flags, &profile, effort) {
        Err(PredictError::Contradiction { .. }) => {
            Ok(Some(forecast(&Case { baseline: None, ..case }, flags, &profile, effort)?))
        }
        other => other.map(Some),
    }
}
