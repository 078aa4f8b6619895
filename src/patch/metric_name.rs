//! Direction and unit of a metric from the words a mail uses for it.

use super::claim::{ClaimMetric, Direction};

/// Units of which more is better, in lower case like all lists here.
const RATES: &[&str] = &[
    "kops/s",
    "mops/s",
    "kops",
    "krps",
    "kqps",
    "ktps",
    "gbit/s",
    "mbit/s",
    "gbits/s",
    "ops/sec",
    "ops/s",
    "op/s",
    "iops",
    "kiops",
    "qps",
    "tps",
    "rps",
    "txn/s",
    "mib/s",
    "mb/s",
    "gib/s",
    "gb/s",
    "kib/s",
    "kb/s",
    "kb/sec",
    "mb/sec",
    "gb/sec",
    "mbps",
    "gbps",
    "pages/s",
    "ops",
    "requests/s",
    "req/s",
    "reads/s",
    "writes/s",
    "mpps",
    "kpps",
    "pps",
    "mib/sec",
    "gib/sec",
    "bogo ops/s",
    "lps",
    "lpm",
    "mwips",
    "kbps",
    "ops/min",
    "requests/sec",
    "mb/s/node",
    "z/s",
    "txn/sec",
    "transactions/sec",
    "transactions/s",
    "tpmc",
    "b/s",
];
/// Units of which less is better.
const TIMES: &[&str] = &[
    "s", "sec", "secs", "seconds", "second", "ms", "us", "µs", "μs", "ns", "msec", "usec", "nsec", "min",
    "minutes", "cycles", "faults",
];
/// Units that tell no direction.
const AMOUNTS: &[&str] = &[
    "mb", "gb", "kb", "mib", "gib", "kib", "k", "m", "g", "t", "b", "x", "bytes", "pages", "w", "j", "times",
    "calls",
];
/// Other words that mean "more is better".
const HIGHER: &[&str] = &[
    "transactions",
    "throughput",
    "bandwidth",
    "operations",
    "hmean",
    "per_process_ops",
    "per_thread_ops",
    "score",
    "bw",
    "per sec",
    "rate",
    "workload",
    "bogo",
];
/// Other words that mean "less is better".
const LOWER: &[&str] = &[
    "time",
    "latency",
    "lat",
    "elapsed",
    "real",
    "sys",
    "user",
    "duration",
    "amean",
    "runtime",
    "fault",
    "majfault",
    "pgmajfault",
    "overhead",
    "stall",
    "wait",
    "contention",
    "refault",
    "refaults",
    "swapin",
    "swapout",
    "pswpin",
    "pswpout",
    "usage",
    "footprint",
    "rss",
    "misses",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99.9",
    "usecs/op",
    "nsecs/op",
    "msecs/op",
    "task-clock",
    "page-faults",
    "cache-misses",
    "context-switches",
];

/// Whether a word is a unit of measurement.
pub(crate) fn is_unit(word: &str) -> bool {
    let lower = word.trim_end_matches(['.', ',']).to_lowercase();
    let lower = lower.as_str();
    [RATES, TIMES, AMOUNTS].iter().any(|units| units.contains(&lower))
}

/// Whether a unit is a suffix that only scales, such as `k` or `M`.
pub(crate) fn scale_of(unit: &str) -> Option<f64> {
    match unit {
        "k" | "K" => Some(1e3),
        "M" => Some(1e6),
        "G" => Some(1e9),
        "T" => Some(1e12),
        _ => None,
    }
}

/// The metric of a name and an optional unit. The unit decides first, then the
/// words of the name, last word first.
pub(crate) fn metric(name: &str, unit: Option<&str>) -> ClaimMetric {
    let by_unit = unit.map_or(Direction::Unknown, unit_direction);
    let direction = if by_unit == Direction::Unknown { name_direction(name) } else { by_unit };
    let shown = if name.is_empty() { unit.unwrap_or("value") } else { name };
    ClaimMetric { name: shown.to_owned(), unit: unit.map(str::to_owned), direction }
}

/// `MB/s (+)` and the like in brackets at the end of a heading.
pub(crate) fn unit_in(name: &str) -> Option<String> {
    let open = name.rfind('(')?;
    let inner = name[open + 1..].split(')').next()?.trim();
    is_unit(inner).then(|| inner.to_owned())
}

fn unit_direction(unit: &str) -> Direction {
    let lower = unit.to_lowercase();
    let rate =
        ["sec", "second", "s", "min", "minute", "hour"].iter().any(|t| lower.ends_with(&format!("per {t}")));
    if rate { Direction::HigherIsBetter } else { word_direction(&lower) }
}

fn name_direction(name: &str) -> Direction {
    let lower = name.to_lowercase();
    if lower.starts_with("perf-profile") || lower.starts_with("perf-stat") {
        return Direction::Unknown;
    }
    if lower.starts_with("will-it-scale.") {
        return Direction::HigherIsBetter;
    }
    let separators = |c: char| c.is_whitespace() || matches!(c, '.' | ',' | '(' | ')' | ':' | '-' | '_');
    for word in lower.split(char::is_whitespace).rev().take(12) {
        let known = word_direction(word.trim_matches(|c: char| !c.is_alphanumeric()));
        if known != Direction::Unknown {
            return known;
        }
    }
    let mut words: Vec<&str> = lower.split(separators).filter(|w| !w.is_empty()).collect();
    words.truncate(40);
    let found = words.iter().rev().map(|w| word_direction(w)).find(|d| *d != Direction::Unknown);
    found.unwrap_or(Direction::Unknown)
}

fn word_direction(word: &str) -> Direction {
    if RATES.contains(&word) || HIGHER.contains(&word) {
        Direction::HigherIsBetter
    } else if TIMES.contains(&word) || LOWER.contains(&word) {
        Direction::LowerIsBetter
    } else {
        Direction::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_names_give_directions() {
        for (name, unit, direction) in [
            ("", Some("Ops/sec"), Direction::HigherIsBetter),
            ("System time", Some("s"), Direction::LowerIsBetter),
            ("Sum Throughput", Some("MB/s"), Direction::HigherIsBetter),
            ("will-it-scale.104.processes", None, Direction::HigherIsBetter),
            ("p99 latency", None, Direction::LowerIsBetter),
            ("network bandwidth", None, Direction::HigherIsBetter),
            ("counter_name", None, Direction::Unknown),
            ("perf-profile.self.cycles-pp.x", None, Direction::Unknown),
        ] {
            assert_eq!(metric(name, unit).direction, direction, "{name} {unit:?}");
        }
        assert!(is_unit("Ops/sec") && !is_unit("apples"));
    }
}
