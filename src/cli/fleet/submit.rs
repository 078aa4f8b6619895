//! The submitting side: choose hosts, submit, watch, merge, conclude.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::watch::TerminalWatch;
use crate::campaign::{CampaignError, CampaignSummary};
use crate::cli::arguments::{FleetChoice, RunArguments};
use crate::cli::drivers;
use crate::cli::exit::{Exit, UsageError};
use crate::cli::plan::fitted_plan;
use crate::cli::run::{conclude, default_name};
use crate::config::{self, ConfigError, FleetSection, Plan};
use crate::fleet::{FleetEnd, FleetFile, FleetFolder, FleetRun, Slurm, block_time_limit, find_hosts};
use crate::store::{CampaignFolder, Manifest, SCHEMA, StopReason, write_atomically};
use crate::units::hex;

/// How often the batch system is asked.
const POLL: Duration = Duration::from_secs(2);

/// Whether this run is one of a fleet: asked for, written in the experiment, or resumed.
pub fn is_meant(arguments: &RunArguments) -> anyhow::Result<bool> {
    let given = &arguments.experiment;
    let is_fleet = if given.is_dir() {
        FleetFolder::of(&CampaignFolder::unfinished(given)?).is_there()
    } else {
        arguments.fleet.is_some() || config::load(given)?.fleet.is_some()
    };
    match arguments.fleet {
        None => Ok(is_fleet),
        Some(choice) if given.is_dir() && (choice == FleetChoice::Slurm) != is_fleet => {
            let text = "a campaign goes on where it was begun: leave --fleet out to resume it";
            Err(UsageError(text.to_owned()).into())
        }
        Some(choice) => Ok(choice == FleetChoice::Slurm),
    }
}

/// A fleet's campaign from its experiment to its verdict.
pub fn run(arguments: &RunArguments) -> anyhow::Result<Exit> {
    if arguments.budget.is_some() {
        let text = "--budget is for one host; on a fleet write schedule.blocks and fleet.time-limit";
        return Err(UsageError(text.to_owned()).into());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let campaign = open(arguments)?;
    // Tasks have other working folders.
    let path = std::path::absolute(campaign.path())?;
    let campaign = CampaignFolder::unfinished(&path)?;
    let _lock = campaign.lock()?;
    eprintln!("campaign {}", path.display());
    let end = runtime.block_on(async {
        let cancel = cancel_on_interrupt()?;
        let folder = FleetFolder::create(&campaign)?;
        if !folder.is_there() {
            settle_hosts(&folder, &cancel).await?;
        }
        let run = FleetRun { scheduler: &Slurm, folder: &folder, cancel: &cancel, poll: POLL };
        anyhow::Ok(run.drive(&mut TerminalWatch { campaign: &path }).await?)
    })?;
    tell_missing(&end, &path);
    if end.left_running {
        return Ok(Exit::Good);
    }
    let summary = CampaignSummary { reason: end.reason, last_trouble: None };
    let exit = conclude(&campaign, &summary, arguments)?;
    // What is missing could have been worse.
    Ok(if end.reason == StopReason::Missing && exit == Exit::Good { Exit::InvalidRun } else { exit })
}

/// Unlike on a host, nothing here is to be restored.
fn cancel_on_interrupt() -> std::io::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let cancel = CancellationToken::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let mut signals = signal(kind)?;
        let token = cancel.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                token.cancel();
            }
        });
    }
    Ok(cancel)
}

/// A new campaign's folder with its experiment and plan, or an existing one.
fn open(arguments: &RunArguments) -> anyhow::Result<CampaignFolder> {
    let given = &arguments.experiment;
    if given.is_dir() {
        return Ok(CampaignFolder::open(given)?);
    }
    let text = std::fs::read(given).with_context(|| format!("cannot read {}", given.display()))?;
    let name = arguments.name.clone().unwrap_or_else(|| default_name(given));
    let folder = CampaignFolder::create(&arguments.results, &name)?;
    if FleetFolder::of(&folder).is_there() {
        let (recorded, given) = (folder.manifest()?.experiment_hash, hex(&Sha256::digest(&text)));
        if recorded != given {
            return Err(CampaignError::OtherExperiment { campaign: name, recorded, given }.into());
        }
        return Ok(folder);
    }
    if folder.has_manifest() {
        let text = format!("{name} was begun on one host; choose another name with --name");
        return Err(UsageError(text).into());
    }
    // The sums are done on each node; this host only submits.
    let (plan, _) = fitted_plan(given, &arguments.fit)?;
    let plan = of_fleet(plan, given)?;
    write_atomically(&folder.experiment_path(), &text)?;
    folder.write_plan(&plan)?;
    Ok(folder)
}

