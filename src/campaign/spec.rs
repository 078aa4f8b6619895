//! From a plan to the specification of each trial.

use super::schedule::trial_seed;
use crate::config::workload::Workload;
use crate::config::{Plan, PlanArm, PlanWorkload, SampleSection};
use crate::store::{Manifest, SCHEMA, TrialId, TrialSpec};
use crate::units::Nanos;

/// A trial's place and what is special about it.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub id: TrialId,
    pub arm: usize,
    pub discarded: bool,
}

/// The whole specification of one trial.
pub(super) fn trial_spec(
    manifest: &Manifest,
    plan: &Plan,
    workload: &PlanWorkload,
    slot: &Slot,
) -> TrialSpec {
    let arm: &PlanArm = &plan.arms[slot.arm];
    let name = workload.workload.name();
    let nonce = format!("{}-{}-{}", manifest.campaign, slot.id, jiff::Timestamp::now().as_nanosecond());
    TrialSpec {
        schema: SCHEMA,
        campaign: manifest.campaign.clone(),
        id: slot.id.clone(),
        role: arm.role,
        discarded: slot.discarded,
        seed: trial_seed(manifest.seed, name, slot.id.block),
        workload: workload.workload.clone(),
        memcg: arm.memcg.clone(),
        swap: plan.swap().cloned(),
        environment: plan.environment().clone(),
        knobs: arm.knobs.clone(),
        sample: SampleSection {
            enabled: plan.sample().enabled && arm.section.sampled,
            ..plan.sample().clone()
        },
        kernel: None,
        deadline: plan.schedule().deadline.unwrap_or_else(|| deadline(&workload.workload)),
        no_progress: plan.schedule().no_progress,
        fixture: None,
        nonce,
    }
}

/// How long a trial is expected to take, for plans and estimates before the
/// first trial has been timed. Deliberately rough.
pub fn expected_trial_time(workload: &Workload) -> Nanos {
    let set_up = Nanos::from_seconds(2);
    let work = match workload {
        Workload::Memcached(w) => match w.load.duration {
            Some(duration) => duration,
            None => {
                let requests =
                    w.load.requests_per_connection() * w.load.connections() * u64::from(w.load.repeat);
                // 100 000 operations a second under memory pressure.
                Nanos(requests * 10_000)
            }
        },
        Workload::Fio(w) => Nanos(w.ramp.0 + w.runtime.0),
        Workload::Netperf(w) => w.duration,
        Workload::WillItScale(w) => Nanos(w.warm_up.0 + w.duration.0),
        Workload::Command(w) => Nanos(w.deadline.0 / 4),
        // 500 MB/s through swap.
        Workload::Usemem(w) => Nanos(w.size.0 * u64::from(w.processes) * u64::from(w.passes) * 2),
        Workload::ReclaimProbe(w) => Nanos(w.size.0 * u64::from(w.repetitions) * 2),
        Workload::FileRead(w) => w.duration,
    };
    Nanos(set_up.0 + work.0)
}

/// Ten times the expected time and five minutes: only what hangs comes there.
fn deadline(workload: &Workload) -> Nanos {
    Nanos(expected_trial_time(workload).0 * 10 + Nanos::from_seconds(300).0)
}
