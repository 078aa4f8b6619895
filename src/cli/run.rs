//! `run-bench run`: a campaign from its experiment to its verdict.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::arguments::RunArguments;
use super::compare::gate;
use super::drivers;
use super::exit::Exit;
use super::plan::fitted_plan;
use super::signals::cancel_on_signal;
use super::term::TerminalProgress;
use crate::analyze::{self, PlannedLooks};
use crate::campaign::{Campaign, CampaignError, CampaignSummary};
use crate::config::{ConfigError, Plan};
use crate::exec::Tools;
use crate::host::SysRoot;
use crate::host::facts::{HostFacts, Reclaimer, reclaimers};
use crate::input;
use crate::report;
use crate::store::{
    CampaignFolder, HandOver, Manifest, SCHEMA, StopReason, ToolVersion, Version, write_atomically,
};
use crate::target::kernel::KernelPlaces;
use crate::target::{HostLock, TargetRequest, Targets};
use crate::trial::{kernel_identity, stable_host_name};
use crate::units::hex;

pub fn main(arguments: &RunArguments) -> anyhow::Result<Exit> {
    if super::fleet::is_meant(arguments)? {
        return super::fleet::run(arguments);
    }
    if !crate::host::stay_in_memory() {
        tracing::debug!("this process may be swapped out: its pages could not be locked");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let Opened { folder, lock: _lock, plan, manifest } = runtime.block_on(open(arguments))?;
    let _hand_over = HandOver::at_end(folder.path());
    let _host = HostLock::take(&folder.path().display().to_string())?;
    look_for_reclaimers(&plan)?;
    eprintln!("campaign {}", folder.path().display());
    super::predict::before_first_trial(&folder, &plan, &arguments.results);
    let summary = runtime.block_on(run(&folder, plan, manifest))?;
    conclude(&folder, &summary, arguments)
}

/// A campaign that is ours alone; its folder is locked before it is read or written.
struct Opened {
    folder: CampaignFolder,
    lock: File,
    plan: Plan,
    manifest: Manifest,
}

/// A new campaign's folder, or an existing one to resume.
async fn open(arguments: &RunArguments) -> anyhow::Result<Opened> {
    let given = &arguments.experiment;
    if given.is_dir() {
        let folder = CampaignFolder::open(given)?;
        let lock = folder.lock()?;
        let (mut plan, manifest) = (folder.plan()?, folder.manifest()?);
        set_budget(&mut plan, arguments);
        return Ok(Opened { folder, lock, plan, manifest });
    }
    let text =
        input::read(given, input::SECTIONS).with_context(|| format!("cannot read {}", given.display()))?;
    let (mut plan, sums) = fitted_plan(given, &arguments.fit)?;
    if !sums.problems.is_empty() {
        return Err(ConfigError::Invalid { path: given.clone(), problems: sums.problems }.into());
    }
    set_budget(&mut plan, arguments);
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => default_name(given),
    };
    let hash = hex(&Sha256::digest(&text));
    let folder = CampaignFolder::create(&arguments.results, &name)?;
    let lock = folder.lock()?;
    if folder.has_manifest() {
        let manifest = folder.manifest()?;
        if manifest.experiment_hash != hash {
            return Err(CampaignError::OtherExperiment {
                campaign: name,
                recorded: manifest.experiment_hash,
                given: hash,
            }
            .into());
        }
        // As it was planned at the start: scale and drivers are settled.
        let mut plan = folder.plan()?;
        set_budget(&mut plan, arguments);
        return Ok(Opened { folder, lock, plan, manifest });
    }
    write_atomically(&folder.experiment_path(), &text)?;
    let manifest = new_manifest(name, &plan, hash, &arguments.results).await;
    drivers::write_into(&mut plan, &manifest);
    folder.write_plan(&plan)?;
    folder.write_manifest(&manifest)?;
    Ok(Opened { folder, lock, plan, manifest })
}

