//! The metrics that the built-in workloads report.

use std::sync::LazyLock;

use super::{Direction, Kind, Measurement, MetricDefinition, MetricId, Unit};

type Row = (&'static str, Unit, Direction, Kind, &'static str);

use Direction::{HigherIsBetter as Higher, LowerIsBetter as Lower, Neutral};

/// One row a metric. Workloads add rows here, never definitions elsewhere.
const ROWS: &[Row] = &[
    ("memcached.ops_per_sec", Unit::PerSecond, Higher, Kind::Throughput, "operations per second"),
    ("memcached.set_per_sec", Unit::PerSecond, Higher, Kind::Throughput, "SET per second"),
    ("memcached.get_per_sec", Unit::PerSecond, Higher, Kind::Throughput, "GET per second"),
    ("memcached.hit_share", Unit::Ratio, Neutral, Kind::Gauge, "share of GETs that hit"),
    ("memcached.latency_mean", Unit::Nanoseconds, Lower, Kind::Latency, "mean latency"),
    ("memcached.latency_p50", Unit::Nanoseconds, Lower, Kind::Latency, "median latency"),
    ("memcached.latency_p99", Unit::Nanoseconds, Lower, Kind::Latency, "99th percentile latency"),
    ("memcached.latency_p999", Unit::Nanoseconds, Lower, Kind::Latency, "99.9th percentile latency"),
    ("memcached.bytes_per_sec", Unit::BytesPerSecond, Higher, Kind::Throughput, "bytes per second"),
    (
        "memcached.server_cpu_per_op",
        Unit::NanosecondsPerOperation,
        Lower,
        Kind::Latency,
        "server processor time per operation",
    ),
    (
        "memcached.client_cpu_per_op",
        Unit::NanosecondsPerOperation,
        Neutral,
        Kind::Gauge,
        "driver processor time per operation",
    ),
    ("fio.read_iops", Unit::PerSecond, Higher, Kind::Throughput, "reads per second"),
    ("fio.write_iops", Unit::PerSecond, Higher, Kind::Throughput, "writes per second"),
    ("fio.read_bytes_per_sec", Unit::BytesPerSecond, Higher, Kind::Throughput, "read bandwidth"),
    ("fio.write_bytes_per_sec", Unit::BytesPerSecond, Higher, Kind::Throughput, "write bandwidth"),
    ("fio.read_latency_mean", Unit::Nanoseconds, Lower, Kind::Latency, "mean read completion latency"),
    ("fio.read_latency_p99", Unit::Nanoseconds, Lower, Kind::Latency, "99th percentile read latency"),
    ("fio.write_latency_mean", Unit::Nanoseconds, Lower, Kind::Latency, "mean write completion latency"),
    ("fio.write_latency_p99", Unit::Nanoseconds, Lower, Kind::Latency, "99th percentile write latency"),
    ("fio.touched_share", Unit::Ratio, Neutral, Kind::Gauge, "share of blocks touched"),
    ("netperf.bytes_per_sec", Unit::BytesPerSecond, Higher, Kind::Throughput, "sum of all pairs"),
    ("netperf.pair_bytes_per_sec_min", Unit::BytesPerSecond, Higher, Kind::Throughput, "slowest pair"),
    ("netperf.pair_bytes_per_sec_max", Unit::BytesPerSecond, Higher, Kind::Throughput, "fastest pair"),
    ("netperf.transactions_per_sec", Unit::PerSecond, Higher, Kind::Throughput, "transactions per second"),
    (
        "will_it_scale.per_process_ops",
        Unit::PerSecond,
        Higher,
        Kind::Throughput,
        "operations per second per process",
    ),
    (
        "will_it_scale.per_thread_ops",
        Unit::PerSecond,
        Higher,
        Kind::Throughput,
        "operations per second per thread",
    ),
    ("will_it_scale.workload", Unit::PerSecond, Higher, Kind::Throughput, "operations per second, all tasks"),
    ("command.wall_time", Unit::Seconds, Lower, Kind::Duration, "elapsed time"),
    ("command.user_time", Unit::Seconds, Lower, Kind::Duration, "user time"),
    ("command.system_time", Unit::Seconds, Lower, Kind::Duration, "system time"),
    ("command.max_rss", Unit::Bytes, Lower, Kind::Gauge, "largest resident set"),
    ("command.major_faults", Unit::Count, Lower, Kind::Counter, "major page faults"),
    ("command.minor_faults", Unit::Count, Neutral, Kind::Counter, "minor page faults"),
    ("usemem.bytes_per_sec", Unit::BytesPerSecond, Higher, Kind::Throughput, "memory touched per second"),
    ("usemem.free_latency", Unit::NanosecondsPerPage, Lower, Kind::Latency, "time to free a page"),
    ("reclaim_probe.ns_per_page", Unit::NanosecondsPerPage, Lower, Kind::Latency, "reclaim time per page"),
    (
        "reclaim_probe.low_ns_per_page",
        Unit::NanosecondsPerPage,
        Lower,
        Kind::Latency,
        "reclaim time per page, low decile",
    ),
    (
        "reclaim_probe.cpu_ns_per_page",
        Unit::NanosecondsPerPage,
        Lower,
        Kind::Latency,
        "processor time of reclaim per page",
    ),
    (
        "reclaim_probe.ns_per_scan",
        Unit::NanosecondsPerPage,
        Lower,
        Kind::Latency,
        "reclaim time per scanned page",
    ),
    ("reclaim_probe.efficiency", Unit::Ratio, Higher, Kind::Gauge, "pages reclaimed per page scanned"),
    ("file_read.bytes_per_sec", Unit::BytesPerSecond, Higher, Kind::Throughput, "buffered read bandwidth"),
    ("file_read.ops_per_sec", Unit::PerSecond, Higher, Kind::Throughput, "buffered reads per second"),
];

static DEFINITIONS: LazyLock<Vec<MetricDefinition>> = LazyLock::new(|| {
    let mut all: Vec<MetricDefinition> = ROWS
        .iter()
        .map(|&(id, unit, direction, kind, label)| MetricDefinition {
            id: MetricId::new(id).expect("the table holds well-formed ids, which a test checks"),
            unit,
            direction,
            kind,
            label: label.to_owned(),
        })
        .collect();
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
});

/// Every built-in metric, in the order of its id.
pub fn definitions() -> &'static [MetricDefinition] {
    &DEFINITIONS
}

/// The built-in metric of this id.
pub fn definition(id: &str) -> Option<&'static MetricDefinition> {
    let at = DEFINITIONS.binary_search_by(|d| d.id.as_str().cmp(id)).ok()?;
    Some(&DEFINITIONS[at])
}

/// A value of a built-in metric.
///
/// # Panics
/// When the table has no such id, which is a mistake in the caller's text.
pub fn measurement(id: &str, value: f64) -> Measurement {
    let metric = definition(id).unwrap_or_else(|| panic!("{id} is not in the table of metrics"));
    Measurement { metric: metric.clone(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_found() {
        for pair in definitions().windows(2) {
            assert!(pair[0].id < pair[1].id, "{} stands twice", pair[0].id);
        }
        for row in ROWS {
            assert_eq!(definition(row.0).map(|d| d.unit), Some(row.1));
        }
        assert!(definition("memcached.nothing").is_none());
    }

    #[test]
    fn throughput_is_never_lower_is_better() {
        for d in definitions() {
            let wrong = matches!(
                (d.kind, d.direction),
                (Kind::Throughput, Lower) | (Kind::Latency | Kind::Duration, Higher)
            );
            assert!(!wrong, "{}", d.id);
        }
    }
}
