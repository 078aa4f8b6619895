//! `[schedule]`: how many blocks, in which order, under which limits.

use serde::{Deserialize, Serialize};

use super::error::Problem;
use crate::units::Nanos;

/// The order and the limits of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScheduleSection {
    /// Blocks at most; with `stop = "fixed"` exactly as many.
    pub blocks: u32,
    /// Seed of the coins, the streams and the permutations.
    pub seed: u64,
    /// Run one trial of the baseline at the start of each block and discard it.
    pub discard_first: bool,
    /// A trial that takes longer is killed and invalid. Derived from the workload when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Nanos>,
    /// A child that shows no progress for so long is killed.
    pub no_progress: Nanos,
    /// Pause between trials.
    pub pause: Nanos,
    /// Invalid trials that are run again, per campaign, decided without looking at the metric.
    pub reruns: u32,
    /// Time that the whole campaign may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Nanos>,
}

impl Default for ScheduleSection {
    fn default() -> Self {
        ScheduleSection {
            blocks: 6,
            seed: 1,
            discard_first: true,
            deadline: None,
            no_progress: Nanos::from_seconds(60),
            pause: Nanos(0),
            reruns: 4,
            budget: None,
        }
    }
}

impl ScheduleSection {
    pub fn validate(&self, problems: &mut Vec<Problem>) {
        if self.blocks == 0 || self.blocks > 10_000 {
            problems.push(Problem::new(
                "schedule.blocks",
                "write 1 to 10000; 6 is the least that can resolve anything",
            ));
        }
        if self.no_progress < Nanos::from_seconds(1) {
            problems.push(Problem::new("schedule.no-progress", "write at least \"1s\""));
        }
        if self.deadline.is_some_and(|d| d < Nanos::from_seconds(1)) {
            problems.push(Problem::new("schedule.deadline", "write at least \"1s\""));
        }
        if self.budget.is_some_and(|b| b < Nanos::from_seconds(1)) {
            problems.push(Problem::new("schedule.budget", "write at least \"1s\""));
        }
    }
}
