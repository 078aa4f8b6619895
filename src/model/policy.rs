//! What a page replacement policy answers; the rest of reclaim is shared.

use super::core::Core;
use super::counter::LruSizes;
use super::kernel::Kernel;
use super::reclaim::ScanControl;

/// What `folio_check_references` decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    Reclaim,
    /// Only if no write is needed.
    ReclaimClean,
    Keep,
    Activate,
}

/// The lists of one memcg under one policy. Implementations are chosen at
/// compile time, so nothing on a hot path goes through a pointer.
pub trait Policy: Sized {
    fn new(core: &mut Core) -> Self;

    /// `lruvec_add_folio`: at the head of the list that the flags choose.
    fn add_folio(&mut self, core: &mut Core, folio: u32);

    /// `lruvec_add_folio_tail`, for `folio_rotate_reclaimable`.
    fn add_folio_tail(&mut self, core: &mut Core, folio: u32);

    /// `lruvec_del_folio`.
    fn delete_folio(&mut self, core: &mut Core, folio: u32);

    /// What `folio_add_lru` does to a folio before it goes into the batch.
    fn before_add(core: &mut Core, folio: u32, in_fault: bool);

    /// A shadow entry for a folio that is being evicted (`workingset_eviction`).
    fn eviction(&mut self, core: &mut Core, folio: u32) -> u32;

    /// `workingset_refault`, before the folio is added.
    fn refault(&mut self, core: &mut Core, folio: u32, shadow: u32, in_fault: bool);

    /// The slow part of `folio_mark_accessed`: activation.
    fn activate_accessed(kernel: &mut Kernel<Self>, folio: u32);

    /// `folio_check_references`.
    fn check_references(kernel: &mut Kernel<Self>, folio: u32, scan: &mut ScanControl) -> Reference;

    /// Whether a folio that was promoted while isolated is kept unseen.
    fn keeps_promoted(core: &Core) -> bool;

    /// One `shrink_lruvec`, with the drain of the batches.
    fn shrink_lruvec(kernel: &mut Kernel<Self>, memcg: usize, scan: &mut ScanControl);

    /// `prepare_scan_control`, once a priority.
    fn prepare(kernel: &mut Kernel<Self>, memcg: usize, scan: &mut ScanControl);

    /// `snapshot_refaults`, at the end of `do_try_to_free_pages`.
    fn finish(kernel: &mut Kernel<Self>, memcg: usize);

    /// The kernel flushes memcg statistics; matters to a policy that decides by them.
    fn flush_statistics(&mut self, _core: &Core, _memcg: usize) {}

    /// Pages on the lists.
    fn sizes(&self) -> LruSizes;

    /// Bytes of the lists themselves.
    fn bytes(&self) -> usize;

    /// Asserts what must hold between two operations (7.4).
    fn check(&self, core: &Core, memcg: usize);
}
