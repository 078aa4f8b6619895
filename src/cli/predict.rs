//! `run-bench predict`: what the model says of a patch before it is measured.

use std::path::Path;

use anyhow::Context;
use jiff::Timestamp;

use super::arguments::PredictArguments;
use super::exit::Exit;
use super::patch::LARGEST_MAIL;
use crate::analyze::FORECAST_FILE;
use crate::calibrate::{self, CalibrationRequest, Profile};
use crate::config::{self, Plan};
use crate::host::SysRoot;
use crate::input;
use crate::model::flag::Flag;
use crate::patch::{self, Document};
use crate::predict::{self, Case, Effort, Forecast, ForecastRecord, Forecasts, PredictError};
use crate::store::{CampaignFolder, write_atomically, write_json};

/// Patches, nearest ones where a mail's are not known, and workloads.
type MailForecasts = (Vec<Forecast>, Vec<String>);

pub fn main(arguments: &PredictArguments) -> anyhow::Result<Exit> {
    let effort = Effort::full(arguments.seed);
    if let Some(claims) = &arguments.score {
        let score = predict::score(claims, effort)?;
        if arguments.json {
            sayln!("{}", serde_json::to_string_pretty(&score)?);
        } else {
            say!("{}", score.text());
        }
        return Ok(Exit::Good);
    }
    let profile = match &arguments.host {
        Some(name) => Some(predict::load(name)?),
        None => None,
    };
    let (forecasts, none) = match (&arguments.subject, arguments.patch.is_empty()) {
        (_, false) => (vec![of_patch(arguments, profile.as_ref(), effort)?], Vec::new()),
        (Some(path), true) if path.extension().is_some_and(|e| e == "toml") => {
            of_experiment(path, profile.as_ref(), effort)?
        }
        (Some(path), true) => of_mail(path, profile.as_ref(), effort)?,
        (None, true) => anyhow::bail!("nothing to predict; name an experiment, a mail or --patch NAME"),
    };
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&forecasts)?);
    } else {
        forecasts.iter().for_each(|forecast| sayln!("{}", predict::describe(forecast)));
        none.iter().for_each(|line| sayln!("{line}"));
    }
    Ok(Exit::Good)
}

/// This host, a few seconds' worth.
pub fn profile_here() -> anyhow::Result<Profile> {
    eprintln!("measuring this host's costs (a few seconds; `calibrate --out` keeps a better profile)");
    Ok(calibrate::calibrate(&SysRoot::host(), &CalibrationRequest::quick(1), &mut |_, _| {})?)
}

/// Stores the forecast of an experiment whose patch is known, before its first
/// trial. A failure is said and costs the run nothing.
pub fn before_first_trial(folder: &CampaignFolder, plan: &Plan, results: &Path) {
    let path = folder.path().join(FORECAST_FILE);
    let begun = folder.trials().is_ok_and(|trials| !trials.is_empty());
    let unknown = predict::patches_of(plan).is_ok_and(|flags| flags.iter().next().is_none());
    if path.exists() || begun || unknown {
        return;
    }
    match store_forecast(folder, plan, results) {
        Ok(forecasts) => {
            for forecast in forecasts.here.iter().chain(&forecasts.there) {
                eprintln!(
                    "forecast: {} on {}: {}",
                    forecast.metric,
                    forecast.machine,
                    predict::change(forecast)
                );
            }
            forecasts.none.iter().for_each(|reason| eprintln!("run-bench: {reason}"));
        }
        Err(error) => eprintln!("run-bench: no forecast is stored with this campaign: {error:#}"),
    }
}

/// With the profile kept beside the results, or a quick one kept with the campaign.
fn store_forecast(folder: &CampaignFolder, plan: &Plan, results: &Path) -> anyhow::Result<Forecasts> {
    let kept = results.join("profile.toml");
    let profile = if kept.is_file() { Profile::load(&kept)? } else { profile_here()? };
    write_atomically(&folder.path().join("profile.toml"), profile.to_toml().as_bytes())?;
    let forecasts = predict::of_plan(plan, &profile, Effort::full(plan.schedule().seed))?;
    let record = ForecastRecord::new(forecasts, &profile, Timestamp::now());
    write_json(&folder.path().join(FORECAST_FILE), &record)?;
    Ok(record.forecasts)
}

