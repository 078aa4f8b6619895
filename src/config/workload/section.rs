//! The table of workloads and the choice between them.

use serde::{Deserialize, Serialize};

use super::{
    CommandWorkload, FileReadWorkload, FioWorkload, MemcachedWorkload, NetperfWorkload, Population,
    ReclaimProbeWorkload, UsememWorkload, WillItScaleWorkload,
};
use crate::config::error::Problem;
use crate::metric::{self, MetricDefinition, MetricId};
use crate::units::Bytes;

/// At least one of the tables; several are run one after the other in each block.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkloadSection {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memcached: Option<MemcachedWorkload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fio: Option<FioWorkload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netperf: Option<NetperfWorkload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub will_it_scale: Option<WillItScaleWorkload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandWorkload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usemem: Option<UsememWorkload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclaim_probe: Option<ReclaimProbeWorkload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_read: Option<FileReadWorkload>,
}

/// One workload with its options; what a trial runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    Memcached(MemcachedWorkload),
    Fio(FioWorkload),
    Netperf(NetperfWorkload),
    WillItScale(WillItScaleWorkload),
    Command(CommandWorkload),
    Usemem(UsememWorkload),
    ReclaimProbe(ReclaimProbeWorkload),
    FileRead(FileReadWorkload),
}

impl Workload {
    /// The first word of its metric ids.
    pub fn name(&self) -> &'static str {
        match self {
            Workload::Memcached(_) => "memcached",
            Workload::Fio(_) => "fio",
            Workload::Netperf(_) => "netperf",
            Workload::WillItScale(_) => "will_it_scale",
            Workload::Command(_) => "command",
            Workload::Usemem(_) => "usemem",
            Workload::ReclaimProbe(_) => "reclaim_probe",
            Workload::FileRead(_) => "file_read",
        }
    }

    /// Space on a file system under test, for workloads that need one: their
    /// files, and a tenth and 64 MiB for the file system itself.
    pub fn file_space(&self) -> Option<Bytes> {
        match self {
            Workload::Fio(fio) => Some(Bytes(fio.data_size().0 / 10 * 11 + Bytes::mib(64).0)),
            // Its file is read again for each repetition, which a disk would make long.
            Workload::ReclaimProbe(probe) if probe.population != Population::DirtyAnon => {
                Some(Bytes(probe.size.0 / 10 * 11 + Bytes::mib(64).0))
            }
            _ => None,
        }
    }

    /// Every metric this workload can report.
    pub fn metrics(&self) -> Vec<MetricDefinition> {
        let prefix = format!("{}.", self.name());
        let mut all: Vec<MetricDefinition> =
            metric::definitions().iter().filter(|d| d.id.as_str().starts_with(&prefix)).cloned().collect();
        if let Workload::Command(command) = self {
            all.extend(command.metrics.iter().map(|m| m.definition.clone()));
        }
        all
    }

    fn validate(&self, problems: &mut Vec<Problem>) {
        match self {
            Workload::Memcached(w) => w.validate(problems),
            Workload::Fio(w) => w.validate(problems),
            Workload::Netperf(w) => w.validate(problems),
            Workload::WillItScale(w) => w.validate(problems),
            Workload::Command(w) => w.validate(problems),
            Workload::Usemem(w) => w.validate(problems),
            Workload::ReclaimProbe(w) => w.validate(problems),
            Workload::FileRead(w) => w.validate(problems),
        }
    }
}

impl WorkloadSection {
    /// The workloads in a fixed order.
    pub fn all(&self) -> Vec<Workload> {
        [
            self.memcached.clone().map(Workload::Memcached),
            self.fio.clone().map(Workload::Fio),
            self.netperf.clone().map(Workload::Netperf),
            self.will_it_scale.clone().map(Workload::WillItScale),
            self.command.clone().map(Workload::Command),
            self.usemem.clone().map(Workload::Usemem),
            self.reclaim_probe.clone().map(Workload::ReclaimProbe),
            self.file_read.clone().map(Workload::FileRead),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    pub fn metric_ids(&self) -> Vec<MetricId> {
        self.all().iter().flat_map(Workload::metrics).map(|d| d.id).collect()
    }

    pub fn validate(&self, problems: &mut Vec<Problem>) {
        let all = self.all();
        if all.is_empty() {
            problems.push(Problem::new(
                "workload",
                "no workload; add one of [workload.memcached], .fio, .netperf, .will-it-scale, .command, .usemem, .reclaim-probe, .file-read",
            ));
        }
        for workload in &all {
            workload.validate(problems);
        }
    }
}

/// Pushes a problem unless `value` lies in the range.
pub(super) fn check_range(key: &str, value: u64, low: u64, high: u64, problems: &mut Vec<Problem>) {
    if !(low..=high).contains(&value) {
        problems.push(Problem::new(key, format!("{value} is out of range; write {low} to {high}")));
    }
}
