//! `[claim-source]`: where a claim comes from and how it was measured.

use serde::{Deserialize, Serialize};

use crate::metric::MetricId;

/// The conditions of a claim. A measurement under other conditions says only
/// "seen here" or "not seen here".
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClaimSource {
    /// Subject of the mail.
    pub mail: Option<String>,
    /// The metric claimed, when it is not the primary one.
    pub metric: Option<MetricId>,
    /// The printed values, in the metric's base unit.
    pub before: Option<f64>,
    pub after: Option<f64>,
    /// The runs per side that the author states.
    pub runs: Option<u32>,
    /// Machine as stated, such as "AMD EPYC 7K62, 48 cores".
    pub machine: Option<String>,
    /// Base kernel as stated.
    pub kernel: Option<String>,
    /// Swap as stated, such as "brd" or "zram".
    pub swap: Option<String>,
    /// Load tool as stated, such as "memtier_benchmark".
    pub driver: Option<String>,
}
