//! What a load generator reports, whichever it was. Fields as in memtier's JSON,
//! in base units: latencies in nanoseconds, rates per second.

use serde::Deserialize;
use serde::Serialize;

use crate::units::Nanos;

/// Latencies at the quantiles that memtier prints by default, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
}

/// One kind of operation, or all of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandResult {
    pub count: u64,
    pub ops_per_sec: f64,
    pub hits_per_sec: f64,
    pub misses_per_sec: f64,
    pub sent_bytes_per_sec: Option<f64>,
    pub received_bytes_per_sec: Option<f64>,
    pub bytes_per_sec: f64,
    /// None when there was no operation.
    pub latency_mean: Option<f64>,
    pub latency_min: Option<f64>,
    pub latency_max: Option<f64>,
    pub quantiles: Quantiles,
}

/// One run; with `repeat` there are several against the same server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadRun {
    /// From 1.
    pub index: u32,
    pub duration: Nanos,
    pub sets: CommandResult,
    pub gets: CommandResult,
    pub totals: CommandResult,
    /// Operations in each second of the run.
    pub ops_per_second: Vec<u64>,
    pub connection_errors: u64,
}
