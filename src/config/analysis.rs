//! `[analysis]`: the question and when to stop asking it.

use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::workload::WorkloadSection;
use crate::metric::MetricId;
use crate::units::Percent;

/// When a campaign ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// After `schedule.blocks` blocks.
    #[default]
    Fixed,
    /// Looks at 6, 12 and 18 blocks.
    GroupSequential,
    /// Any time, by an e-process; for campaigns without a planned end.
    Anytime,
}

/// What is compared and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AnalysisSection {
    /// The metric that decides; one for each workload.
    pub primary: MetricId,
    /// Further deciding metrics; all are corrected together (Holm; Dunnett where candidates share a baseline).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_primary: Vec<MetricId>,
    /// Changes smaller than this are of no practical interest.
    #[serde(default = "default_margin")]
    pub margin: Percent,
    #[serde(default)]
    pub stop: StopRule,
    /// Error rate of the verdict.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// The change that the campaign is planned to see; the claim or the margin when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Percent>,
}

fn default_margin() -> Percent {
    Percent(1.0)
}

fn default_alpha() -> f64 {
    0.05
}

impl AnalysisSection {
    pub fn validate(&self, workload: &WorkloadSection, problems: &mut Vec<Problem>) {
        if !(self.margin.0 > 0.0 && self.margin.0 <= 50.0) {
            problems.push(Problem::new("analysis.margin", "write more than \"0%\" and at most \"50%\""));
        }
        if !(self.alpha >= 0.0001 && self.alpha <= 0.2) {
            problems.push(Problem::new("analysis.alpha", "write 0.0001 to 0.2; the usual is 0.05"));
        }
        if self.effect.is_some_and(|e| e.0 == 0.0 || e.0 <= -90.0 || e.0 > 1000.0) {
            problems
                .push(Problem::new("analysis.effect", "write a change other than \"0%\", such as \"1.8%\""));
        }
        let known = workload.metric_ids();
        for (key, id) in std::iter::once(("analysis.primary", &self.primary))
            .chain(self.also_primary.iter().map(|id| ("analysis.also-primary", id)))
        {
            if !known.iter().any(|k| k == id) {
                let names: Vec<&str> = known.iter().map(MetricId::as_str).collect();
                problems.push(Problem::new(
                    key,
                    format!("no workload here reports {id}; they report {}", names.join(", ")),
                ));
            }
        }
    }
}
