//! The experiment file as a user writes it.

use serde::{Deserialize, Serialize};

use super::analysis::AnalysisSection;
use super::arm::ArmSection;
use super::claim::ClaimSource;
use super::environment::EnvironmentSection;
use super::error::Problem;
use super::fleet::FleetSection;
use super::memcg::MemcgSection;
use super::sample::SampleSection;
use super::schedule::ScheduleSection;
use super::swap::SwapSection;
use super::target::TargetSection;
use super::workload::WorkloadSection;
use crate::units::Percent;

/// The newest experiment schema that this version reads.
pub const SCHEMA: u32 = 1;

/// A whole experiment, section by section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// The version of this file format; 1.
    pub schema: u32,
    /// One line for reports.
    pub title: String,
    /// The change that the author states, such as "+1.8%".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Percent>,
    /// Where the claim comes from and under which conditions it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_source: Option<ClaimSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memcg: Option<MemcgSection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<SwapSection>,
    #[serde(default)]
    pub environment: EnvironmentSection,
    pub workload: WorkloadSection,
    /// The arms in order; the first is the baseline.
    #[serde(rename = "arm")]
    pub arms: Vec<ArmSection>,
    #[serde(default)]
    pub schedule: ScheduleSection,
    #[serde(default)]
    pub sample: SampleSection,
    pub analysis: AnalysisSection,
    #[serde(default)]
    pub target: TargetSection,
    /// Several hosts instead of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSection>,
}

impl Experiment {
    /// Every problem of every section; empty when the experiment can be planned.
    pub fn validate(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.schema == 0 || self.schema > SCHEMA {
            problems.push(Problem::new(
                "schema",
                format!("{} is not a schema this version reads; it reads 1 to {SCHEMA}", self.schema),
            ));
        }
        if self.title.trim().is_empty() || self.title.len() > 200 || self.title.contains(['\n', '\0']) {
            problems.push(Problem::new("title", "write one line of 1 to 200 characters"));
        }
        self.workload.validate(&mut problems);
        if let Some(memcg) = &self.memcg {
            memcg.validate("memcg", &mut problems);
        }
        if let Some(swap) = &self.swap {
            swap.validate(&mut problems);
        }
        self.environment.validate("environment", &mut problems);
        super::arm::validate_arms(&self.arms, self.memcg.is_some(), &mut problems);
        self.schedule.validate(&mut problems);
        self.sample.validate(&mut problems);
        self.analysis.validate(&self.workload, &mut problems);
        self.target.validate(&mut problems);
        if let Some(fleet) = &self.fleet {
            fleet.validate(&self.analysis, &self.target, &mut problems);
        }
        problems
    }
}
