//! What a workload is given and what it returns.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::Marks;
use super::WorkloadError;
use crate::config::EnvironmentSection;
use crate::config::Role;
use crate::exec::Command;
use crate::exec::Tools;
use crate::metric::Measurement;
use crate::store::DriverIdentity;
use crate::store::Violation;
use crate::store::write_file;

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
    /// Processors and memory nodes that the roles are bound to.
    pub environment: &'a EnvironmentSection,
    /// A folder on the file system under test, for workloads on files.
    pub data: Option<&'a Path>,
    pub seed: u64,
    pub tools: &'a Tools,
    pub marks: &'a Marks<'a>,
    /// The `run-bench` executable, for the built-in drivers and for entering cgroups.
    pub own_executable: &'a Path,
}

impl Context<'_> {
    /// Puts a command where a process of this role belongs, bound to this process's life.
    pub fn place(&self, command: &mut Command, role: Role) {
        command.cgroups = self.cgroups(role).to_vec();
        command.cpus = match role {
            Role::Server => self.environment.server_cpus.clone(),
            Role::Client => self.environment.client_cpus.clone(),
        };
        command.memory_nodes = self.environment.memory_nodes.clone();
        command.die_with_parent = true;
        command.enter = Some(self.own_executable.to_owned());
    }

    /// Keeps a text in the raw folder.
    pub fn keep(&self, name: &str, text: &str) -> Result<(), WorkloadError> {
        let path = self.raw.join(name);
        write_file(&path, text.as_bytes()).map_err(|source| WorkloadError::Io { what: "write", path, source })
    }

    /// The cgroup folders that a process of this role joins.
    pub fn cgroups(&self, role: Role) -> &[PathBuf] {
        if self.confined_roles.contains(&role) { &self.confined } else { &self.unconfined }
    }
}

/// What one run of a workload yields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub measurements: Vec<Measurement>,
    /// Empty when the run is valid.
    pub violations: Vec<Violation>,
    pub driver: DriverIdentity,
    /// What was in force, as read back where it can be.
    pub parameters: BTreeMap<String, String>,
    /// Files kept in the raw folder, relative to it.
    pub raw: Vec<String>,
}
