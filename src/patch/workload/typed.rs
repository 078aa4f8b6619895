//! Workloads as typed settings. Paths, users and addresses of the author are
//! not among the fields: ours take their place.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Nanos};

/// A memcached server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemcachedServer {
    pub memory: Option<Bytes>,
    pub threads: Option<u32>,
    pub unix_socket: bool,
    pub protocol: Option<String>,
    pub connections: Option<u32>,
}

/// A memtier_benchmark load.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemtierLoad {
    pub protocol: Option<String>,
    /// A number or `allkeys`.
    pub requests: Option<String>,
    pub clients: Option<u32>,
    pub threads: Option<u32>,
    /// `-x`: repeats against one server.
    pub repeats: Option<u32>,
    pub value: Option<Bytes>,
    pub ratio: Option<String>,
    pub pipeline: Option<u32>,
    pub key_minimum: Option<u64>,
    pub key_maximum: Option<u64>,
    pub key_pattern: Option<String>,
    pub test_time: Option<Nanos>,
    pub random_data: bool,
}

/// One fio job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FioJob {
    pub name: Option<String>,
    pub jobs: Option<u32>,
    pub size: Option<Bytes>,
    pub direct: Option<bool>,
    pub engine: Option<String>,
    pub depth: Option<u32>,
    pub batch_submit: Option<u32>,
    pub batch_complete: Option<u32>,
    /// `randread`, `read`, `randrw`, …
    pub pattern: Option<String>,
    pub read_share: Option<u32>,
    pub distribution: Option<String>,
    pub no_random_map: bool,
    pub time_based: bool,
    pub ramp: Option<Nanos>,
    pub runtime: Option<Nanos>,
    pub block: Option<Bytes>,
}

/// netperf, alone or in pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NetperfRun {
    pub test: Option<String>,
    pub duration: Option<Nanos>,
    pub pairs: Option<u32>,
}

/// A will-it-scale test.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WillItScaleRun {
    pub test: Option<String>,
    /// `process` or `thread`.
    pub mode: Option<String>,
    /// A count, or a share of the processors such as `100%`.
    pub tasks: Option<String>,
}

/// usemem of vm-scalability.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsememRun {
    pub processes: Option<u32>,
    pub threads: Option<u32>,
    pub size: Option<Bytes>,
    pub repeats: Option<u32>,
    pub random: bool,
    pub readonly: bool,
}

/// A kernel build as a workload.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KernelBuild {
    pub jobs: Option<u32>,
    pub target: Option<String>,
}

/// A sysbench test.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SysbenchRun {
    pub test: Option<String>,
    pub threads: Option<u32>,
    pub time: Option<Nanos>,
    pub tables: Option<u32>,
    pub table_size: Option<u64>,
}

/// A workload that a mail runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    Memcached(MemcachedServer),
    Memtier(MemtierLoad),
    Fio(FioJob),
    Netperf(NetperfRun),
    WillItScale(WillItScaleRun),
    Usemem(UsememRun),
    KernelBuild(KernelBuild),
    Sysbench(SysbenchRun),
    /// A benchmark that no workload of ours stands for.
    Other {
        program: String,
    },
}

impl Workload {
    /// The program's name.
    pub fn name(&self) -> &str {
        match self {
            Workload::Memcached(_) => "memcached",
            Workload::Memtier(_) => "memtier_benchmark",
            Workload::Fio(_) => "fio",
            Workload::Netperf(_) => "netperf",
            Workload::WillItScale(_) => "will-it-scale",
            Workload::Usemem(_) => "usemem",
            Workload::KernelBuild(_) => "kernel build",
            Workload::Sysbench(_) => "sysbench",
            Workload::Other { program } => program,
        }
    }
}

/// A command of a mail: what it means, and what of it we do not support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    pub workload: Workload,
    /// Options we do not know, as written.
    pub unsupported: Vec<String>,
    /// Options whose path, user or address is replaced by ours.
    pub replaced: Vec<String>,
    /// Carried over from a test described before.
    pub inherited: bool,
}
