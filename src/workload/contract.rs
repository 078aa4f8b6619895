//! What a workload is given and what it returns.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::Marks;
use crate::exec::Tools;
use crate::metric::Measurement;

/// The part that a process plays; an experiment says which parts are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Server,
    Client,
}

/// The place and the means of one run of a workload.
#[derive(Debug)]
pub struct Context<'a> {
    pub cancel: &'a CancellationToken,
    /// A private folder (mode 0700) for sockets and temporary files.
    pub scratch: &'a Path,
    /// Where the tools' raw output is kept.
    pub raw: &'a Path,
    /// Roles that run in the `confined` cgroups.
    pub confined_roles: &'a [Role],
    /// Cgroup folders for confined roles.
    pub confined: Vec<PathBuf>,
    /// Cgroup folders for the others.
    pub unconfined: Vec<PathBuf>,
    /// A folder on the file system under test, for workloads on files.
    pub data: Option<&'a Path>,
    pub seed: u64,
    pub tools: &'a Tools,
    pub marks: &'a Marks,
    /// The `run-bench` executable, for the built-in drivers and for entering cgroups.
    pub own_executable: &'a Path,
}

impl Context<'_> {
    /// The cgroup folders that a process of this role joins.
    pub fn cgroups(&self, role: Role) -> &[PathBuf] {
        if self.confined_roles.contains(&role) { &self.confined } else { &self.unconfined }
    }
}

/// The program that made the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    pub name: String,
    /// As it prints it; for built-in drivers, the version of this tool.
    pub version: String,
}

/// A broken validity rule: the run's numbers do not mean what they seem to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The rule's name, such as `memcached.evictions`.
    pub rule: String,
    /// What was seen, why it matters, what to do.
    pub message: String,
    /// The counter, line or exit status that shows it.
    pub evidence: String,
}

impl Violation {
    pub fn new(rule: &str, message: impl Into<String>, evidence: impl Into<String>) -> Self {
        Violation { rule: rule.to_owned(), message: message.into(), evidence: evidence.into() }
    }
}

/// What one run of a workload yields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub measurements: Vec<Measurement>,
    /// Empty when the run is valid.
    pub violations: Vec<Violation>,
    pub driver: Driver,
    /// What was in force, as read back where it can be.
    pub parameters: BTreeMap<String, String>,
    /// Files kept in the raw folder, relative to it.
    pub raw: Vec<String>,
}
