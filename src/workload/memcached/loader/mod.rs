//! The built-in load generator: memtier's options and sequence of keys at a
//! fraction of its processor time.
//!
//! Requests are rendered once and patched in place, a pipeline goes out in one
//! system call, answers are judged by their framing, and clocks are read once a
//! batch. It runs as `run-bench __driver memcached-load`.

mod connection;
mod keys;
mod process;
mod random;
mod request;
mod response;
mod spec;
mod tally;
mod worker;

pub use process::{DRIVER, LoaderReport, drive, main};
pub use spec::{Endpoint, LoaderSpec, Requests};

#[cfg(test)]
mod keys_tests;
