//! A fleet's part of `run-bench status`.

use serde::Serialize;

use super::watch::ranges;
use crate::fleet::{BlockStanding, FleetFolder, Scheduler, Slurm, Standing, provenance, standing};
use crate::store::CampaignFolder;

/// Where the blocks of a fleet stand.
#[derive(Debug, Serialize)]
pub struct FleetStatus {
    standing: Standing,
    /// Why the batch system could not be asked; the standing is then by the folder alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_asked: Option<String>,
}

/// None for a campaign of one host.
pub fn fleet_status(campaign: &CampaignFolder) -> anyhow::Result<Option<FleetStatus>> {
    let Some(origins) = provenance(campaign)? else { return Ok(None) };
    let folder = FleetFolder::of(campaign);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut tasks, not_asked) = match runtime.block_on(Slurm.tasks(&FleetFolder::job_name(campaign))) {
        Ok(tasks) => (tasks, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let ours: Vec<u64> = folder.submissions()?.iter().filter_map(|s| s.job).collect();
    tasks.retain(|task| ours.contains(&task.job));
    let standing = standing(&folder, |block| origins.blocks.contains_key(&block), &tasks, &[])?;
    Ok(Some(FleetStatus { standing, not_asked }))
}

impl FleetStatus {
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("fleet: {}", self.standing.text())];
        let mut waits: Vec<(String, u32)> = Vec::new();
        for standing in &self.standing.blocks {
            let what = match standing {
                BlockStanding::Running { node } => format!("running on {node}"),
                BlockStanding::Waiting { node, reason } => format!("waiting for {node} ({reason})"),
                _ => continue,
            };
            match waits.iter_mut().find(|(known, _)| *known == what) {
                Some((_, count)) => *count += 1,
                None => waits.push((what, 1)),
            }
        }
        lines.extend(waits.into_iter().map(|(what, count)| format!("{count} block(s) {what}")));
        for (why, blocks) in self.standing.missing() {
            lines.push(format!("missing: blocks {}: {why}", ranges(&blocks)));
        }
        if !self.standing.jobs.is_empty() {
            let jobs: Vec<String> = self.standing.jobs.iter().map(u64::to_string).collect();
            lines.push(format!("to cancel: scancel {}", jobs.join(" ")));
        }
        lines.extend(self.not_asked.iter().map(|why| format!("by the folder alone: {why}")));
        lines
    }
}