/// The plan with its `[fleet]`, checked as if it had been written.
fn of_fleet(mut plan: Plan, path: &Path) -> Result<Plan, ConfigError> {
    let section = plan.experiment.fleet.get_or_insert_with(FleetSection::default).clone();
    let mut problems = Vec::new();
    section.validate(plan.analysis(), plan.target(), &mut problems);
    if !problems.is_empty() {
        return Err(ConfigError::Invalid { path: path.to_owned(), problems });
    }
    if plan.experiment.schedule.budget.take().is_some() {
        eprintln!("run-bench: schedule.budget is for one host and is left out");
    }
    Ok(plan)
}

/// The doctor on every node, the choice of hosts, and the files that every task reads.
async fn settle_hosts(folder: &FleetFolder, cancel: &CancellationToken) -> anyhow::Result<()> {
    let campaign = folder.campaign();
    let mut plan = campaign.plan()?;
    let section = plan.experiment.fleet.clone().unwrap_or_default();
    let executable = std::env::current_exe().context("cannot find the path of the running program")?;
    let program = match &section.program {
        Some(program) => program.clone(),
        None => folder.copy_program(&executable)?,
    };
    let file = FleetFile {
        schema: SCHEMA,
        program,
        hosts: Vec::new(),
        blocks_per_host: plan.schedule().blocks,
        time_limit: block_time_limit(&section, &plan),
        unfit: Vec::new(),
        confounders: Vec::new(),
        section,
    };
    eprintln!("asking the nodes, for at most {}", file.section.patience);
    let (choice, reports) = find_hosts(&Slurm, (folder, &file), cancel).await?;
    for unfit in &choice.unfit {
        eprintln!("not fit: {}: {}", unfit.node, unfit.why);
    }
    for host in &choice.hosts {
        eprintln!("host: {} ({}), {}", host.node, host.class, host.host);
    }
    for confounder in &choice.confounders {
        eprintln!("run-bench: {confounder}");
    }
    let file =
        FleetFile { hosts: choice.hosts, unfit: choice.unfit, confounders: choice.confounders, ..file };
    let first =
        reports.iter().find(|r| r.node == file.hosts[0].node).context("a chosen node has answered")?;
    let names: Vec<String> = file.hosts.iter().map(|h| format!("{} ({})", h.node, h.host)).collect();
    let text = std::fs::read(campaign.experiment_path())?;
    let manifest = Manifest {
        campaign: campaign.name(),
        experiment_hash: hex(&Sha256::digest(&text)),
        host: format!("fleet of {}: {}", names.len(), names.join(", ")),
        ..first.manifest.clone()
    };
    drivers::write_into(&mut plan, &manifest);
    plan.experiment.schedule.blocks = file.blocks();
    eprintln!("{} blocks on each of {} host(s), {} in all", file.blocks_per_host, names.len(), file.blocks());
    campaign.write_plan(&plan)?;
    folder.write_file(&file)?;
    // Last: with it the hosts are settled.
    campaign.write_manifest(&manifest)?;
    Ok(())
}

fn tell_missing(end: &FleetEnd, campaign: &Path) {
    let missing = end.standing.missing();
    for (why, blocks) in &missing {
        eprintln!("missing: blocks {}: {why}", super::watch::ranges(blocks));
    }
    if end.reason == StopReason::Missing && !missing.is_empty() {
        eprintln!("run-bench: to submit what is missing: run-bench run {}", campaign.display());
    }
}
