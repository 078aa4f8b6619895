//! Each workload against the limit and the swap of its arms.

use super::Arithmetic;
use super::Room;
use super::must_fit;
use crate::config::error::Problem;
use crate::config::footprint;
use crate::config::workload::MemcachedWorkload;
use crate::config::workload::Workload;
use crate::model::stream::slab::SlabLayout;
use crate::units::Bytes;

/// Bytes of memcached's hash table for each item: a pointer a bucket, at most 1.5 items a bucket.
const BUCKET: u64 = 8;

/// Sums that do not depend on the arm.
pub(super) fn describe(workload: &Workload, sums: &mut Arithmetic) {
    match workload {
        Workload::Memcached(memcached) => describe_memcached(memcached, sums),
        Workload::Fio(fio) => {
            let share = footprint::fio_share(fio);
            sums.lines.push(format!(
                "fio: {} files of {} are {}, of which the generator touches {:.1}%: {}",
                fio.jobs,
                fio.size,
                fio.data_size(),
                100.0 * share,
                footprint::fio(fio)
            ));
        }
        Workload::Usemem(usemem) => sums.lines.push(format!(
            "usemem: {} processes of {} are {}",
            usemem.processes,
            usemem.size,
            Bytes(usemem.size.0 * u64::from(usemem.processes))
        )),
        Workload::FileRead(read) => sums.lines.push(format!("file-read: one file of {}", read.size)),
        Workload::ReclaimProbe(probe) => sums
            .lines
            .push(format!("reclaim-probe: {} filled, {} reclaimed at a time", probe.size, probe.reclaim)),
        Workload::Netperf(_) | Workload::WillItScale(_) | Workload::Command(_) => {}
    }
}

fn describe_memcached(memcached: &MemcachedWorkload, sums: &mut Arithmetic) {
    let load = &memcached.load;
    let keys = load.key_count();
    let Some(layout) = SlabLayout::of(keys, load.value) else {
        sums.lines.push(format!("memcached: values of {} are cut into pieces; no sum is made", load.value));
        return;
    };
    let total = Bytes::mib(layout.slabs(keys));
    sums.lines.push(format!(
        "memcached: {keys} keys with values of {} are items of {}B in chunks of {}B, {} to a slab of 1MiB: {total}",
        load.value,
        layout.item.0,
        layout.chunk.0,
        layout.chunks_per_slab()
    ));
    let capacity = layout.capacity(memcached.memory);
    if capacity >= keys {
        sums.lines
            .push(format!("memcached: -m {} holds {capacity} such items, all of them", memcached.memory));
        return;
    }
    let evicted = 100.0 * (keys - capacity) as f64 / keys as f64;
    let sum = format!(
        "memcached: -m {} holds {capacity} of {keys} such items, so {evicted:.1}% of a fill are evicted",
        memcached.memory
    );
    if !memcached.allow_evictions {
        sums.problems.push(Problem::new(
            "workload.memcached.memory",
            format!(
                "{sum}; write at least {total}, or allow-evictions = true where the author's set-up has them"
            ),
        ));
    }
    sums.lines.push(sum);
}

/// The sums of one workload in one arm's cgroup.
pub(super) fn fits(workload: &Workload, room: Room, key: &str, sums: &mut Arithmetic) {
    let Some(limit) = room.limit else { return };
    let both = Bytes(limit.0.saturating_add(room.swap.0));
    let bound = format!("{key}: limit {limit} + swap {} = {both}", room.swap);
    match workload {
        Workload::Memcached(memcached) => {
            let Some(touched) = footprint::memcached(memcached) else { return };
            let table = Bytes(memcached.load.key_count().next_power_of_two() * BUCKET);
            let need = Bytes(touched.0 + table.0);
            let sum = format!(
                "{bound} for slabs {touched} + hash table {table} = {need}, {:.2} times the limit",
                need.0 as f64 / limit.0 as f64
            );
            must_fit(need, both, key, sum, "the server would be killed; raise swap or the limit", sums);
        }
        Workload::Usemem(_) => {
            let need = footprint::touched(workload).unwrap_or_default();
            let sum = format!("{bound} for anonymous memory {need}");
            must_fit(need, both, key, sum, "the processes would be killed; raise swap or the limit", sums);
        }
        Workload::ReclaimProbe(probe) => {
            let sum = format!("{key}: limit {limit} for a population of {}", probe.size);
            must_fit(
                probe.size,
                limit,
                key,
                sum,
                "it would be reclaimed while it is filled; raise the limit",
                sums,
            );
            if footprint::needs_swap(probe) {
                let sum = format!("{key}: swap {} for {} of dirty anonymous pages", room.swap, probe.reclaim);
                must_fit(
                    probe.reclaim,
                    room.swap,
                    key,
                    sum,
                    "they can only be reclaimed into swap; add [swap]",
                    sums,
                );
            }
        }
        Workload::Fio(_) | Workload::FileRead(_) => {
            let touched = footprint::touched(workload).unwrap_or_default();
            sums.lines.push(format!(
                "{key}: limit {limit} for {touched} of touched file pages, {:.2} times the limit",
                touched.0 as f64 / limit.0 as f64
            ));
        }
        Workload::Netperf(_) | Workload::WillItScale(_) | Workload::Command(_) => {}
    }
}
