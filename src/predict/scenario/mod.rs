//! An experiment as the reclaim model sees it.
//!
//! What the model has no notion of (time, threads, the client) is left out, and
//! each such choice is a sentence in the notes.

mod arm;
#[cfg(test)]
mod tests;
mod workload;

pub use arm::{ArmScenario, Preference, arm_scenario, version_of_release};
pub use workload::{NotModelled, WorkloadStream, workload_stream};
