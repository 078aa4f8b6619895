//! From a plan to the specification of each trial.

use super::schedule::{block_order, trial_seed};
use super::state::History;
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

/// The trials of one workload in one block, in their order.
pub(super) fn slots(plan: &Plan, seed: u64, block: u32, workload: &PlanWorkload) -> Vec<Slot> {
    let name = workload.workload.name();
    let order = block_order(seed, name, block, plan.arms.len());
    let warm_up = plan.schedule().discard_first.then(|| (order[0], true));
    let arms: Vec<(usize, bool)> =
        warm_up.into_iter().chain(order.into_iter().map(|arm| (arm, false))).collect();
    arms.into_iter()
        .enumerate()
        .map(|(position, (arm, discarded))| Slot {
            id: TrialId {
                block,
                position: position as u32,
                attempt: 0,
                workload: name.to_owned(),
                arm: plan.arms[arm].name.clone(),
            },
            arm,
            discarded,
        })
        .collect()
}

/// Whether every compared trial of a block has ended validly.
pub fn block_is_whole(plan: &Plan, seed: u64, history: &History, block: u32) -> bool {
    let mut slots = plan.workloads.iter().flat_map(|workload| slots(plan, seed, block, workload));
    slots.all(|slot| slot.discarded || history.is_done(&slot.id))
}

/// How long a block is expected to take; as rough as [`expected_trial_time`].
pub fn expected_block_time(plan: &Plan) -> Nanos {
    let each = (2 * plan.arms.len() + usize::from(plan.schedule().discard_first)) as u64;
    let pause = plan.schedule().pause.0;
    Nanos(plan.workloads.iter().map(|w| (expected_trial_time(&w.workload).0 + pause) * each).sum())
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
