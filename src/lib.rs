//! `run-bench`: a verdict that holds for a kernel memory-management patch.
//!
//! The modules form layers; each imports only from lower ones, which
//! `tests/architecture.rs` checks:
//!
//! ```text
//! 0 units     1 input metric stats patch     2 model host     3 config exec     4 store
//! 5 workload sample calibrate          6 trial predict  7 target          8 campaign
//! 9 fleet    10 import analyze          11 report  12 faults  13 cli
//! ```

pub mod units;

pub mod input;

pub mod metric;
pub mod patch;
pub mod stats;

pub mod host;
pub mod model;

pub mod config;
pub mod exec;

pub mod store;

pub mod calibrate;
pub mod sample;
pub mod workload;

pub mod predict;
pub mod trial;

pub mod target;

pub mod campaign;

pub mod fleet;

pub mod analyze;
pub mod import;

pub mod report;

pub mod faults;

pub mod cli;
