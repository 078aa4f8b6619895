//! Dividing each section.

use std::fmt::Display;

use super::Machine;
use crate::config::experiment::Experiment;
use crate::config::footprint;
use crate::config::memcg::Limit;
use crate::config::workload::FioWorkload;
use crate::config::workload::MemcachedWorkload;
use crate::config::workload::TaskCount;
use crate::model::stream::slab;
use crate::units::Bytes;

/// A fio file's size is looked for in so many steps, then on a grid of so many points.
const STEPS: u32 = 6;
const GRID: u32 = 100;
/// Blocks beyond which the grid is left: each of its sizes walks all its blocks.
const MOST_WALKED: u64 = 1 << 25;
/// What is touched is close enough within this part of it.
const CLOSE: f64 = 0.002;

/// Divides memory by `divisor`, and lowers what the machine has no processors for.
pub(super) fn all(experiment: &mut Experiment, divisor: u64, machine: &Machine, changes: &mut Vec<String>) {
    limits(experiment, divisor, changes);
    let workload = &mut experiment.workload;
    if let Some(memcached) = &mut workload.memcached {
        shrink_memcached(memcached, divisor, machine, changes);
    }
    if let Some(fio) = &mut workload.fio {
        shrink_fio(fio, divisor, machine, changes);
    }
    if let Some(usemem) = &mut workload.usemem {
        let total = Bytes(usemem.size.0.saturating_mul(usemem.processes.into()));
        change("workload.usemem.processes", &mut usemem.processes, at_most(machine.cpus), changes);
        let each = total.0 as f64 / divisor as f64 / f64::from(usemem.processes);
        change("workload.usemem.size", &mut usemem.size, |_| Bytes(each as u64).round_to_page(), changes);
    }
    if let Some(read) = &mut workload.file_read {
        change("workload.file-read.tasks", &mut read.tasks, at_most(machine.cpus), changes);
        change("workload.file-read.size", &mut read.size, divided(divisor), changes);
    }
    if let Some(probe) = &mut workload.reclaim_probe {
        change("workload.reclaim-probe.size", &mut probe.size, divided(divisor), changes);
        change("workload.reclaim-probe.reclaim", &mut probe.reclaim, divided(divisor), changes);
    }
    if let Some(netperf) = &mut workload.netperf {
        // A pair is two processes.
        change("workload.netperf.pairs", &mut netperf.pairs, at_most((machine.cpus / 2).max(1)), changes);
    }
    if let Some(scale) = &mut workload.will_it_scale
        && let TaskCount::Number(tasks) = &mut scale.tasks
    {
        change("workload.will-it-scale.tasks", tasks, at_most(machine.cpus), changes);
    }
}

/// Limits and swap, of the experiment and of its arms.
fn limits(experiment: &mut Experiment, divisor: u64, changes: &mut Vec<String>) {
    let limit = |limit: Limit| match limit {
        Limit::Max => Limit::Max,
        Limit::Bytes(bytes) => Limit::Bytes(divided(divisor)(bytes)),
    };
    if let Some(memcg) = &mut experiment.memcg {
        change("memcg.limit", &mut memcg.limit, limit, changes);
        change("memcg.swap-limit", &mut memcg.swap_limit, limit, changes);
    }
    for (i, arm) in experiment.arms.iter_mut().enumerate() {
        let Some(memcg) = &mut arm.memcg else { continue };
        if let Some(own) = &mut memcg.limit {
            change(&format!("arm[{}].memcg.limit", i + 1), own, limit, changes);
        }
        if let Some(own) = &mut memcg.swap_limit {
            change(&format!("arm[{}].memcg.swap-limit", i + 1), own, limit, changes);
        }
    }
    if let Some(swap) = &mut experiment.swap {
        change("swap.size", &mut swap.size, divided(divisor), changes);
    }
}

