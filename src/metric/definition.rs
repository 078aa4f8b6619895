//! Metric ids and what they mean.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use thiserror::Error;

/// A dotted name, `tool.metric` or `tool.metric.detail`, of `[a-z0-9_]` words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct MetricId(String);

/// A text that cannot be a metric id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is not a metric id; write lower-case words joined by dots, such as \"memcached.ops_per_sec\"")]
pub struct MetricIdError(pub String);

impl MetricId {
    /// Checks the form: at least two words of `[a-z0-9_]`, at most 120 bytes.
    pub fn new(text: impl Into<String>) -> Result<Self, MetricIdError> {
        let text = text.into();
        let word = |w: &str| {
            !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        let well_formed = text.len() <= 120 && text.contains('.') && text.split('.').all(word);
        if well_formed { Ok(MetricId(text)) } else { Err(MetricIdError(text)) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Borrow<str> for MetricId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for MetricId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        MetricId::new(String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    HigherIsBetter,
    LowerIsBetter,
    /// A counter or gauge that is neither good nor bad by itself.
    Neutral,
}

/// What sort of quantity it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Throughput,
    Latency,
    Duration,
    Counter,
    Gauge,
}

impl Kind {
    /// Whether it depends on how fast the machine is.
    pub fn is_about_time(self) -> bool {
        matches!(self, Kind::Throughput | Kind::Latency | Kind::Duration)
    }
}

/// The unit a value is stored in: always a base unit, scaled only for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    Count,
    PerSecond,
    Bytes,
    BytesPerSecond,
    Seconds,
    Nanoseconds,
    NanosecondsPerPage,
    NanosecondsPerOperation,
    Percent,
    Ratio,
    Pages,
}

impl Unit {
    /// The symbol that follows a value on an axis or in a table.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Count => "",
            Unit::PerSecond => "/s",
            Unit::Bytes => "B",
            Unit::BytesPerSecond => "B/s",
            Unit::Seconds => "s",
            Unit::Nanoseconds => "ns",
            Unit::NanosecondsPerPage => "ns/page",
            Unit::NanosecondsPerOperation => "ns/op",
            Unit::Percent => "%",
            Unit::Ratio => "",
            Unit::Pages => "pages",
        }
    }
}

/// A metric and how to read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricDefinition {
    pub id: MetricId,
    pub unit: Unit,
    pub direction: Direction,
    pub kind: Kind,
    /// One sentence fragment for tables and axes, such as "operations per second".
    pub label: String,
}

/// One value of one metric, self-describing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    pub metric: MetricDefinition,
    pub value: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_dotted_lower_case_words() {
        assert!(MetricId::new("memcached.ops_per_sec").is_ok());
        assert!(MetricId::new("will_it_scale.pread2.per_process_ops").is_ok());
        for bad in ["", "ops", "Memcached.ops", "a..b", ".a", "a.b-c", "a.b/../c", "a. b"] {
            assert!(MetricId::new(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<MetricId>("\"../x\"").is_err());
    }
}
