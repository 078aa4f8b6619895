//! `[memcg]`: the memory cgroup the workload runs in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::error::Problem;
use crate::units::{Bytes, UnitError};

/// A limit that may be absent. Text form: `"max"` or a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Max,
    Bytes(Bytes),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Max => f.pad("max"),
            Limit::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

impl FromStr for Limit {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "max" { Ok(Limit::Max) } else { text.parse().map(Limit::Bytes) }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Limit::Max => serializer.serialize_str("max"),
            Limit::Bytes(bytes) => bytes.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Who is charged to the limited cgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The program under pressure: memcached, fio, the tasks of a probe.
    Server,
    /// The load generator, as where a mail's author moved the shell into the memcg.
    Client,
}

/// The cgroup and its limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MemcgSection {
    /// `memory.max`.
    pub limit: Limit,
    /// `memory.swap.max`; on v1 the difference of memsw and memory limits.
    #[serde(default = "no_limit")]
    pub swap_limit: Limit,
    /// Swappiness of this cgroup where the kernel has one per cgroup, else `vm.swappiness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swappiness: Option<u32>,
    #[serde(default = "server_only")]
    pub confine: Vec<Role>,
}

/// What an arm changes of `[memcg]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MemcgOverride {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap_limit: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swappiness: Option<u32>,
}

fn no_limit() -> Limit {
    Limit::Max
}

fn server_only() -> Vec<Role> {
    vec![Role::Server]
}

/// Below this a memory cgroup holds no useful process.
const SMALLEST_LIMIT: Bytes = Bytes::mib(4);

impl MemcgSection {
    pub fn validate(&self, key: &str, problems: &mut Vec<Problem>) {
        if let Limit::Bytes(limit) = self.limit
            && limit < SMALLEST_LIMIT
        {
            problems.push(Problem::new(
                format!("{key}.limit"),
                format!("{limit} is too small for any server; write at least {SMALLEST_LIMIT}"),
            ));
        }
        if self.swappiness.is_some_and(|s| s > 200) {
            problems.push(Problem::new(format!("{key}.swappiness"), "write 0 to 200"));
        }
        if self.confine.is_empty() {
            problems.push(Problem::new(
                format!("{key}.confine"),
                "nobody would be charged; write [\"server\"] or [\"server\", \"client\"]",
            ));
        }
    }

    /// This section with an arm's changes applied.
    pub fn with(&self, change: &MemcgOverride) -> Self {
        MemcgSection {
            limit: change.limit.unwrap_or(self.limit),
            swap_limit: change.swap_limit.unwrap_or(self.swap_limit),
            swappiness: change.swappiness.or(self.swappiness),
            confine: self.confine.clone(),
        }
    }
}
