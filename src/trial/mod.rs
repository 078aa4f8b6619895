//! One trial: set up, warm up, measure, tear down, one record.
//!
//! ```text
//! spec ─▶ prepare host (journalled) ─▶ workload with sampler ─▶ judge ─▶ undo ─▶ record
//! ```
//! A trial is a process of its own. Whatever happens to it, the journal undoes
//! what it did to the host: here at its end, or at the next start.

mod disturbance;
mod error;
mod host_setup;
mod identity;
mod judge;
mod perf;
mod run;

pub(crate) use disturbance::Disturbance;
pub use error::TrialError;
pub use identity::{kernel_identity, stable_host_name};
pub(crate) use judge::{out_of_memory, wrong_kernel};
pub use run::run;
