//! The doctor on every node, before anything is measured.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::choose::{Choice, UnfitNode, candidates, choose};
use super::clock;
use super::error::FleetError;
use super::layout::{FleetFile, FleetFolder, SCHEMA};
use super::request::{NOTICE, job};
use super::scheduler::{NodeLine, Scheduler};
use crate::config::FleetClass;
use crate::host::doctor::DoctorReport;
use crate::store::{Manifest, read_json, write_json};
use crate::units::Nanos;

/// What one node says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeReport {
    pub schema: u32,
    pub node: String,
    /// The node's own clock when it answered.
    pub clock: Timestamp,
    /// As a campaign on this node alone would have it.
    pub manifest: Manifest,
    pub doctor: DoctorReport,
    /// Why this experiment cannot run there; empty for a fit node.
    pub problems: Vec<String>,
    /// By how many seconds the clock is off at least; written by the submitting host.
    #[serde(default)]
    pub skew_seconds: i64,
}

impl NodeReport {
    pub fn new(node: String, manifest: Manifest, doctor: DoctorReport, problems: Vec<String>) -> Self {
        NodeReport {
            schema: SCHEMA,
            node,
            clock: Timestamp::now(),
            manifest,
            doctor,
            problems,
            skew_seconds: 0,
        }
    }

    /// Leaves the answer where the submitting host looks for it.
    pub fn write(&self, folder: &FleetFolder) -> Result<(), FleetError> {
        Ok(write_json(&folder.doctor_path(&self.node), self)?)
    }
}

/// How often answers are looked for.
const POLL: Duration = Duration::from_millis(300);
/// How often the batch system is asked why there is none.
const ASK: Duration = Duration::from_secs(3);

/// Asks every usable node and takes the fit ones. `file` has no hosts yet.
pub async fn find_hosts<S: Scheduler>(
    scheduler: &S,
    (folder, file): (&FleetFolder, &FleetFile),
    cancel: &CancellationToken,
) -> Result<(Choice, Vec<NodeReport>), FleetError> {
    let nodes = scheduler.nodes(file.section.partition.as_deref()).await?;
    let (asked, mut unfit) = candidates(&file.section, &nodes);
    if asked.is_empty() {
        let features: Vec<&str> = file.section.classes.iter().map(FleetClass::feature).collect();
        let with = if features.is_empty() {
            String::new()
        } else {
            format!(" with a feature of {}", features.join(", "))
        };
        let seen = nodes.iter().map(|n| format!("{} is {}", n.name, n.seen())).collect::<Vec<_>>().join("; ");
        let seen = if seen.is_empty() { "it has no node at all".to_owned() } else { seen };
        return Err(FleetError::NoNodes { with, seen });
    }
    let (reports, silent) = ask_nodes(scheduler, (folder, file), &asked, cancel).await?;
    unfit.extend(silent);
    Ok((choose(&file.section, &nodes, &reports, unfit)?, reports))
}

/// Has every node answer for itself. Those that do not in time are named.
async fn ask_nodes<S: Scheduler>(
    scheduler: &S,
    (folder, file): (&FleetFolder, &FleetFile),
    nodes: &[NodeLine],
    cancel: &CancellationToken,
) -> Result<(Vec<NodeReport>, Vec<UnfitNode>), FleetError> {
    let limit = Nanos(file.section.patience.0 + Nanos::from(NOTICE).0);
    let submitted = Timestamp::now();
    let mut jobs: BTreeMap<String, u64> = BTreeMap::new();
    for node in nodes {
        let stale = folder.doctor_path(&node.name);
        // An answer of an earlier start says nothing of now.
        let _ = std::fs::remove_file(&stale);
        let request = job(folder, file, (&node.name, 1), limit, &["fleet-doctor".into()]);
        jobs.insert(node.name.clone(), scheduler.submit(&request).await?);
    }
    let mut reports = Vec::new();
    let begun = Instant::now();
    let mut asked = begun;
    while !jobs.is_empty() && begun.elapsed() < file.section.patience.to_duration() {
        if cancel.is_cancelled() {
            scheduler.cancel(&jobs.into_values().collect::<Vec<_>>()).await?;
            return Err(FleetError::Cancelled);
        }
        let waiting: Vec<String> = jobs.keys().cloned().collect();
        for node in waiting {
            let path = folder.doctor_path(&node);
            if path.is_file() {
                let mut report: NodeReport = read_json(&path, "answer of a node")?;
                report.skew_seconds = clock::skew_seconds(report.clock, submitted, Timestamp::now());
                jobs.remove(&node);
                reports.push(report);
            }
        }
        if asked.elapsed() > ASK {
            asked = Instant::now();
            let ended = scheduler.tasks(&FleetFolder::job_name(folder.campaign())).await?;
            let all_ended = jobs.values().all(|job| ended.iter().any(|t| t.job == *job && !t.is_active()));
            // An answer may still be on its way through the shared folder.
            if all_ended && begun.elapsed() > 4 * ASK {
                break;
            }
        }
        tokio::time::sleep(POLL).await;
    }
    let unfit = silent(scheduler, folder, &jobs).await?;
    scheduler.cancel(&jobs.into_values().collect::<Vec<_>>()).await?;
    reports.sort_by(|a, b| a.node.cmp(&b.node));
    Ok((reports, unfit))
}

/// Nodes without an answer, with what the batch system says of their task.
async fn silent<S: Scheduler>(
    scheduler: &S,
    folder: &FleetFolder,
    jobs: &BTreeMap<String, u64>,
) -> Result<Vec<UnfitNode>, FleetError> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let tasks = scheduler.tasks(&FleetFolder::job_name(folder.campaign())).await?;
    let why = |node: &String, job: u64| {
        let logs = FleetFolder::LOGS;
        match tasks.iter().find(|t| t.job == job) {
            Some(task) if task.is_waiting() => format!("its task still waits ({})", task.reason),
            Some(task) if task.is_active() => "its task runs and has not answered".to_owned(),
            Some(task) => format!(
                "{} and left no answer in the campaign's folder: see {logs}/{job}_0.log there, and whether {node} shares that folder",
                task.ended()
            ),
            None => "the batch system no longer knows its task, and there is no answer".to_owned(),
        }
    };
    Ok(jobs.iter().map(|(node, job)| UnfitNode { node: node.clone(), why: why(node, *job) }).collect())
}
