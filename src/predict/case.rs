//! Workloads that a forecast can be made for: their streams at a size that a
//! simulation finishes in seconds, and what they do outside the modelled paths.

use crate::calibrate::MachineShape;
use crate::config::Limit;
use crate::config::MemcgSection;
use crate::config::workload::{ListOrder, ScaleCase, TouchDistribution, Workload};
use crate::model::stream::FioPattern;
use crate::model::stream::fio::ZipfHash;
use crate::units::Bytes;

/// Time an operation spends outside what is priced: a 90% range and its grounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Think {
    pub low: f64,
    pub median: f64,
    pub high: f64,
    pub grounds: &'static str,
}

/// What a workload does to memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Random reads of files over a limit.
    Reads { jobs: u32, blocks: u32, pattern: FioPattern, limit: Bytes, write_percent: u32 },
    /// memcached filled in key order over a limit.
    Server { keys: u64, value: Bytes, memory: Bytes, limit: Bytes, connections: u16, pipeline: u32 },
    /// Every task reads the same page of a tmpfs file.
    OnePage,
    /// Blocks allocated on one processor and freed on another.
    Buffers { pairs: u32, order: u8, window: u32, burst: u32 },
    /// Pages of anonymous type that were written as files, beside faulted ones.
    Levels,
    /// Reclaim alone, a page at a time.
    Probe { shuffled: bool },
}

/// A workload with everything a forecast needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub name: &'static str,
    pub metric: &'static str,
    pub higher_is_better: bool,
    pub tasks: u32,
    pub think: Think,
    /// A stated or measured baseline, in operations a second of all tasks.
    pub baseline: Option<f64>,
    pub kind: Kind,
}

/// Names that `--workload` and claims take.
pub const NAMES: [&str; 8] =
    ["fio", "memtier", "memtier-i7", "pread2", "sctp", "iperf3", "active-anon", "reclaim-probe"];

const READ_PATH: Think = Think {
    low: 1500.0,
    median: 2800.0,
    high: 6000.0,
    grounds: "assumed: a buffered 4 KiB read through io_uring, VFS and ext4 takes 1.5 to 6 us of a core beside reclaim",
};
const SET_PATH: Think = Think {
    low: 60_000.0,
    median: 200_000.0,
    high: 400_000.0,
    grounds: "assumed: 40 to 250 k SETs a second over 16 threads are what memtier over a unix socket is reported at under over-commit",
};
const PREAD_PATH: Think = Think {
    low: 100.0,
    median: 180.0,
    high: 350.0,
    grounds: "assumed: entry, file position and a copy of 4 KiB from cache",
};
const MESSAGE_PATH: Think = Think {
    low: 40_000.0,
    median: 64_000.0,
    high: 120_000.0,
    grounds: "assumed: a message of 32 KiB takes both sides of an SCTP pair 40 to 120 us together, copies left out",
};
const SEGMENT_PATH: Think = Think {
    low: 9000.0,
    median: 15_000.0,
    high: 28_000.0,
    grounds: "assumed: 32 KiB take both sides of a TCP pair 9 to 28 us together over loopback, copies left out",
};
const PROBE_PATH: Think = Think {
    low: 70.0,
    median: 130.0,
    high: 260.0,
    grounds: "assumed: freeing one clean page outside lru_lock",
};
const NO_PATH: Think = Think { low: 0.0, median: 0.0, high: 0.0, grounds: "a level, not a speed" };

fn plain(name: &'static str, metric: &'static str, tasks: u32, think: Think, kind: Kind) -> Case {
    Case { name, metric, higher_is_better: true, tasks, think, baseline: None, kind }
}

