//! What a campaign was run with.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::record::KernelIdentity;

/// The version of run-bench that wrote a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    pub version: String,
    /// Git commit of the build, with `-dirty` when the tree had changes; absent outside git.
    pub commit: Option<String>,
}

impl Version {
    /// This program's version.
    pub fn current() -> Self {
        Version {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("RUN_BENCH_COMMIT").map(str::to_owned),
        }
    }
}

/// A tool that was found, with its version and path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolVersion {
    pub path: String,
    pub version: String,
}

/// Written once, when a campaign starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub schema: u32,
    pub run_bench: Version,
    /// Name of the campaign: the folder's.
    pub campaign: String,
    pub created: Timestamp,
    pub title: String,
    /// SHA-256 of the experiment's text.
    pub experiment_hash: String,
    pub seed: u64,
    /// Stable name of the machine.
    pub host: String,
    /// Absent in the first form of manifests.
    #[serde(default)]
    pub facts: Option<crate::host::facts::HostFacts>,
    pub kernel: KernelIdentity,
    pub tools: BTreeMap<String, ToolVersion>,
    /// The driver settled on where the experiment said `auto`, by workload.
    pub drivers: BTreeMap<String, String>,
}