fn of_patch(
    arguments: &PredictArguments,
    profile: Option<&Profile>,
    effort: Effort,
) -> anyhow::Result<Forecast> {
    let flags = arguments.patch.iter().map(|name| name.parse::<Flag>()).collect::<Result<Vec<_>, _>>();
    let flags = flags.map_err(PredictError::Flag)?;
    let workload = match &arguments.workload {
        Some(name) => name.as_str(),
        None => predict::KNOWN[flags[0] as usize].workload,
    };
    let profile = match profile {
        Some(profile) => profile.clone(),
        None => profile_here()?,
    };
    let case = Case::named(workload, &profile.machine).ok_or_else(|| PredictError::Workload {
        name: workload.to_owned(),
        known: predict::NAMES.join(", "),
    })?;
    let metric = case.metric;
    let case = match arguments.baseline {
        Some(baseline) => case.anchored(metric, baseline),
        None => case,
    };
    Ok(predict::forecast(&case, flags.into_iter().collect(), &profile, effort)?)
}

fn of_experiment(path: &Path, profile: Option<&Profile>, effort: Effort) -> anyhow::Result<MailForecasts> {
    let plan = Plan::new(config::load(path)?);
    let profile = match profile {
        Some(profile) => profile.clone(),
        None => profile_here()?,
    };
    let found = predict::of_plan(&plan, &profile, effort)?;
    Ok((found.here.into_iter().chain(found.there).collect(), found.none.into_iter().collect()))
}

/// Each patch of a mail by its subject, on the machine that the mail names.
fn of_mail(path: &Path, profile: Option<&Profile>, effort: Effort) -> anyhow::Result<MailForecasts> {
    let bytes = input::read(path, LARGEST_MAIL)
        .with_context(|| format!("cannot read the mail {}", path.display()))?;
    let document = patch::read(&bytes).with_context(|| format!("cannot make sense of {}", path.display()))?;
    if !forecasts_known(&document) {
        return Ok((Vec::new(), vec![format!("no forecast: {}", touches(&document))]));
    }
    let machine = document.settings.iter().find_map(|setting| setting.machine.as_deref());
    let profile = match (profile, machine.and_then(predict::described)) {
        (Some(profile), _) => profile.clone(),
        (None, Some(name)) => predict::load(name)?,
        (None, None) => profile_here()?,
    };
    let mut forecasts = Vec::new();
    for known in titles(&document).iter().filter_map(|title| predict::by_title(title)) {
        let case =
            Case::named(known.workload, &profile.machine).expect("a registry row names a known workload");
        let flags = [known.flag].into_iter().collect();
        let forecast = predict::forecast(&case, flags, &profile, effort)?;
        if !forecasts.contains(&forecast) {
            forecasts.push(forecast);
        }
    }
    Ok((forecasts, Vec::new()))
}

fn forecasts_known(document: &Document) -> bool {
    titles(document).iter().any(|title| predict::by_title(title).is_some())
}

/// Subjects of a mail's patches, of the series around it, and of what it replies to.
fn titles(document: &Document) -> Vec<String> {
    let mut titles: Vec<String> = document.mails.iter().map(|mail| mail.subject.title.clone()).collect();
    titles
        .extend(document.series.iter().flat_map(|series| series.parts.iter().map(|part| part.title.clone())));
    titles.retain(|title| !title.trim().is_empty());
    titles.sort();
    titles.dedup();
    titles
}

/// What an unknown patch changes, and the known patches of the same functions.
fn touches(document: &Document) -> String {
    let diffs = document.mails.iter().map(|mail| &mail.diff);
    let functions: Vec<&str> = diffs.clone().flat_map(|diff| diff.functions()).collect();
    let files: Vec<&str> = diffs.flat_map(|diff| diff.files.iter().map(|file| file.path.as_str())).collect();
    let near: Vec<&str> = predict::nearest(&functions).into_iter().map(Flag::name).collect();
    let what = if functions.is_empty() { files.join(", ") } else { functions.join("; ") };
    let what = if what.is_empty() { "nothing that could be read".to_owned() } else { what };
    if near.is_empty() {
        format!("touches {what}; no known patch changes these functions")
    } else {
        format!("touches {what}; the nearest what-if flags are {}", near.join(", "))
    }
}
