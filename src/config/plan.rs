//! The plan: a checked experiment with every default filled in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::analysis::AnalysisSection;
use super::arm::{ArmRole, ArmSection};
use super::environment::EnvironmentSection;
use super::experiment::Experiment;
use super::memcg::MemcgSection;
use super::sample::SampleSection;
use super::schedule::ScheduleSection;
use super::swap::SwapSection;
use super::target::TargetSection;
use super::workload::Workload;
use crate::metric::MetricId;

/// One arm with the sections that apply to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanArm {
    pub name: String,
    pub role: ArmRole,
    /// As written: kernel, patches, knobs of its own.
    pub section: ArmSection,
    pub memcg: Option<MemcgSection>,
    /// Knobs of the environment and of the arm; the arm's win.
    pub knobs: BTreeMap<String, String>,
}

/// One workload and the metrics that decide on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanWorkload {
    pub workload: Workload,
    pub primary: Vec<MetricId>,
}

/// What a campaign will do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub experiment: Experiment,
    pub arms: Vec<PlanArm>,
    pub workloads: Vec<PlanWorkload>,
    /// What scaling and `--quick` changed, one sentence each; empty for the experiment as written.
    pub changes: Vec<String>,
}

impl Plan {
    /// The plan of a valid experiment.
    pub fn new(experiment: Experiment) -> Self {
        let arms = experiment
            .arms
            .iter()
            .enumerate()
            .map(|(i, section)| PlanArm {
                name: section.name.clone(),
                role: section.role.unwrap_or(if i == 0 { ArmRole::Baseline } else { ArmRole::Candidate }),
                section: section.clone(),
                memcg: experiment.memcg.as_ref().map(|base| {
                    section.memcg.as_ref().map_or_else(|| base.clone(), |change| base.with(change))
                }),
                knobs: {
                    let mut knobs = experiment.environment.knobs.clone();
                    knobs.extend(section.knobs.clone());
                    knobs
                },
            })
            .collect();
        let deciding: Vec<MetricId> = std::iter::once(&experiment.analysis.primary)
            .chain(&experiment.analysis.also_primary)
            .cloned()
            .collect();
        let workloads = experiment
            .workload
            .all()
            .into_iter()
            .map(|workload| {
                let known = workload.metrics();
                let primary =
                    deciding.iter().filter(|id| known.iter().any(|d| d.id == **id)).cloned().collect();
                PlanWorkload { workload, primary }
            })
            .collect();
        Plan { experiment, arms, workloads, changes: Vec::new() }
    }

    pub fn baseline(&self) -> &PlanArm {
        &self.arms[0]
    }

    pub fn swap(&self) -> Option<&SwapSection> {
        self.experiment.swap.as_ref()
    }

    pub fn schedule(&self) -> &ScheduleSection {
        &self.experiment.schedule
    }

    pub fn sample(&self) -> &SampleSection {
        &self.experiment.sample
    }

    pub fn analysis(&self) -> &AnalysisSection {
        &self.experiment.analysis
    }

    pub fn environment(&self) -> &EnvironmentSection {
        &self.experiment.environment
    }

    pub fn target(&self) -> &TargetSection {
        &self.experiment.target
    }
}
