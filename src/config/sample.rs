//! `[sample]`: the counter sampler.

use serde::{Deserialize, Serialize};

use super::error::Problem;
use crate::units::Nanos;

/// Whether and how often kernel counters are read during a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SampleSection {
    pub enabled: bool,
    /// Time between two samples.
    pub period: Nanos,
    /// Count with `perf stat` on all processors during the measured phases.
    pub perf: bool,
    /// Profile all processors with `perf record` during them. Not free: in every arm or in none.
    pub profile: bool,
}

impl Default for SampleSection {
    fn default() -> Self {
        SampleSection { enabled: true, period: Nanos::from_millis(500), perf: false, profile: false }
    }
}

impl SampleSection {
    pub fn validate(&self, problems: &mut Vec<Problem>) {
        if self.period < Nanos::from_millis(10) || self.period > Nanos::from_seconds(600) {
            problems
                .push(Problem::new("sample.period", "write \"10ms\" to \"10min\"; the default is \"500ms\""));
        }
    }
}
