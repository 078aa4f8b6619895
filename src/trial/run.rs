//! The state machine of one trial.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::disturbance::Disturbance;
use super::error::TrialError;
use super::host_setup::HostSetup;
use super::identity::{kernel_identity, stable_host_name};
use super::judge;
use super::perf;
use crate::exec::Tools;
use crate::host::journal::default_folder;
use crate::host::{HostError, HostSession, SessionOptions, SysRoot};
use crate::metric::{CounterKind, counter_kind};
use crate::sample::{Sampled, Sampler, standard_sources};
use crate::store::{
    CounterChange, PhaseSpan, SeriesWriter, StoreError, TrialFolder, TrialOutcome, TrialRecord, TrialSpec,
    Violation,
};
use crate::units::{Nanos, with_causes};
use crate::workload::{self, Context, Marks, Phase, WorkloadError};

/// The phase whose counters and time are the trial's result.
const MEASURED: &str = "measure";

/// A trial whose campaign was killed holds the host until it has put it right.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// Runs a trial and writes its record. An error means that there is no record.
pub async fn run(
    spec: TrialSpec,
    folder: &TrialFolder,
    cancel: &CancellationToken,
) -> Result<TrialRecord, TrialError> {
    let root = SysRoot::host();
    let (host, kernel) = (stable_host_name(&root), kernel_identity(&root));
    let mut record = TrialRecord::blank(spec, host, kernel, Timestamp::now());
    let begun = Instant::now();
    let wrong_kernel =
        record.spec.kernel.as_ref().and_then(|expected| judge::wrong_kernel(expected, &record.kernel));
    match wrong_kernel {
        Some(violation) => record.outcome = TrialOutcome::Invalid { violations: vec![violation] },
        None => on_host(&mut record, root, folder, cancel, begun).await?,
    }
    record.ended = Timestamp::now();
    let measured: u64 =
        record.phases.iter().filter(|p| p.name == MEASURED).map(|p| p.end.0 - p.start.0).sum();
    record.overhead = Nanos::from(begun.elapsed()).saturating_sub(Nanos(measured));
    folder.write_record(&record)?;
    Ok(record)
}

/// Prepares the host, runs the workload, restores the host.
async fn on_host(
    record: &mut TrialRecord,
    root: SysRoot,
    folder: &TrialFolder,
    cancel: &CancellationToken,
    begun: Instant,
) -> Result<(), TrialError> {
    let options = SessionOptions {
        folder: default_folder(folder.path()),
        purpose: format!("trial {} of {}", record.spec.id, record.spec.campaign),
    };
    let mut session = HostSession::open_patiently(root, options, LOCK_PATIENCE)?;
    match HostSetup::apply(&mut session, &record.spec) {
        Ok(setup) => measure(record, &setup, &session, folder, cancel, begun).await?,
        Err(error) => record.outcome = set_up_outcome(&error),
    }
    let undone = session.undo();
    if !undone.left.is_empty() {
        let left: Vec<String> = undone.left.iter().map(|l| format!("{} ({})", l.change, l.why)).collect();
        record.outcome = TrialOutcome::Failed {
            stage: "tear-down".to_owned(),
            message: format!("the host was not restored: {}; run `run-bench clean`", left.join("; ")),
        };
    }
    Ok(())
}

/// What another attempt would meet again ends the campaign; the rest may pass.
fn set_up_outcome(error: &HostError) -> TrialOutcome {
    match error {
        HostError::Unsupported { .. }
        | HostError::NoMemoryController { .. }
        | HostError::NotDelegated { .. }
        | HostError::InternalProcesses { .. }
        | HostError::Privilege { .. }
        | HostError::Refused { .. } => TrialOutcome::Unsupported { reason: with_causes(error) },
        _ => TrialOutcome::Failed { stage: "set-up".to_owned(), message: with_causes(error) },
    }
}

/// Runs the workload under the sampler and judges the trial.
async fn measure(
    record: &mut TrialRecord,
    setup: &HostSetup,
    session: &HostSession,
    folder: &TrialFolder,
    cancel: &CancellationToken,
    begun: Instant,
) -> Result<(), TrialError> {
    let root = session.root();
    let events_before = setup.cgroup.as_ref().and_then(|c| c.events().ok()).unwrap_or_default();
    let series = if record.spec.sample.enabled {
        Some((SeriesWriter::create(&folder.series_path())?, record.spec.sample.period))
    } else {
        None
    };
    let (raw, scratch, tools) = (folder.raw()?, private_folder()?, Tools::from_environment());
    let perf = match perf::start(&record.spec.sample, &tools, &raw, scratch.path()).await {
        Ok(perf) => perf,
        Err(reason) => {
            record.outcome = TrialOutcome::Unsupported { reason };
            return Ok(());
        }
    };
    let sampler = Sampler::start(begun, &standard_sources(root, setup.cgroup.as_ref()), series);
    let observer = |phase: Option<&str>| {
        sampler.snapshot(phase);
        if let Some(perf) = &perf {
            perf.count(phase == Some(MEASURED));
        }
    };
    let marks = Marks::with_observer(begun, &observer);
    let disturbance = Disturbance::begin(root);
    let result = run_workload(record, setup, (&raw, scratch.path(), &tools), cancel, &marks).await?;
    marks.leave();
    record.host_events.extend(disturbance.events(root));
    record.phases = marks.phases().into_iter().filter_map(span).collect();
    let counted = match perf {
        Some(perf) => perf.finish(&tools, &raw).await.map_err(TrialError::Perf)?,
        None => Default::default(),
    };
    let sampled = sampler.finish()?;
    record.counters = counter_changes(&sampled);
    record.counters.extend(counted.0);
    record.sampler = Some(sampled.cost);
    match result {
        Ok(outcome) => {
            record.measurements = outcome.measurements;
            record.driver = Some(outcome.driver);
            record.parameters = outcome.parameters;
            record.raw = outcome.raw;
            record.raw.extend(counted.1);
            let mut violations = outcome.violations;
            violations.extend(host_violations(record, setup, root, &events_before));
            record.outcome = if violations.is_empty() {
                TrialOutcome::Valid
            } else {
                TrialOutcome::Invalid { violations }
            };
        }
        Err(error) => {
            let oom = host_violations(record, setup, root, &events_before)
                .into_iter()
                .find(|v| v.rule == "host.oom-kill");
            record.outcome = workload_outcome(&error, oom, cancel.is_cancelled());
        }
    }
    Ok(())
}

