//! Whether the scaled experiment still presses as hard.

use crate::config::error::Problem;
use crate::config::experiment::Experiment;
use crate::config::footprint;
use crate::config::memcg::Limit;
use crate::config::memcg::Role;
use crate::config::workload::Workload;
use crate::units::Bytes;

/// A ratio that moves by more is another experiment.
const TOLERANCE: f64 = 0.01;
/// The share of a limit that a process's own memory may take; it does not shrink.
const OVERHEAD: f64 = 0.10;

/// Compares the ratios; pushes a sentence for each that was kept.
pub(super) fn compare(before: &Experiment, after: &Experiment, changes: &mut Vec<String>) -> Vec<Problem> {
    if before == after {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (old, new) in before.workload.all().iter().zip(after.workload.all().iter()) {
        let name = new.name();
        if let (Workload::Command(_), true) = (new, limit(before) != limit(after)) {
            problems.push(Problem::new(
                "--scale",
                "a command's own memory cannot be scaled with its limit; run it without --scale, with a limit that fits",
            ));
        }
        let (Some(old_touched), Some(new_touched)) = (footprint::touched(old), footprint::touched(new))
        else {
            continue;
        };
        let mut check = |what: &str, old: Option<Bytes>, new: Option<Bytes>| {
            if let (Some(old), Some(new)) = (old, new) {
                let (was, is) = (ratio(old_touched, old), ratio(new_touched, new));
                keep(&format!("{name}: bytes touched to {what}"), was, is, changes, &mut problems);
            }
        };
        check("memcg.limit", limit(before), limit(after));
        check("swap.size", swap(before), swap(after));
        if let (Workload::Memcached(old), Workload::Memcached(new)) = (old, new)
            && let (Some(old_slabs), Some(new_slabs)) = (footprint::all_slabs(old), footprint::all_slabs(new))
        {
            let (was, is) = (ratio(old_slabs, old.memory), ratio(new_slabs, new.memory));
            keep("memcached: slabs of all keys to memory", was, is, changes, &mut problems);
        }
        problems.extend(overhead(new, after));
    }
    problems
}

fn ratio(a: Bytes, b: Bytes) -> f64 {
    a.0 as f64 / b.0.max(1) as f64
}

fn keep(what: &str, was: f64, is: f64, changes: &mut Vec<String>, problems: &mut Vec<Problem>) {
    if (is / was - 1.0).abs() <= TOLERANCE {
        changes.push(format!("kept: {what}, {was:.3} as written, {is:.3} scaled"));
        return;
    }
    problems.push(Problem::new(
        "--scale",
        format!(
            "{what} would change from {was:.3} to {is:.3}, which is another experiment; choose a larger scale, such as half the divisor"
        ),
    ));
}

fn limit(experiment: &Experiment) -> Option<Bytes> {
    match experiment.memcg.as_ref()?.limit {
        Limit::Max => None,
        Limit::Bytes(bytes) => Some(bytes),
    }
}

fn swap(experiment: &Experiment) -> Option<Bytes> {
    experiment.swap.as_ref().map(|swap| swap.size)
}

/// Memory that a workload's processes take whatever the scale, inside the limit.
fn fixed(workload: &Workload, client_confined: bool) -> Bytes {
    match workload {
        Workload::Memcached(w) => {
            let client = if client_confined { 8192 + 1024 * u64::from(w.load.threads) } else { 0 };
            Bytes::kib(3072 + 256 * u64::from(w.threads) + client)
        }
        Workload::Fio(w) => Bytes::kib(8192 + 1536 * u64::from(w.jobs)),
        Workload::Usemem(w) => Bytes::kib(1024 * u64::from(w.processes + 1)),
        Workload::FileRead(w) => Bytes::kib(1024 * u64::from(w.tasks + 1)),
        Workload::ReclaimProbe(_) => Bytes::mib(1),
        Workload::Netperf(_) | Workload::WillItScale(_) | Workload::Command(_) => Bytes(0),
    }
}

fn overhead(workload: &Workload, experiment: &Experiment) -> Option<Problem> {
    let limit = limit(experiment)?;
    let client = experiment.memcg.as_ref().is_some_and(|memcg| memcg.confine.contains(&Role::Client));
    let fixed = fixed(workload, client);
    (ratio(fixed, limit) > OVERHEAD).then(|| {
        Problem::new(
            "--scale",
            format!(
                "the processes of {} take about {fixed} that does not shrink, more than a tenth of the limit {limit}; \
                 choose a larger scale",
                workload.name()
            ),
        )
    })
}