fn shrink_memcached(
    memcached: &mut MemcachedWorkload,
    divisor: u64,
    machine: &Machine,
    changes: &mut Vec<String>,
) {
    let before = footprint::all_slabs(memcached);
    change("workload.memcached.threads", &mut memcached.threads, at_most(machine.cpus), changes);
    let load = &mut memcached.load;
    change("workload.memcached.load.threads", &mut load.threads, at_most(machine.cpus), changes);
    // memcached counts -m in MiB.
    let whole = |bytes: Bytes| {
        Bytes::mib(((bytes.0 as f64 / divisor as f64) / (1 << 20) as f64).round().max(1.0) as u64)
    };
    if divisor == 1 {
        return;
    }
    change("workload.memcached.memory", &mut memcached.memory, whole, changes);
    // Fewer keys have shorter names, which can change the slab class.
    let target = before.map(|slabs| slabs.0 as f64 / divisor as f64);
    let count = (load.key_count() as f64 / divisor as f64).round().max(1.0) as u64;
    let keys = match (target, slab::SlabLayout::of(count, load.value)) {
        (Some(bytes), Some(layout)) if !close(Bytes::mib(layout.slabs(count)), bytes) => {
            (bytes / (1 << 20) as f64 * layout.chunks_per_slab() as f64).round() as u64
        }
        _ => count,
    };
    let keys = keys.max(load.connections()) + load.key_minimum - 1;
    change("workload.memcached.load.keys", &mut load.keys, |_| keys, changes);
    if let Some(requests) = &mut load.requests {
        change("workload.memcached.load.requests", requests, |n| (n / divisor).max(1), changes);
    }
}

/// Jobs first, then the size of a file at which the generator touches the divided amount.
fn shrink_fio(fio: &mut FioWorkload, divisor: u64, machine: &Machine, changes: &mut Vec<String>) {
    let target = footprint::fio(fio).0 as f64 / divisor as f64;
    let jobs = fio.jobs;
    change("workload.fio.jobs", &mut fio.jobs, at_most(machine.cpus), changes);
    if divisor == 1 && jobs == fio.jobs {
        return;
    }
    let plain = Bytes(fio.size.0 * u64::from(jobs) / u64::from(fio.jobs) / divisor);
    let size = size_that_touches(fio, plain, target / f64::from(fio.jobs));
    change("workload.fio.size", &mut fio.size, |_| size, changes);
}

/// The share jumps with the size, so the size is looked for: the plain one, then those
/// that the share of the last one suggests, then a grid; the first that is close, else
/// the closest.
fn size_that_touches(fio: &FioWorkload, plain: Bytes, target: f64) -> Bytes {
    let block = fio.block.0;
    let touched = |blocks: u64| {
        let one = FioWorkload { size: Bytes(blocks * block), jobs: 1, ..fio.clone() };
        footprint::fio(&one).0 as f64
    };
    let blocks_of = |bytes: f64| ((bytes / block as f64).round() as u64).max(2);
    let (mut best, mut best_fit) = (0, f64::INFINITY);
    let mut next = blocks_of(plain.0 as f64);
    let mut walked = 0;
    for step in 0..STEPS + GRID {
        let bytes = touched(next);
        let fit = (bytes / target - 1.0).abs();
        if fit < best_fit {
            (best, best_fit) = (next, fit);
        }
        walked += next;
        if best_fit <= CLOSE || (step >= STEPS && walked > MOST_WALKED) {
            break;
        }
        next = if step < STEPS {
            blocks_of(target * (next * block) as f64 / bytes.max(1.0))
        } else {
            // Odd numbers of blocks scatter best; the share lies between a half and one.
            blocks_of(target * (1.0 + f64::from(step - STEPS) / f64::from(GRID))) | 1
        };
    }
    Bytes(best * block)
}

fn close(bytes: Bytes, target: f64) -> bool {
    (bytes.0 as f64 / target - 1.0).abs() <= CLOSE
}

fn divided(divisor: u64) -> impl Fn(Bytes) -> Bytes {
    move |bytes| if divisor == 1 { bytes } else { Bytes(bytes.0 / divisor).round_to_page() }
}

fn at_most(most: u32) -> impl Fn(u32) -> u32 {
    move |n| n.min(most.max(1))
}

/// Sets a value and says so; nothing when it stays.
pub(super) fn change<T: Copy + PartialEq + Display>(
    key: &str,
    value: &mut T,
    to: impl FnOnce(T) -> T,
    changes: &mut Vec<String>,
) {
    let new = to(*value);
    if new != *value {
        changes.push(format!("{key}: {value} became {new}"));
        *value = new;
    }
}
