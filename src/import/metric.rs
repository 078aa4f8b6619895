//! The metric of ours that a claim is about, and its values in our base unit.

use crate::metric::MetricId;
use crate::patch::{Claim, Workload};

/// Our metric for a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedMetric {
    pub id: MetricId,
    /// A printed value times this is in the metric's base unit.
    pub factor: f64,
}

/// Finds the metric by the workloads of the claim's setting, its unit and its name.
pub fn imported_metric(claim: &Claim, workloads: &[&Workload]) -> Option<ImportedMetric> {
    let name = claim.metric.name.to_lowercase();
    let unit = claim.metric.unit.as_deref().unwrap_or("").to_lowercase();
    let found = workloads.iter().find_map(|workload| of_workload(workload, &name, &unit));
    let (id, factor) = found?;
    Some(ImportedMetric { id: MetricId::new(id).ok()?, factor })
}

fn of_workload(workload: &Workload, name: &str, unit: &str) -> Option<(&'static str, f64)> {
    match workload {
        Workload::Memcached(_) | Workload::Memtier(_) => memcached(name, unit),
        Workload::Fio(job) => fio(name, unit, job.pattern.as_deref().unwrap_or("randread")),
        Workload::Netperf(run) => {
            let transactions = run.test.as_deref().is_some_and(|t| t.ends_with("_RR"));
            if transactions {
                Some(("netperf.transactions_per_sec", 1.0))
            } else {
                bandwidth(name, unit).map(|f| ("netperf.bytes_per_sec", f))
            }
        }
        Workload::WillItScale(_) => will_it_scale(name),
        Workload::Usemem(_) => bytes_per_second(unit).map(|f| ("usemem.bytes_per_sec", f)),
        Workload::KernelBuild(_) => command_time(name, unit),
        Workload::Sysbench(_) | Workload::Other { .. } => None,
    }
}

fn memcached(name: &str, unit: &str) -> Option<(&'static str, f64)> {
    let rate = ["ops/sec", "ops/s", "ops", "qps", "rps", "tps", "requests/sec"].contains(&unit);
    let kilo = ["kops/s", "kops", "krps", "kqps"].contains(&unit);
    if rate || kilo {
        return Some(("memcached.ops_per_sec", if kilo { 1e3 } else { 1.0 }));
    }
    if let Some(factor) = time(unit) {
        let id = if name.contains("p99.9") {
            "memcached.latency_p999"
        } else if name.contains("p99") {
            "memcached.latency_p99"
        } else if name.contains("p50") || name.contains("median") {
            "memcached.latency_p50"
        } else {
            "memcached.latency_mean"
        };
        return Some((id, factor * 1e9));
    }
    if let Some(factor) = bytes_per_second(unit) {
        return Some(("memcached.bytes_per_sec", factor));
    }
    let words = name.contains("throughput") || name.contains("ops") || name.contains("performance");
    (unit.is_empty() && words).then_some(("memcached.ops_per_sec", 1.0))
}

fn fio(name: &str, unit: &str, pattern: &str) -> Option<(&'static str, f64)> {
    let write = name.contains("write") || (!name.contains("read") && pattern.ends_with("write"));
    if unit == "iops" || name.contains("iops") {
        let factor = if unit == "kiops" { 1e3 } else { 1.0 };
        return Some((if write { "fio.write_iops" } else { "fio.read_iops" }, factor));
    }
    if let Some(factor) = time(unit).filter(|_| name.contains("lat")) {
        return Some((if write { "fio.write_latency_mean" } else { "fio.read_latency_mean" }, factor * 1e9));
    }
    let factor = bandwidth(name, unit)?;
    Some((if write { "fio.write_bytes_per_sec" } else { "fio.read_bytes_per_sec" }, factor))
}

fn will_it_scale(name: &str) -> Option<(&'static str, f64)> {
    let id = if name.contains("per_process_ops") {
        "will_it_scale.per_process_ops"
    } else if name.contains("per_thread_ops") {
        "will_it_scale.per_thread_ops"
    } else if name.starts_with("will-it-scale") {
        "will_it_scale.workload"
    } else {
        return None;
    };
    Some((id, 1.0))
}

fn command_time(name: &str, unit: &str) -> Option<(&'static str, f64)> {
    let factor = time(unit).or_else(|| unit.is_empty().then_some(1.0))?;
    let id = if name.contains("sys") {
        "command.system_time"
    } else if name.contains("user") {
        "command.user_time"
    } else {
        "command.wall_time"
    };
    Some((id, factor))
}

/// Seconds in a time unit.
fn time(unit: &str) -> Option<f64> {
    match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "ms" | "msec" => Some(1e-3),
        "us" | "µs" | "μs" | "usec" => Some(1e-6),
        "ns" | "nsec" => Some(1e-9),
        "min" | "minutes" => Some(60.0),
        _ => None,
    }
}

/// Bytes per second in a unit, or 1 for a bandwidth named without one.
fn bandwidth(name: &str, unit: &str) -> Option<f64> {
    let named =
        ["bandwidth", "throughput", "bw", "performance", "read", "write"].iter().any(|w| name.contains(w));
    bytes_per_second(unit).or_else(|| (unit.is_empty() && named).then_some(1.0))
}

fn bytes_per_second(unit: &str) -> Option<f64> {
    match unit {
        "kib/s" | "kb/sec" => Some(1024.0),
        "mib/s" => Some(1024.0 * 1024.0),
        "gib/s" => Some(1024.0 * 1024.0 * 1024.0),
        "kb/s" => Some(1e3),
        "mb/s" | "mb/sec" => Some(1e6),
        "gb/s" | "gb/sec" => Some(1e9),
        "mbps" | "mbit/s" | "mb/s/node" => Some(1e6 / 8.0),
        "gbps" | "gbit/s" | "gbits/s" => Some(1e9 / 8.0),
        _ => None,
    }
}
