//! `[environment]`: host settings held for every trial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::Problem;

/// Settings that are written before each trial and restored after it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EnvironmentSection {
    /// Knob name to value. A name is a sysctl (`vm.swappiness`), a path below
    /// `/sys` or `/proc/sys`, or one of `lru_gen`, `min_ttl_ms`, `thp`, `governor`.
    pub knobs: BTreeMap<String, String>,
    /// Drop the page cache before each trial.
    pub drop_caches: bool,
    /// Refuse to run where a reclaimer that is not ours (DAMON, ksmd, zswap,
    /// oomd) is active; otherwise it is only said and recorded.
    pub refuse_reclaimers: bool,
    /// Processors for the server and for the client; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpus: Option<crate::units::CpuSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cpus: Option<crate::units::CpuSet>,
    /// NUMA nodes that memory is bound to; the kernel's choice when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_nodes: Option<crate::units::CpuSet>,
}

impl EnvironmentSection {
    pub fn validate(&self, key: &str, problems: &mut Vec<Problem>) {
        validate_knobs(&format!("{key}.knobs"), &self.knobs, problems);
    }
}

/// Checks names and values of knobs; their existence is checked on the host.
pub fn validate_knobs(key: &str, knobs: &BTreeMap<String, String>, problems: &mut Vec<Problem>) {
    for (name, value) in knobs {
        let path = name.starts_with("/sys/") || name.starts_with("/proc/sys/");
        let short = ["lru_gen", "min_ttl_ms", "thp", "governor"].contains(&name.as_str());
        let dotted = name.contains('.')
            && name.split('.').all(|w| {
                !w.is_empty() && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
            });
        if name.contains("..") || !(path || short || dotted) {
            problems.push(Problem::new(
                format!("{key}.{name:?}"),
                "a knob is a sysctl (\"vm.swappiness\"), a path below /sys or /proc/sys, or one of lru_gen, min_ttl_ms, thp, governor",
            ));
        }
        if value.is_empty() || value.len() > 4096 || value.contains('\0') {
            problems
                .push(Problem::new(format!("{key}.{name:?}"), "write the value as a text, such as \"0\""));
        }
    }
}
