//! `run-bench status`: where a campaign stands.

use std::collections::BTreeMap;

use serde::Serialize;

use super::arguments::StatusArguments;
use super::exit::Exit;
use super::fleet::{FleetStatus, fleet_status};
use crate::campaign::History;
use crate::store::{CampaignFolder, CampaignJournal, StopReason};

#[derive(Serialize)]
struct Status {
    schema: u32,
    campaign: String,
    title: String,
    /// Trials by how they ended.
    trials: BTreeMap<String, usize>,
    /// Started and not ended; their processes may still run.
    unfinished: Vec<String>,
    stopped: Option<StopReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<FleetStatus>,
}

pub fn main(arguments: &StatusArguments) -> anyhow::Result<Exit> {
    let folder = CampaignFolder::open(&arguments.campaign)?;
    let history = History::new(&CampaignJournal::read(&folder.journal_path())?);
    let status = Status {
        schema: 1,
        campaign: folder.name(),
        title: folder.manifest()?.title,
        trials: history.counts(),
        unfinished: history.lost().iter().map(ToString::to_string).collect(),
        stopped: history.stopped(),
        fleet: fleet_status(&folder)?,
    };
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&status)?);
        return Ok(Exit::Good);
    }
    sayln!("{}: {}", status.campaign, status.title);
    for (how, count) in &status.trials {
        sayln!("  {count} trial(s) {how}");
    }
    for id in &status.unfinished {
        sayln!("  not ended: {id}");
    }
    for line in status.fleet.iter().flat_map(FleetStatus::lines) {
        sayln!("  {line}");
    }
    match status.stopped {
        Some(reason) => sayln!("  stopped: {}", reason.text()),
        None => sayln!("  not stopped; resume it with: run-bench run {}", folder.path().display()),
    }
    Ok(Exit::Good)
}
