//! The setting of a measurement: machine, limits, swap, kernel, commands, runs.

use serde::{Deserialize, Serialize};

use crate::patch::claim::{Runs, Span};
use crate::units::Bytes;

use super::typed::Command;

/// What swap is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwapKind {
    Ramdisk,
    Zram,
    Zswap,
    Pmem,
    Loop,
    Disk,
    File,
}

/// The swap a mail names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swap {
    pub kind: Option<SwapKind>,
    pub size: Option<Bytes>,
}

/// Everything around a result that the mail states.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Setting {
    pub memcg_limit: Option<Bytes>,
    pub swap: Option<Swap>,
    pub machine: Option<String>,
    pub kernel_base: Option<String>,
    pub runs: Option<Runs>,
    pub commands: Vec<Command>,
    /// Facts carried over from a test described before.
    pub inherited: Vec<String>,
    /// Other stated parameters, as `name: value`.
    pub parameters: Vec<String>,
    /// The sentence it was read from.
    pub text: String,
    pub span: Option<Span>,
}

impl Setting {
    /// Whether anything of the surroundings is stated.
    pub fn has_surroundings(&self) -> bool {
        self.memcg_limit.is_some() || self.machine.is_some() || self.swap.is_some()
    }

    /// Takes what the other states; what is already known stays.
    pub(crate) fn fill(&mut self, other: &Setting) {
        self.memcg_limit = self.memcg_limit.or(other.memcg_limit);
        if self.machine.is_none() {
            self.machine.clone_from(&other.machine);
        }
        if self.kernel_base.is_none() {
            self.kernel_base.clone_from(&other.kernel_base);
        }
        match (&mut self.swap, &other.swap) {
            (Some(swap), Some(more)) => {
                swap.kind = swap.kind.or(more.kind);
                swap.size = swap.size.or(more.size);
            }
            (None, Some(more)) => self.swap = Some(more.clone()),
            _ => {}
        }
    }

    /// A new setting after this one: surroundings it does not restate are carried over.
    pub(crate) fn followed_by(&self, mut next: Setting, commands_too: bool) -> Setting {
        let mut carried = Vec::new();
        for (name, have, had) in [
            ("memcg limit", next.memcg_limit.is_some(), self.memcg_limit.is_some()),
            ("machine", next.machine.is_some(), self.machine.is_some()),
            ("swap", next.swap.is_some(), self.swap.is_some()),
            ("kernel base", next.kernel_base.is_some(), self.kernel_base.is_some()),
        ] {
            if !have && had {
                carried.push(name.to_owned());
            }
        }
        next.fill(self);
        next.inherited = carried;
        if commands_too {
            let mut commands = self.commands.clone();
            commands.iter_mut().for_each(|c| c.inherited = true);
            next.commands = commands;
        }
        next
    }

    /// Adds a command; one of the same program replaces a carried-over one.
    pub(crate) fn add(&mut self, command: Command) {
        self.commands.retain(|c| !(c.inherited && c.workload.name() == command.workload.name()));
        if self.commands.len() < 64 {
            self.commands.push(command);
        }
    }
}
