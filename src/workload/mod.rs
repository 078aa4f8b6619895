//! Workloads: commands, readiness, parsing and validity rules of each load tool.
//!
//! Each workload takes its section of the experiment and a [`Context`], and
//! returns an [`Outcome`]: raw measurements, and the violations of its validity
//! rules with their evidence. It decides nothing about the comparison.

mod builtin;
#[cfg(test)]
mod captures;
pub mod command;
mod contract;
pub mod driver;
mod error;
pub mod file_read;
mod file_system;
pub mod fio;
mod layout;
mod marks;
pub mod memcached;
pub mod netperf;
mod phases;
pub mod reclaim_probe;
mod run;
pub mod usemem;
pub mod will_it_scale;

pub use contract::{Context, Outcome};
pub use error::WorkloadError;
pub use marks::{Marks, Phase};
pub use run::run;
