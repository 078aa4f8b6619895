//! `[workload.memcached]`: a memcached server under memtier's load.

use serde::{Deserialize, Serialize};

use super::section::check_range;
use crate::config::error::Problem;
use crate::units::{Bytes, Nanos};

/// How the load reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Socket {
    /// A private unix socket.
    #[default]
    Unix,
    /// TCP on the loopback address.
    Tcp,
}

/// Which program makes the load. Never mixed within a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Driver {
    /// The real tool where it is present, else the built-in one; fixed for a campaign at its start.
    #[default]
    Auto,
    /// The real tool: memtier_benchmark, netperf, will-it-scale.
    #[serde(alias = "memtier", alias = "netperf", alias = "will-it-scale")]
    Tool,
    Builtin,
}

/// memcached's wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    #[default]
    Binary,
    Text,
}

/// memtier's key patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyPattern {
    /// Parallel: the range is divided between the connections.
    #[serde(rename = "P")]
    Parallel,
    /// Sequential: every connection walks the whole range.
    #[serde(rename = "S")]
    Sequential,
    /// Uniformly random.
    #[serde(rename = "R")]
    Random,
    /// Gaussian around the middle of the range.
    #[serde(rename = "G")]
    Gaussian,
    /// Zipf with `zipf-exponent`.
    #[serde(rename = "Z")]
    Zipf,
}

/// What values are made of. Constant bytes flatter a compressing swap device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueBytes {
    /// memtier's default.
    #[default]
    Constant,
    Random,
}

/// The server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MemcachedWorkload {
    /// memcached `-m`.
    pub memory: Bytes,
    /// memcached `-t`.
    pub threads: u32,
    #[serde(default)]
    pub socket: Socket,
    /// memcached `-c`.
    #[serde(default = "default_connections")]
    pub max_connections: u32,
    /// The author's set-up evicts, so evictions do not make a trial invalid.
    #[serde(default)]
    pub allow_evictions: bool,
    pub load: LoadSection,
}

fn default_connections() -> u32 {
    1024
}

/// The load, in memtier's terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadSection {
    #[serde(default)]
    pub driver: Driver,
    #[serde(default)]
    pub protocol: Protocol,
    /// Keys 1 to this number, unless `key-minimum` says otherwise.
    pub keys: u64,
    #[serde(default = "one")]
    pub key_minimum: u64,
    pub value: Bytes,
    #[serde(default)]
    pub values: ValueBytes,
    /// SET pattern and GET pattern, as `"P:P"`.
    #[serde(default = "parallel")]
    pub pattern: String,
    /// SET to GET, as `"1:0"`.
    #[serde(default = "set_only")]
    pub ratio: String,
    #[serde(default = "default_zipf")]
    pub zipf_exponent: f64,
    /// Connections of each thread.
    pub clients: u32,
    pub threads: u32,
    #[serde(default = "one_u32")]
    pub pipeline: u32,
    /// memtier `-x`: runs within one server. The first fills, later ones overwrite.
    #[serde(default = "one_u32")]
    pub repeat: u32,
    /// Requests of each connection; the share of all keys (`allkeys`) when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Run for this long instead of counting requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Nanos>,
    /// Fill all keys once, unmeasured, before the measured run.
    #[serde(default)]
    pub fill: bool,
}

fn one() -> u64 {
    1
}

fn one_u32() -> u32 {
    1
}

fn parallel() -> String {
    "P:P".to_owned()
}

fn set_only() -> String {
    "1:0".to_owned()
}

fn default_zipf() -> f64 {
    1.0
}

impl LoadSection {
    /// The SET and the GET pattern, or `None` when the text is neither.
    pub fn patterns(&self) -> Option<(KeyPattern, KeyPattern)> {
        let letter = |text: &str| match text {
            "P" => Some(KeyPattern::Parallel),
            "S" => Some(KeyPattern::Sequential),
            "R" => Some(KeyPattern::Random),
            "G" => Some(KeyPattern::Gaussian),
            "Z" => Some(KeyPattern::Zipf),
            _ => None,
        };
        let (set, get) = self.pattern.split_once(':')?;
        Some((letter(set)?, letter(get)?))
    }

