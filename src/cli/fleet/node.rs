//! On a node: its answer before the campaign, and one block of it.

use std::time::{Duration, Instant};

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use crate::campaign::{Progress, ProgressEvent};
use crate::cli::arguments::{FleetDoctorArguments, FleetTaskArguments};
use crate::cli::doctor::examine;
use crate::cli::exit::Exit;
use crate::cli::plan::this_machine;
use crate::cli::run::new_manifest;
use crate::cli::signals::cancel_on_signal;
use crate::config::{Plan, arithmetic};
use crate::fleet::{FleetFolder, NodeReport, Submission, TaskEnd, TaskIdentity, run_block};
use crate::host::SysRoot;
use crate::host::doctor::{DoctorReport, State};
use crate::host::facts::reclaimers;
use crate::store::{CampaignFolder, Manifest, StopReason};
use crate::target::kernel::KernelPlaces;
use crate::target::{HostLock, TargetError, TargetRequest, Targets};

/// How often a task looks whether its host is free.
const POLL: Duration = Duration::from_millis(500);

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

fn identity() -> anyhow::Result<TaskIdentity> {
    Ok(TaskIdentity::from_environment(|name| std::env::var(name).ok())?)
}

/// `run-bench fleet-doctor`: this node's answer.
pub fn doctor(arguments: &FleetDoctorArguments) -> anyhow::Result<Exit> {
    let (task, campaign) = (identity()?, CampaignFolder::unfinished(&arguments.campaign)?);
    let plan = campaign.plan()?;
    let (manifest, report) = runtime()?.block_on(async {
        (new_manifest(campaign.name(), &plan, String::new(), campaign.path()).await, examine().await)
    });
    let problems = problems(&plan, &report);
    for problem in &problems {
        eprintln!("run-bench: {problem}");
    }
    NodeReport::new(task.node, manifest, report, problems).write(&FleetFolder::of(&campaign))?;
    Ok(Exit::Good)
}

/// Why this experiment cannot run on this host.
fn problems(plan: &Plan, report: &DoctorReport) -> Vec<String> {
    let sums = arithmetic::check(plan, &this_machine());
    let mut problems: Vec<String> = sums.problems.iter().map(ToString::to_string).collect();
    let line = |subject: &str| report.lines.iter().find(|l| l.subject == subject);
    let on_host = plan.target().kind == crate::config::TargetKind::Host;
    let limited = plan.arms.iter().any(|arm| arm.memcg.is_some());
    for subject in ["memory cgroup", "memory limit"].into_iter().filter(|_| limited && on_host) {
        if let Some(line) = line(subject).filter(|l| l.state == State::Missing) {
            problems.push(format!("{subject}: {}", line.seen));
        }
    }
    let knobs = plan.arms.iter().any(|arm| !arm.knobs.is_empty());
    if on_host && (plan.swap().is_some() || knobs) {
        let privilege = line("privilege").filter(|l| l.state != State::Ok);
        problems
            .extend(privilege.map(|l| format!("tasks run as {}, and swap and settings need root", l.seen)));
    }
    if plan.environment().refuse_reclaimers {
        problems.extend(reclaimers(&SysRoot::host()).0.into_iter().map(|r| r.seen));
    }
    problems
}

/// `run-bench fleet-task`: one block.
pub fn task(arguments: &FleetTaskArguments) -> anyhow::Result<Exit> {
    let task = identity()?;
    let campaign = CampaignFolder::open(&arguments.campaign)?;
    let folder = FleetFolder::of(&campaign);
    let submission = folder.submission(arguments.submission)?;
    eprintln!("task {} of job {} on {}, run {}", task.task, task.job, task.node, task.restart);
    let end = runtime()?.block_on(block(&folder, &submission, &task))?;
    Ok(if end.reason == Some(StopReason::Planned) { Exit::Good } else { Exit::InvalidRun })
}

async fn block(
    folder: &FleetFolder,
    submission: &Submission,
    task: &TaskIdentity,
) -> anyhow::Result<TaskEnd> {
    let cancel = cancel_on_signal().context("cannot listen to signals")?;
    let campaign = folder.campaign();
    let (plan, ours) = (campaign.plan()?, campaign.manifest()?);
    let patience = folder.file()?.section.patience.to_duration();
    let _host = free_host(&campaign.path().display().to_string(), patience, &cancel).await?;
    let here =
        new_manifest(ours.campaign.clone(), &plan, ours.experiment_hash.clone(), campaign.path()).await;
    let manifest = Manifest { seed: ours.seed, drivers: ours.drivers, ..here };
    let request = TargetRequest {
        plan: &plan,
        places: &KernelPlaces::of_host(None)?,
        executable: std::env::current_exe().context("cannot find the path of the running program")?,
        host: manifest.host.clone(),
    };
    let step = |arm: &str, step: &_| eprintln!("kernel of {arm}: {step}");
    let targets = Targets::prepare(&request, step, &cancel).await?;
    Ok(run_block(folder, (submission, task), &manifest, &targets, &cancel, &mut LogProgress).await?)
}

/// Waits for the host: two tasks may have come to one machine, and would measure each other.
async fn free_host(
    campaign: &str,
    patience: Duration,
    cancel: &CancellationToken,
) -> Result<HostLock, TargetError> {
    let begun = Instant::now();
    let mut told = false;
    loop {
        match HostLock::take(campaign) {
            Err(error @ TargetError::HostInUse { .. }) => {
                if begun.elapsed() > patience || cancel.is_cancelled() {
                    return Err(error);
                }
                if !std::mem::replace(&mut told, true) {
                    eprintln!("run-bench: {error}; waiting for at most {} s", patience.as_secs());
                }
            }
            other => return other,
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Whole lines for a log.
struct LogProgress;

impl Progress for LogProgress {
    fn event(&mut self, event: ProgressEvent<'_>) {
        match event {
            ProgressEvent::TrialEnded { id, status, headline } => {
                eprintln!("{id}: {status:?}{}", headline.map(|h| format!(", {h}")).unwrap_or_default());
            }
            ProgressEvent::Stopped { reason } => eprintln!("stopped: {}", reason.text()),
            _ => {}
        }
    }
}
