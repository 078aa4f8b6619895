//! The bytes that a workload really touches, which is what presses on a limit:
//! memcached's slabs up to `-m`, the blocks that fio's generator can draw.

use super::workload::FioWorkload;
use super::workload::MemcachedWorkload;
use super::workload::Population;
use super::workload::ReclaimProbeWorkload;
use super::workload::TouchDistribution;
use super::workload::Workload;
use crate::model::stream::fio::ZipfHash;
use crate::model::stream::fio::reachable_share;
use crate::model::stream::slab;
use crate::units::Bytes;

/// Blocks of a file beyond which fio's generator is not walked.
const MOST_BLOCKS: u64 = 1 << 26;

/// Bytes touched, when the sections say how many; none for commands and for
/// workloads whose memory does not matter.
pub(super) fn touched(workload: &Workload) -> Option<Bytes> {
    match workload {
        Workload::Memcached(w) => memcached(w),
        Workload::Fio(w) => Some(fio(w)),
        Workload::Usemem(w) => Some(Bytes(w.size.0.saturating_mul(w.processes.into()))),
        Workload::FileRead(w) => Some(w.size),
        Workload::ReclaimProbe(w) => Some(w.size),
        Workload::Netperf(_) | Workload::WillItScale(_) | Workload::Command(_) => None,
    }
}

/// All keys in their slabs, at most `-m`; none for values that are cut into pieces.
pub(super) fn memcached(workload: &MemcachedWorkload) -> Option<Bytes> {
    Some(all_slabs(workload)?.min(workload.memory))
}

/// All keys in their slabs, whether `-m` holds them or not.
pub(super) fn all_slabs(workload: &MemcachedWorkload) -> Option<Bytes> {
    slab::total_bytes(workload.load.key_count(), workload.load.value)
}

/// The blocks that can be drawn at all, of all files.
pub(super) fn fio(workload: &FioWorkload) -> Bytes {
    Bytes((workload.data_size().0 as f64 * fio_share(workload)).round() as u64)
}

/// The share of blocks that can be drawn at all.
pub(super) fn fio_share(workload: &FioWorkload) -> f64 {
    let blocks = workload.size.0 / workload.block.0.max(1);
    match workload.distribution {
        TouchDistribution::Zipf(theta) if workload.rw.starts_with("rand") && blocks <= MOST_BLOCKS => {
            reachable_share(blocks, theta, ZipfHash::default()).unwrap_or(1.0)
        }
        _ => 1.0,
    }
}

/// Whether the population can only be reclaimed into swap.
pub(super) fn needs_swap(workload: &ReclaimProbeWorkload) -> bool {
    workload.population == Population::DirtyAnon
}
