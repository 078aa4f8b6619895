//! One running kernel under one policy: the shared state, a lruvec for each
//! memcg, and the per-processor batches between them.
//!
//! Follows `mm/swap.c` (`folio_add_lru`, `folio_batch_move_lru`,
//! `lru_add_drain`, `folio_activate`, `folio_rotate_reclaimable`).

use super::core::Core;
use super::counter::Counter;
use super::event::Event;
use super::folio;
use super::policy::Policy;

/// State under policy `P`.
#[derive(Debug, Clone)]
pub struct Kernel<P> {
    pub core: Core,
    pub lruvecs: Vec<P>,
    /// Kept between eviction passes so that they do not allocate.
    pub scratch: Scratch,
}

/// Folio lists that live for one pass.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    pub isolated: Vec<u32>,
    pub kept: Vec<u32>,
    pub retry: Vec<u32>,
    pub neighbours: Vec<u32>,
}

impl<P: Policy> Kernel<P> {
    pub fn new(mut core: Core) -> Self {
        let lruvecs = (0..core.memcgs.len()).map(|_| P::new(&mut core)).collect();
        Kernel { core, lruvecs, scratch: Scratch::default() }
    }

    /// `folio_add_lru`.
    #[inline]
    pub fn folio_add_lru(&mut self, folio: u32, in_fault: bool) {
        let region = self.core.regions[self.core.folio(folio).region()];
        let active = in_fault && region.with_recency && !self.core.reclaiming;
        P::before_add(&mut self.core, folio, active);
        self.core.folios.set(folio, folio::BATCHED);
        self.core.add_batch.push(folio);
        if self.core.add_batch.len() >= self.core.rules.batch {
            self.drain_add();
        }
    }

    /// Drains `lru_add`: list or generation is chosen now.
    pub fn drain_add(&mut self) {
        if self.core.add_batch.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.core.add_batch);
        self.core.event(Event::AddBatch);
        self.core.event(Event::LruLock);
        self.core.events.add(Event::AddBatchFolio, batch.len() as u64);
        for &folio in &batch {
            self.core.folios.clear(folio, folio::BATCHED);
            self.put_on_list(folio);
        }
        self.core.add_batch = batch;
        self.core.add_batch.clear();
    }

    /// `lru_add`: sets the lru flag and links the folio.
    #[inline]
    pub fn put_on_list(&mut self, folio: u32) {
        let memcg = self.core.memcg_of(folio);
        self.core.folios.set(folio, folio::LRU);
        self.lruvecs[memcg].add_folio(&mut self.core, folio);
    }

    /// `lru_add_drain` of the one processor.
    #[inline]
    pub fn lru_add_drain(&mut self) {
        self.drain_add();
        if !self.core.activate_batch.is_empty() {
            self.drain_activate();
        }
    }

    /// `folio_activate`: at once on one processor, else through the batch.
    pub fn folio_activate(&mut self, folio: u32) {
        if !self.core.platform.smp {
            self.activate_now(folio);
            return;
        }
        self.core.folios.set(folio, folio::BATCHED);
        self.core.activate_batch.push(folio);
        if self.core.activate_batch.len() >= self.core.rules.batch {
            self.drain_activate();
        }
    }

    fn drain_activate(&mut self) {
        let batch = std::mem::take(&mut self.core.activate_batch);
        self.core.event(Event::LruLock);
        for &folio in &batch {
            self.core.folios.clear(folio, folio::BATCHED);
            self.activate_now(folio);
        }
        self.core.activate_batch = batch;
        self.core.activate_batch.clear();
    }

    /// `lru_activate`.
    fn activate_now(&mut self, folio: u32) {
        let record = self.core.folio(folio);
        if !record.has(folio::LRU) || record.has(folio::ACTIVE | folio::UNEVICTABLE) {
            return;
        }
        let memcg = self.core.memcg_of(folio);
        let lruvec = &mut self.lruvecs[memcg];
        lruvec.delete_folio(&mut self.core, folio);
        self.core.set_active(folio);
        lruvec.add_folio(&mut self.core, folio);
        self.core.event(Event::ListMove);
        self.core.count(memcg, Counter::PgActivate, 1);
    }

    /// `folio_rotate_reclaimable`: to the tail, so that the next scan takes it.
    pub fn rotate_reclaimable(&mut self, folio: u32) {
        self.core.folios.clear(folio, folio::RECLAIM);
        let record = *self.core.folio(folio);
        if !record.has(folio::LRU) || record.has(folio::UNEVICTABLE) {
            return;
        }
        let memcg = self.core.memcg_of(folio);
        let lruvec = &mut self.lruvecs[memcg];
        lruvec.delete_folio(&mut self.core, folio);
        self.core.clear_active(folio);
        lruvec.add_folio_tail(&mut self.core, folio);
        self.core.event(Event::ListMove);
        self.core.vmstat.add(Counter::PgRotated, 1);
    }

    /// Ends the writes that are under way (`folio_end_writeback`).
    pub fn end_writeback(&mut self) {
        for folio in std::mem::take(&mut self.core.writeback) {
            self.core.folios.clear(folio, folio::WRITEBACK);
            if self.core.folio(folio).has(folio::RECLAIM) {
                self.rotate_reclaimable(folio);
            }
        }
    }
}
