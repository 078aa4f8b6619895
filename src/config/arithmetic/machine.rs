//! All of it against the memory and the disk of the machine.

use super::Arithmetic;
use super::MACHINE_KEY;
use super::Room;
use super::must_fit;
use crate::config::footprint;
use crate::config::plan::Plan;
use crate::config::scale::Machine;
use crate::config::swap::SwapKind;
use crate::config::workload::Workload;
use crate::units::Bytes;

/// Controller, sampler, load generator and room to breathe.
const OVERHEAD: Bytes = Bytes::mib(256);
/// A file system's own blocks on a ramdisk: one part in so many.
const FILE_SYSTEM_PART: u64 = 16;

/// Memory at the worst moment of the hungriest workload.
pub(super) fn fits(plan: &Plan, machine: &Machine, sums: &mut Arithmetic) {
    let limit = plan.arms.iter().filter_map(|arm| Room::of(arm, plan).limit).max();
    let (swap, swap_name) = match plan.swap() {
        // Compressed pages of random values take as much.
        Some(swap) => {
            (swap.size, if swap.kind == SwapKind::Zram { "zram at worst" } else { "swap device in memory" })
        }
        None => (Bytes(0), "no swap device"),
    };
    for workload in plan.workloads.iter().map(|w| &w.workload) {
        let (resident, resident_name) = resident(workload, limit);
        let (files, files_name) = files(workload);
        // A device is only as full as what is touched beyond the limit.
        let used = match workload {
            Workload::Memcached(_) | Workload::Usemem(_) if full_only_by_use(plan) => {
                let touched = footprint::touched(workload).unwrap_or(swap);
                swap.min(Bytes(touched.0.saturating_sub(resident.0)))
            }
            _ if full_only_by_use(plan) => Bytes(0),
            _ => swap,
        };
        let need =
            Bytes(resident.0.saturating_add(used.0).saturating_add(files.0).saturating_add(OVERHEAD.0));
        let sum = format!(
            "{}: {resident_name} {resident} + {swap_name} {used} + {files_name} {files} + {OVERHEAD} of our own = \
             {need}, of {} available",
            workload.name(),
            machine.memory_available
        );
        let remedy = "close what uses memory, or write --scale auto";
        must_fit(need, machine.memory_available, MACHINE_KEY, sum, remedy, sums);
        disk(workload, machine, sums);
    }
}

/// brd and zram take memory as they fill; a loop device's file is allocated at once.
fn full_only_by_use(plan: &Plan) -> bool {
    plan.swap().is_none_or(|swap| matches!(swap.kind, SwapKind::Brd | SwapKind::Zram))
}

/// Memory of the workload's processes: its limit, or what it touches if that is less.
fn resident(workload: &Workload, limit: Option<Bytes>) -> (Bytes, &'static str) {
    let touched = match workload {
        // Each task of a page fault case has 128 MiB mapped; processors bound the tasks.
        Workload::WillItScale(_) | Workload::Netperf(_) | Workload::Command(_) => None,
        _ => footprint::touched(workload),
    };
    match (touched, limit) {
        (Some(touched), Some(limit)) if touched < limit => (touched, "touched"),
        (_, Some(limit)) => (limit, "limit"),
        (Some(touched), None) => (touched, "touched"),
        (None, None) => (Bytes(0), "processes"),
    }
}

/// Memory outside the cgroup: ramdisk files, the probe's ballast.
fn files(workload: &Workload) -> (Bytes, &'static str) {
    match workload {
        Workload::Fio(fio) => {
            let data = fio.data_size().0;
            (Bytes(data + data / FILE_SYSTEM_PART), "files on a ramdisk")
        }
        Workload::ReclaimProbe(probe) => {
            let file = workload.file_space().unwrap_or_default();
            (Bytes(2 * probe.size.0 + file.0), "ballast and a file on a ramdisk")
        }
        _ => (Bytes(0), "no files in memory"),
    }
}

fn disk(workload: &Workload, machine: &Machine, sums: &mut Arithmetic) {
    let (Some(room), Workload::FileRead(read)) = (machine.disk_available, workload) else { return };
    let sum = format!("file-read: a file of {} on a disk with {room} free", read.size);
    must_fit(read.size, room, MACHINE_KEY, sum, "free some space, or write --scale auto", sums);
}