impl Case {
    /// A workload by name, as the patches' authors ran it.
    pub fn named(name: &str, machine: &MachineShape) -> Option<Case> {
        let zipf = FioPattern::Zipf { theta: 0.5, hash: ZipfHash::Since2016 };
        let server = |keys, memory, limit| Kind::Server {
            keys,
            value: Bytes::kib(1),
            memory: Bytes::gib(memory),
            limit: Bytes::gib(limit),
            connections: 32,
            pipeline: 8,
        };
        Some(match name {
            "fio" => {
                let (jobs, blocks, limit) = (16, 245_760, Bytes::gib(4));
                let kind = Kind::Reads { jobs, blocks, pattern: zipf, limit, write_percent: 0 };
                plain("fio", "fio.read_iops", jobs, READ_PATH, kind)
            }
            "memtier" => plain("memtier", "memcached.ops_per_sec", 16, SET_PATH, server(16_000_000, 16, 4)),
            "memtier-i7" => {
                plain("memtier-i7", "memcached.ops_per_sec", 16, SET_PATH, server(36_000_000, 40, 8))
            }
            "pread2" => {
                plain("pread2", "will_it_scale.per_process_ops", machine.cpus, PREAD_PATH, Kind::OnePage)
            }
            "sctp" => {
                let kind = Kind::Buffers { pairs: 64, order: 3, window: 6, burst: 6 };
                plain("sctp", "netperf.bytes_per_sec", 128, MESSAGE_PATH, kind)
            }
            // One pair for every two processors, larger windows than SCTP's.
            "iperf3" => {
                let kind = Kind::Buffers { pairs: machine.cpus.div_ceil(2), order: 3, window: 16, burst: 16 };
                plain("iperf3", "iperf3.bytes_per_sec", machine.cpus, SEGMENT_PATH, kind)
            }
            "active-anon" => plain("active-anon", "nr_active_anon", 1, NO_PATH, Kind::Levels),
            "reclaim-probe" => Case {
                higher_is_better: false,
                ..plain(
                    "reclaim-probe",
                    "reclaim_probe.ns_per_page",
                    1,
                    PROBE_PATH,
                    Kind::Probe { shuffled: true },
                )
            },
            _ => return None,
        })
    }

    /// The workload of an experiment, as scaled; `None` if the model has no stream for it.
    pub fn of_workload(
        workload: &Workload,
        memcg: Option<&MemcgSection>,
        machine: &MachineShape,
    ) -> Option<Case> {
        let limit = match memcg.map(|m| m.limit) {
            Some(Limit::Bytes(bytes)) => Some(bytes),
            _ => None,
        };
        match workload {
            Workload::Fio(fio) => {
                let blocks = u32::try_from(fio.size.0 / fio.block.0.max(4096)).ok()?;
                let pattern = match fio.distribution {
                    TouchDistribution::Zipf(theta) => FioPattern::Zipf { theta, hash: ZipfHash::Since2016 },
                    TouchDistribution::Random => FioPattern::Uniform,
                    _ => return None,
                };
                let write_percent = match fio.rw.as_str() {
                    "randread" => 0,
                    "randrw" => (100.0 - fio.read_share.0).round().clamp(0.0, 100.0) as u32,
                    _ => return None,
                };
                let kind = Kind::Reads { jobs: fio.jobs, blocks, pattern, limit: limit?, write_percent };
                Some(plain("fio", "fio.read_iops", fio.jobs, READ_PATH, kind))
            }
            Workload::Memcached(server) => {
                let kind = Kind::Server {
                    keys: server.load.keys,
                    value: server.load.value,
                    memory: server.memory,
                    limit: limit?,
                    connections: u16::try_from(server.load.clients * server.load.threads).ok()?,
                    pipeline: server.load.pipeline,
                };
                Some(plain("memtier", "memcached.ops_per_sec", server.threads, SET_PATH, kind))
            }
            Workload::WillItScale(scale) if scale.case == ScaleCase::Pread2 => {
                Some(Case { tasks: scale.tasks.on(machine.cpus), ..Case::named("pread2", machine)? })
            }
            Workload::Netperf(net) if net.test.is_sctp() && !net.test.is_request_response() => {
                let kind = Kind::Buffers { pairs: net.pairs, order: 3, window: 6, burst: 6 };
                Some(plain("sctp", "netperf.bytes_per_sec", 2 * net.pairs, MESSAGE_PATH, kind))
            }
            Workload::ReclaimProbe(probe) => {
                let kind = Kind::Probe { shuffled: probe.order == ListOrder::Shuffled };
                Some(Case { kind, ..Case::named("reclaim-probe", machine)? })
            }
            _ => None,
        }
    }

    /// The same with a baseline that anchors absolute speed. Only where every
    /// operation is one of the metric's own units.
    #[must_use]
    pub fn anchored(self, metric: &str, value: f64) -> Self {
        let per_task = if metric == "will_it_scale.per_process_ops" { f64::from(self.tasks) } else { 1.0 };
        let counts = ["fio.read_iops", "memcached.ops_per_sec", "will_it_scale.per_process_ops"];
        let usable = metric == self.metric && counts.contains(&metric) && value > 0.0;
        Case { baseline: usable.then_some(value * per_task).or(self.baseline), ..self }
    }
}
