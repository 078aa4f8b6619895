//! What one trial found; the only output of `run-bench trial`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::journal::TrialStatus;
use super::manifest::Version;
use super::spec::TrialSpec;
use crate::host::facts::{clocksource, mitigations};
use crate::host::{RunningKernel, SysRoot};
use crate::metric::Measurement;
use crate::units::{Bytes, Nanos};

/// A broken validity rule: the trial's numbers do not mean what they seem to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The rule's name, such as `memcached.evictions`.
    pub rule: String,
    /// What was seen, why it matters, what to do.
    pub message: String,
    /// The counter, line or exit status that shows it.
    pub evidence: String,
}

impl Violation {
    pub fn new(rule: &str, message: impl Into<String>, evidence: impl Into<String>) -> Self {
        Violation { rule: rule.to_owned(), message: message.into(), evidence: evidence.into() }
    }
}

/// How a trial ended. Invalid is not slow: only valid trials are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialOutcome {
    Valid,
    /// It ran, and broke a rule.
    Invalid {
        violations: Vec<Violation>,
    },
    /// It could not run to its end.
    Failed {
        stage: String,
        message: String,
    },
    /// The host or the tool cannot do it; not a failure.
    Unsupported {
        reason: String,
    },
    /// Ctrl-C or a deadline of the campaign.
    Interrupted,
}

impl TrialOutcome {
    /// How a trial with this outcome ended, for the journal.
    pub fn status(&self) -> TrialStatus {
        match self {
            TrialOutcome::Valid => TrialStatus::Valid,
            TrialOutcome::Invalid { .. } => TrialStatus::Invalid,
            TrialOutcome::Failed { .. } => TrialStatus::Failed,
            TrialOutcome::Unsupported { .. } => TrialStatus::Unsupported,
            TrialOutcome::Interrupted => TrialStatus::Interrupted,
        }
    }
}

/// A stretch of a trial's time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpan {
    /// `set-up`, `fill`, `measure`, `tear-down` or a name of the workload's own.
    pub name: String,
    /// Since the start of the trial.
    pub start: Nanos,
    pub end: Nanos,
}

/// A kernel counter at the start and at the end of the measured phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterChange {
    pub before: u64,
    pub after: u64,
}

/// The program that made the load; for built-in drivers, with the version of this tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverIdentity {
    pub name: String,
    pub version: String,
}

/// The swap device that the trial made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwapFacts {
    /// `brd`, `zram` or `loop`.
    pub kind: String,
    pub device: String,
    pub size: Bytes,
    /// Whether the kernel reads and writes it without a queue.
    pub synchronous: bool,
    /// What values consisted of, where the workload says: `constant` or `random`.
    pub value_bytes: Option<String>,
    /// Most pages in use on our device during the trial.
    pub peak_used: Option<Bytes>,
    /// Whether any other swap device grew during the trial.
    pub others_grew: bool,
}

/// Which kernel ran.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelIdentity {
    /// `uname -r`.
    pub release: String,
    /// `uname -v`.
    pub version: String,
    /// GNU build id of the kernel, in hex, where `/sys/kernel/notes` can be read.
    pub build_id: Option<String>,
    pub command_line: Option<String>,
    /// SHA-256 of the configuration, where it can be read.
    pub config_hash: Option<String>,
    pub boot_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocksource: Option<String>,
    /// What the kernel does about each flaw of the processor that it has, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitigations: Option<String>,
}

impl KernelIdentity {
    /// The kernel that runs.
    pub fn running(root: &SysRoot) -> Self {
        let kernel = RunningKernel::read(root);
        let mitigations: Vec<String> = mitigations(root)
            .into_iter()
            .filter(|(_, answer)| answer != "Not affected")
            .map(|(flaw, answer)| format!("{flaw}: {answer}"))
            .collect();
        KernelIdentity {
            clocksource: clocksource(root),
            mitigations: (!mitigations.is_empty()).then(|| mitigations.join("; ")),
            release: kernel.release.unwrap_or_default(),
            version: kernel.version.unwrap_or_default(),
            build_id: kernel.build_id,
            command_line: kernel.command_line,
            config_hash: kernel.config.map(|config| config.hash()),
            boot_id: kernel.boot_id,
        }
    }
}

/// What the sampler itself cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplerCost {
    pub samples: u64,
    pub missed: u64,
    pub cpu: Nanos,
}

/// Something that happened to the host during the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostEvent {
    /// A stable name: `throttled`, `steal`, `foreign-cpu`, `foreign-reclaim`, `clock-jump`.
    pub kind: String,
    pub detail: String,
}

/// One trial, self-contained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialRecord {
    pub schema: u32,
    pub run_bench: Version,
    pub spec: TrialSpec,
    pub started: Timestamp,
    pub ended: Timestamp,
    /// Stable name of the machine.
    pub host: String,
    pub kernel: KernelIdentity,
    pub outcome: TrialOutcome,
    /// Empty unless the workload ran to its end.
    pub measurements: Vec<Measurement>,
    pub driver: Option<DriverIdentity>,
    /// The parameters that were really in force, as the tools report them.
    pub parameters: BTreeMap<String, String>,
    pub phases: Vec<PhaseSpan>,
    /// Cumulative counters over the measured phase, `source.name`, such as
    /// `memory_stat.pgscan` or `vmstat.pswpin`. Absent counters are absent.
    pub counters: BTreeMap<String, CounterChange>,
    pub swap: Option<SwapFacts>,
    pub sampler: Option<SamplerCost>,
    pub host_events: Vec<HostEvent>,
    /// Why no statement about time may rest on this record, such as "emulated processor".
    pub functional_only: Option<String>,
    /// Time of the whole trial outside its measured phase.
    pub overhead: Nanos,
    /// Names of the files kept under `raw/`.
    pub raw: Vec<String>,
}

impl TrialRecord {
    /// A record that says nothing yet: interrupted, begun and ended at `at`.
    pub fn blank(spec: TrialSpec, host: String, kernel: KernelIdentity, at: Timestamp) -> Self {
        TrialRecord {
            schema: super::SCHEMA,
            run_bench: Version::current(),
            started: at,
            ended: at,
            host,
            kernel,
            outcome: TrialOutcome::Interrupted,
            measurements: Vec::new(),
            driver: None,
            parameters: BTreeMap::new(),
            phases: Vec::new(),
            counters: BTreeMap::new(),
            swap: None,
            sampler: None,
            host_events: Vec::new(),
            functional_only: None,
            overhead: Nanos(0),
            raw: Vec::new(),
            spec,
        }
    }

    /// The value of a metric, if the trial reported it.
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.measurements.iter().find(|m| m.metric.id.as_str() == metric).map(|m| m.value)
    }

    /// Whether the record may enter a comparison.
    pub fn counts(&self) -> bool {
        self.outcome == TrialOutcome::Valid && !self.spec.discarded
    }
}
