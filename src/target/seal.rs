//! The record of a guest's trial, completed by what only the host knows: that
//! it is this trial's, which kernel it had to be, whether its times mean
//! anything. Where a guest left no record, the one that says why.

use jiff::Timestamp;

use super::error::TargetError;
use super::identity;
use crate::store::{
    HostEvent, KernelIdentity, SCHEMA, TrialFolder, TrialOutcome, TrialRecord, TrialSpec, TrialStatus,
    Version,
};
use crate::units::Nanos;

/// What the host adds to a guest's record.
#[derive(Debug, Clone, Default)]
pub struct Stamp {
    /// The kernel that had to run.
    pub expected: Option<KernelIdentity>,
    /// Why no statement about time may rest on the trial.
    pub functional_only: Option<String>,
    /// Things to be told that make nothing invalid.
    pub remarks: Vec<String>,
    /// Of the whole boot, seen from the host.
    pub wall: Nanos,
    /// Files that the host put under `raw/`.
    pub raw: Vec<String>,
}

/// Checks and completes the record in `folder`; `None` when there is none of this trial.
pub fn seal(
    folder: &TrialFolder,
    spec: &TrialSpec,
    stamp: &Stamp,
) -> Result<Option<TrialStatus>, TargetError> {
    if !folder.has_record() {
        return Ok(None);
    }
    let mut record = folder.record()?;
    if record.spec.nonce != spec.nonce {
        return Ok(None);
    }
    let wrong = stamp.expected.as_ref().map(|e| identity::violations(e, &record.kernel)).unwrap_or_default();
    if !wrong.is_empty() {
        match &mut record.outcome {
            TrialOutcome::Invalid { violations } => violations.extend(wrong),
            TrialOutcome::Interrupted => {}
            outcome => *outcome = TrialOutcome::Invalid { violations: wrong },
        }
    }
    if let TrialOutcome::Failed { message, .. } = &mut record.outcome {
        // What the guest's kernel printed may be why.
        stamp.remarks.iter().for_each(|remark| *message = format!("{message}; {remark}"));
    }
    if stamp.functional_only.is_some() {
        record.functional_only.clone_from(&stamp.functional_only);
    }
    let own = record.ended.duration_since(record.started).unsigned_abs();
    record.overhead = Nanos(record.overhead.0 + stamp.wall.0.saturating_sub(Nanos::from(own).0));
    record.host_events.extend(events(&stamp.remarks));
    record.raw.extend(stamp.raw.iter().cloned());
    record.raw.sort();
    record.raw.dedup();
    folder.write_record(&record)?;
    Ok(Some(record.outcome.status()))
}

fn events(remarks: &[String]) -> Vec<HostEvent> {
    let event = |detail: &String| HostEvent { kind: "guest".to_owned(), detail: detail.clone() };
    remarks.iter().map(event).collect()
}

/// Writes the record of a trial whose guest left none.
pub fn write_failure(
    folder: &TrialFolder,
    spec: &TrialSpec,
    host: &str,
    outcome: TrialOutcome,
    stamp: &Stamp,
) -> Result<TrialStatus, TargetError> {
    let ended = Timestamp::now();
    let wall = jiff::SignedDuration::from_nanos(i64::try_from(stamp.wall.0).unwrap_or(i64::MAX));
    let record = TrialRecord {
        schema: SCHEMA,
        run_bench: Version::current(),
        spec: spec.clone(),
        started: ended.checked_sub(wall).unwrap_or(ended),
        ended,
        host: host.to_owned(),
        // Nothing is known of a kernel that did not tell.
        kernel: KernelIdentity::default(),
        outcome,
        measurements: Vec::new(),
        driver: None,
        parameters: std::collections::BTreeMap::new(),
        phases: Vec::new(),
        counters: std::collections::BTreeMap::new(),
        swap: None,
        sampler: None,
        host_events: events(&stamp.remarks),
        functional_only: stamp.functional_only.clone(),
        overhead: stamp.wall,
        raw: stamp.raw.clone(),
    };
    folder.write_record(&record)?;
    Ok(record.outcome.status())
}

#[cfg(test)]
#[path = "seal_tests.rs"]
pub(super) mod tests;
