//! `--scale` and `--quick`: the same experiment in small.
//!
//! Memory, keys, files, jobs and threads shrink together, and the ratios that make
//! the pressure stay: bytes really touched to limit, limit to swap, keys to `-m`.
//! Every change is a sentence. A scale at which a ratio cannot be kept is refused.

mod quick;
mod ratio;
mod request;
mod shrink;
#[cfg(test)]
mod tests;

pub use request::{Machine, ScaleFactor, ScaleRequest};

use super::arithmetic;
use super::error::Problem;
use super::experiment::Experiment;
use super::plan::Plan;
use super::target::TargetKind;
use super::workload::Workload;
use crate::units::Bytes;

/// Scales beyond this leave nothing of any experiment.
const LARGEST: u64 = 1 << 16;
/// What a guest's kernel and user land take of its memory.
const GUEST_OVERHEAD: Bytes = Bytes::mib(96);

/// The experiment as it will run on the machine, and what was changed, one sentence each.
pub fn apply(
    experiment: Experiment,
    request: &ScaleRequest,
    machine: &Machine,
) -> Result<(Experiment, Vec<String>), Vec<Problem>> {
    let machine = of_target(&experiment, machine);
    let (mut scaled, mut changes) = match request.scale {
        None => (experiment, Vec::new()),
        Some(ScaleFactor::OneOver(divisor)) => by(&experiment, divisor, &machine)?,
        Some(ScaleFactor::Auto) => automatic(&experiment, &machine)?,
    };
    if request.quick {
        quick::cap(&mut scaled, &mut changes);
    }
    let problems = scaled.validate();
    if problems.is_empty() { Ok((scaled, changes)) } else { Err(problems) }
}

/// A guest has the memory and the processors of its section.
fn of_target(experiment: &Experiment, machine: &Machine) -> Machine {
    match experiment.target.kind {
        TargetKind::Host | TargetKind::Boot => *machine,
        TargetKind::Uml | TargetKind::Vm => Machine {
            cpus: experiment.target.cpus,
            memory_available: Bytes(experiment.target.memory.0.saturating_sub(GUEST_OVERHEAD.0)),
            disk_available: machine.disk_available,
        },
    }
}

/// Everything divided by one number.
fn by(
    experiment: &Experiment,
    divisor: u64,
    machine: &Machine,
) -> Result<(Experiment, Vec<String>), Vec<Problem>> {
    if divisor == 0 || divisor > LARGEST {
        return Err(vec![Problem::new(
            "--scale",
            format!("1/{divisor} is no scale; write 1/1 to 1/{LARGEST}"),
        )]);
    }
    let mut scaled = experiment.clone();
    let mut changes = Vec::new();
    if divisor > 1 {
        changes.push(format!("scale 1/{divisor}: memory, keys and files are divided by {divisor}"));
    }
    shrink::all(&mut scaled, divisor, machine, &mut changes);
    let problems = ratio::compare(experiment, &scaled, &mut changes);
    if problems.is_empty() { Ok((scaled, changes)) } else { Err(problems) }
}

/// The largest scale (a power of two) that fits the memory and keeps the work of a processor.
fn automatic(experiment: &Experiment, machine: &Machine) -> Result<(Experiment, Vec<String>), Vec<Problem>> {
    let threads = experiment.workload.all().iter().map(threads).max().unwrap_or(1);
    let mut divisor = if experiment.workload.all().iter().any(scales) {
        threads.div_ceil(machine.cpus.max(1)).next_power_of_two().into()
    } else {
        1
    };
    let mut last = None;
    while divisor <= LARGEST {
        // A smaller one cannot keep what this one does not.
        let (scaled, changes) = by(experiment, divisor, machine)?;
        let fit = arithmetic::check(&Plan::new(scaled.clone()), machine);
        if !fit.problems.iter().any(|p| p.key == arithmetic::MACHINE_KEY) {
            return Ok((scaled, changes));
        }
        last = Some(fit.problems);
        if !experiment.workload.all().iter().any(scales) {
            break;
        }
        divisor *= 2;
    }
    Err(last.unwrap_or_default())
}

/// Threads or processes that the workload asks for at once.
fn threads(workload: &Workload) -> u32 {
    match workload {
        Workload::Memcached(w) => w.threads.max(w.load.threads),
        Workload::Fio(w) => w.jobs,
        Workload::Usemem(w) => w.processes,
        Workload::FileRead(w) => w.tasks,
        Workload::Netperf(_)
        | Workload::WillItScale(_)
        | Workload::ReclaimProbe(_)
        | Workload::Command(_) => 1,
    }
}

/// Whether dividing memory means anything for it.
fn scales(workload: &Workload) -> bool {
    !matches!(workload, Workload::Netperf(_) | Workload::WillItScale(_) | Workload::Command(_))
}
