//! Workloads: commands, readiness, parsing and validity rules of each load tool.
//!
//! Each workload takes its section of the experiment and a [`Context`], and
//! returns an [`Outcome`]: raw measurements, and the violations of its validity
//! rules with their evidence. It decides nothing about the comparison.

mod contract;
pub mod driver;
mod error;
mod marks;
pub mod memcached;

pub use contract::{Context, Outcome};
pub use error::WorkloadError;
pub use marks::{Marks, Phase};
