//! `run-bench`: a verdict that holds for a kernel memory-management patch.
//!
//! The modules form layers; each imports only from lower ones, which
//! `tests/architecture.rs` checks:
//!
//! ```text
//! 0 units     1 metric stats patch     2 model config host     3 exec store
//! 4 workload sample calibrate          5 trial predict         6 target
//! 7 campaign  8 import analyze         9 report                10 cli
//! ```

pub mod units;

pub mod metric;
pub mod patch;
pub mod stats;

pub mod config;
pub mod host;
pub mod model;

pub mod exec;
pub mod store;

pub mod calibrate;
pub mod sample;
pub mod workload;

pub mod predict;
pub mod trial;

pub mod target;

pub mod campaign;

pub mod analyze;
pub mod import;

pub mod report;

pub mod cli;
