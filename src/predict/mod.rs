//! Forecasts: claims and patches to model flags, priced against a profile.
//!
//! An experiment becomes scenarios of the reclaim model here: a configuration
//! for each arm, a stream for each workload.

pub mod scenario;