/// Says which reclaimers that are not ours take pages here; refuses them when told to.
fn look_for_reclaimers(plan: &Plan) -> Result<(), CampaignError> {
    // Those of now: a campaign may be resumed long after its manifest was written.
    for Reclaimer { seen, remedy, .. } in reclaimers(&SysRoot::host()).0 {
        if plan.experiment.environment.refuse_reclaimers {
            return Err(CampaignError::Reclaimer { seen, remedy });
        }
        eprintln!("run-bench: {seen}; it may take pages in every arm alike, and is recorded ({remedy})");
    }
    Ok(())
}

fn set_budget(plan: &mut Plan, arguments: &RunArguments) {
    if let Some(budget) = arguments.budget {
        plan.experiment.schedule.budget = Some(budget);
    }
}

/// The experiment's name and the time, as in `quick-20260131-101500`.
pub(super) fn default_name(experiment: &Path) -> String {
    let stem = experiment.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let stem: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    format!("{}-{}", stem.trim_start_matches(['-', '_']), Timestamp::now().strftime("%Y%m%d-%H%M%S"))
}

pub(super) async fn new_manifest(
    campaign: String,
    plan: &Plan,
    experiment_hash: String,
    results: &Path,
) -> Manifest {
    let (root, found) = (SysRoot::host(), Tools::from_environment());
    let probed = found.probe_all().await;
    let tools = probed
        .into_iter()
        .filter_map(|(name, tool)| {
            let tool = tool.ok()?;
            let version = tool.version.map_or_else(|| "unknown".to_owned(), |v| v.text);
            let path = tool.path.display().to_string();
            Some((name.program().to_owned(), ToolVersion { path, version }))
        })
        .collect();
    Manifest {
        schema: SCHEMA,
        run_bench: Version::current(),
        campaign,
        created: Timestamp::now(),
        title: plan.experiment.title.clone(),
        experiment_hash,
        seed: plan.schedule().seed,
        host: stable_host_name(&root),
        facts: Some(HostFacts::gather(&root, results)),
        kernel: kernel_identity(&root),
        tools,
        drivers: drivers::settled(plan, &found).await,
    }
}

async fn run(folder: &CampaignFolder, plan: Plan, manifest: Manifest) -> anyhow::Result<CampaignSummary> {
    let cancel = cancel_on_signal().context("cannot listen to signals")?;
    let here = stable_host_name(&SysRoot::host());
    if manifest.host != here {
        let campaign = manifest.campaign;
        return Err(CampaignError::OtherHost { campaign, recorded: manifest.host, given: here }.into());
    }
    let boot_id = kernel_identity(&SysRoot::host()).boot_id;
    let request = TargetRequest {
        plan: &plan,
        places: &KernelPlaces::of_host(None)?,
        executable: std::env::current_exe().context("cannot find the path of the running program")?,
        host: here,
    };
    let step = |arm: &str, step: &_| eprintln!("kernel of {arm}: {step}");
    let targets = Targets::prepare(&request, step, &cancel).await?;
    for confounder in targets.confounders() {
        eprintln!("run-bench: {confounder}");
    }
    let mut campaign = Campaign::open(folder.clone(), manifest, plan, boot_id)?;
    let summary = campaign.run(&targets, &PlannedLooks, &cancel, &mut TerminalProgress::new()).await;
    targets.end_campaign()?;
    Ok(summary?)
}

/// The verdict, the pages, the exit code.
pub(super) fn conclude(
    folder: &CampaignFolder,
    summary: &CampaignSummary,
    arguments: &RunArguments,
) -> anyhow::Result<Exit> {
    let too_many = summary.reason == StopReason::TooManyInvalid;
    if let (true, Some(trouble)) = (too_many, &summary.last_trouble) {
        eprintln!("run-bench: too many trials were not valid; the last one: {trouble}");
    }
    let analysis = match analyze::analyze(folder) {
        Ok(analysis) => analysis,
        Err(_) if too_many => return Ok(Exit::InvalidRun),
        Err(error) if summary.reason == StopReason::Interrupted => {
            eprintln!("run-bench: {error}");
            return Ok(Exit::InvalidRun);
        }
        Err(error) => return Err(error.into()),
    };
    say!("{}", report::terminal(&analysis));
    let written: Vec<PathBuf> = report::write_all(&analysis, folder)?;
    say!("{}", report::places(&written));
    Ok(if too_many { Exit::InvalidRun } else { gate(&analysis, &arguments.gate) })
}