/// For sockets and temporary files, mode 0700, removed at the end.
fn private_folder() -> Result<tempfile::TempDir, TrialError> {
    let made = tempfile::Builder::new().prefix("run-bench-").tempdir();
    Ok(made.map_err(|source| StoreError::Io {
        action: "create a private folder in",
        path: std::env::temp_dir(),
        source,
    })?)
}

async fn run_workload(
    record: &TrialRecord,
    setup: &HostSetup,
    (raw, scratch, tools): (&Path, &Path, &Tools),
    cancel: &CancellationToken,
    marks: &Marks<'_>,
) -> Result<Result<workload::Outcome, WorkloadError>, TrialError> {
    let own_executable = std::env::current_exe().map_err(TrialError::OwnExecutable)?;
    let roles = record.spec.memcg.as_ref().map(|m| m.confine.clone()).unwrap_or_default();
    let context = Context {
        cancel,
        scratch,
        raw,
        confined_roles: &roles,
        confined: setup.confined(),
        unconfined: Vec::new(),
        environment: &record.spec.environment,
        data: setup.data.as_deref(),
        seed: record.spec.seed,
        tools,
        marks,
        own_executable: &own_executable,
    };
    Ok(workload::run(&record.spec.workload, &context).await)
}

fn span(phase: Phase) -> Option<PhaseSpan> {
    Some(PhaseSpan { name: phase.name, start: phase.start, end: phase.end? })
}

/// Changes of cumulative counters over the measured phases: from the snapshot
/// that began one to the snapshot after it.
fn counter_changes(sampled: &Sampled) -> BTreeMap<String, CounterChange> {
    let mut changes: BTreeMap<String, CounterChange> = BTreeMap::new();
    for pair in sampled.snapshots.windows(2).filter(|pair| pair[0].phase.as_deref() == Some(MEASURED)) {
        for (name, after) in &pair[1].values {
            let bare = name.split_once('.').map_or(name.as_str(), |(_, bare)| bare);
            let cumulative = counter_kind(bare) == CounterKind::Cumulative && bare != "value";
            if let (true, Some(before)) = (cumulative, pair[0].values.get(name)) {
                let change =
                    changes.entry(name.clone()).or_insert(CounterChange { before: *before, after: *before });
                change.after += after.saturating_sub(*before);
            }
        }
    }
    changes
}

/// The rules of the host, after the workload and before anything is undone.
fn host_violations(
    record: &mut TrialRecord,
    setup: &HostSetup,
    root: &SysRoot,
    events_before: &crate::host::cgroup::MemoryEvents,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    if let Some(after) = setup.cgroup.as_ref().and_then(|c| c.events().ok()) {
        violations.extend(judge::out_of_memory(events_before, &after));
    }
    if let Some((mut facts, violation)) = judge::swap_use(root, setup) {
        violations.extend(violation);
        facts.value_bytes = record.parameters.get("values").cloned();
        let pages_out = record.counters.get("vmstat.pswpout").map(|c| c.after - c.before);
        violations.extend(judge::swap_was_used(&record.spec, pages_out, facts.peak_used));
        record.swap = Some(facts);
    }
    violations
}

fn workload_outcome(error: &WorkloadError, oom: Option<Violation>, cancelled: bool) -> TrialOutcome {
    match (error, oom) {
        (WorkloadError::Cancelled, _) => TrialOutcome::Interrupted,
        _ if cancelled => TrialOutcome::Interrupted,
        (WorkloadError::Refused(reason) | WorkloadError::Unsupported { reason }, _) => {
            TrialOutcome::Unsupported { reason: reason.clone() }
        }
        (WorkloadError::Exec(error), _) if error.is_missing_program() => {
            TrialOutcome::Unsupported { reason: with_causes(error) }
        }
        (error, Some(mut violation)) => {
            violation.evidence = format!("{}; {}", violation.evidence, with_causes(error));
            TrialOutcome::Invalid { violations: vec![violation] }
        }
        (error, None) => TrialOutcome::Failed { stage: "workload".to_owned(), message: with_causes(error) },
    }
}