    /// SETs and GETs in a round, or `None` when the text is not a ratio.
    pub fn set_get_ratio(&self) -> Option<(u32, u32)> {
        let (set, get) = self.ratio.split_once(':')?;
        let pair = (set.parse().ok()?, get.parse().ok()?);
        (pair != (0, 0)).then_some(pair)
    }

    pub fn connections(&self) -> u64 {
        u64::from(self.clients) * u64::from(self.threads)
    }

    /// Keys in the range.
    pub fn key_count(&self) -> u64 {
        (self.keys + 1).saturating_sub(self.key_minimum)
    }

    /// Requests of each connection in one run.
    pub fn requests_per_connection(&self) -> u64 {
        self.requests.unwrap_or_else(|| self.key_count() / self.connections().max(1))
    }
}

impl MemcachedWorkload {
    pub fn validate(&self, problems: &mut Vec<Problem>) {
        let key = "workload.memcached";
        let load = &self.load;
        check_range(&format!("{key}.memory"), self.memory.0, 1 << 20, 1 << 46, problems);
        check_range(&format!("{key}.threads"), self.threads.into(), 1, 1024, problems);
        check_range(&format!("{key}.load.clients"), load.clients.into(), 1, 10_000, problems);
        check_range(&format!("{key}.load.threads"), load.threads.into(), 1, 1024, problems);
        check_range(&format!("{key}.load.pipeline"), load.pipeline.into(), 1, 10_000, problems);
        check_range(&format!("{key}.load.repeat"), load.repeat.into(), 1, 1000, problems);
        check_range(&format!("{key}.load.value"), load.value.0, 1, 1 << 20, problems);
        check_range(&format!("{key}.load.keys"), load.keys, 1, 1 << 40, problems);
        if load.key_minimum > load.keys {
            problems
                .push(Problem::new(format!("{key}.load.key-minimum"), "lies above keys; the range is empty"));
        }
        if !(load.zipf_exponent > 0.0 && load.zipf_exponent <= 5.0) {
            problems
                .push(Problem::new(format!("{key}.load.zipf-exponent"), "write more than 0 and at most 5"));
        }
        self.validate_patterns(problems);
        if load.connections() + 8 > u64::from(self.max_connections) {
            problems.push(Problem::new(
                format!("{key}.max-connections"),
                format!(
                    "{} connections do not fit {}; memcached would refuse some silently. Raise max-connections or lower clients x threads",
                    load.connections(),
                    self.max_connections
                ),
            ));
        }
        if load.requests == Some(0) {
            problems.push(Problem::new(
                format!("{key}.load.requests"),
                "0 requests do no work; leave it out for all keys",
            ));
        }
    }

    fn validate_patterns(&self, problems: &mut Vec<Problem>) {
        let (key, load) = ("workload.memcached.load", &self.load);
        match load.patterns() {
            None => problems.push(Problem::new(
                format!("{key}.pattern"),
                format!(
                    "{:?} is not a pair of P, S, R, G, Z; write the SET and the GET pattern as \"P:P\"",
                    load.pattern
                ),
            )),
            Some((set, get)) => {
                let parallel = [set, get].iter().filter(|p| **p == KeyPattern::Parallel).count();
                if parallel == 1 {
                    problems.push(Problem::new(
                        format!("{key}.pattern"),
                        "P for one side only leaves connections outside the filled range; write P:P or none",
                    ));
                }
                if parallel > 0 && load.key_count() < load.connections() {
                    problems.push(Problem::new(
                        format!("{key}.keys"),
                        format!(
                            "{} keys cannot be divided between {} connections",
                            load.key_count(),
                            load.connections()
                        ),
                    ));
                }
            }
        }
        if load.set_get_ratio().is_none() {
            problems.push(Problem::new(
                format!("{key}.ratio"),
                format!("{:?} is not a ratio; write SETs and GETs as \"1:0\" or \"1:10\"", load.ratio),
            ));
        }
    }
}
