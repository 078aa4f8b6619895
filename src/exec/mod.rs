//! Child processes: argv, cgroup, affinity, deadline, watchdog, capture, kill.
//!
//! A child leads its own process group. Joining cgroups, pinning and changing
//! the user happen in the hidden sub-command `run-bench __enter`, which then
//! executes the program: nothing runs between fork and exec. One thread per
//! child starts it and reaps it, so that the kernel's accounting is exact and
//! the child dies with this process.
//!
//! It does not know what the programs are: argv, readiness and the reading of
//! their output belong to `workload`.

mod capture;
mod child;
mod command;
pub mod enter;
mod error;
mod running;
mod tools;

pub use capture::Captured;
pub use command::{Command, Progress};
pub use error::ExecError;

pub use running::{Ended, Output, Running, run, spawn};
pub use tools::{FOLDERS_VARIABLE, Tool, ToolName, ToolVersion, Tools};
