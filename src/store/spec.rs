//! What one trial is asked to do; the only input of `run-bench trial`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::record::KernelIdentity;
use crate::config::{ArmRole, EnvironmentSection, MemcgSection, SampleSection, SwapSection, Workload};
use crate::units::Nanos;

/// Which trial of a campaign; also the name of its folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialId {
    /// From 0.
    pub block: u32,
    /// Place within the block, from 0; the discarded trial is place 0 where there is one.
    pub position: u32,
    /// Counts up when an invalid or interrupted trial is run again.
    pub attempt: u32,
    pub workload: String,
    pub arm: String,
}

impl TrialId {
    /// Block, position, workload and arm: the same for every attempt.
    pub fn place(&self) -> (u32, u32, &str, &str) {
        (self.block, self.position, &self.workload, &self.arm)
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TrialId { block, position, attempt, workload, arm } = self;
        write!(f, "b{block:04}-p{position:02}-{workload}-{arm}-a{attempt}")
    }
}

/// Everything a trial needs, resolved: no defaults are left to be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    pub schema: u32,
    /// Name of the campaign.
    pub campaign: String,
    pub id: TrialId,
    pub role: ArmRole,
    /// Run to warm up and never compared.
    pub discarded: bool,
    /// The same for every arm of a block.
    pub seed: u64,
    pub workload: Workload,
    pub memcg: Option<MemcgSection>,
    pub swap: Option<SwapSection>,
    pub environment: EnvironmentSection,
    /// Knobs of environment and arm together.
    pub knobs: BTreeMap<String, String>,
    pub sample: SampleSection,
    /// The kernel that has to be running; any when absent.
    pub kernel: Option<KernelIdentity>,
    pub deadline: Nanos,
    pub no_progress: Nanos,
    /// A folder on the file system under test that the target keeps for the whole
    /// block, so that files are laid out once. A trial that needs one and is given
    /// none makes its own.
    pub fixture: Option<PathBuf>,
    /// Echoed in the record, so that a stale record is never taken for a new one.
    pub nonce: String,
}
