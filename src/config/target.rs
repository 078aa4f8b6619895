//! `[target]`: where trials run.

use serde::{Deserialize, Serialize};

use super::error::Problem;
use crate::units::{Bytes, CpuSet};

/// The kinds of places a trial can run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// This host and its running kernel.
    #[default]
    Host,
    /// A User-Mode Linux guest.
    Uml,
    /// A QEMU guest.
    Vm,
    /// This host, rebooted into the arm's kernel.
    Boot,
}

/// Where trials run and with what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TargetSection {
    pub kind: TargetKind,
    /// Memory of a guest.
    pub memory: Bytes,
    /// Virtual processors of a guest.
    pub cpus: u32,
    /// Host processors that the guest is pinned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<CpuSet>,
    /// Trials in one boot of a booted arm.
    pub trials_per_boot: u32,
}

impl Default for TargetSection {
    fn default() -> Self {
        TargetSection {
            kind: TargetKind::Host,
            memory: Bytes::gib(2),
            cpus: 1,
            pin: None,
            trials_per_boot: 1,
        }
    }
}

impl TargetSection {
    pub fn validate(&self, problems: &mut Vec<Problem>) {
        if self.cpus == 0 || self.cpus > 1024 {
            problems.push(Problem::new("target.cpus", "write 1 to 1024"));
        }
        if self.memory < Bytes::mib(64) {
            problems.push(Problem::new("target.memory", "a guest needs at least 64MiB to boot"));
        }
        if self.trials_per_boot == 0 || self.trials_per_boot > 1000 {
            problems.push(Problem::new("target.trials-per-boot", "write 1 to 1000"));
        }
    }
}
