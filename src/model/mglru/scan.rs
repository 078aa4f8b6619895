//! `scan_folios`: sorts and isolates from the tail of the oldest generation.

use super::lruvec::Mglru;
use super::lruvec::gen_of;
use super::sort::Sorted;
use crate::model::core::Core;
use crate::model::event::Event;
use crate::model::kernel::Kernel;
use crate::model::reclaim::MAX_LRU_BATCH;
use crate::model::reclaim::MIN_LRU_BATCH;
use crate::model::reclaim::Progress;
use crate::model::reclaim::ScanControl;

/// What one pass over the lists did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Scanned {
    pub(super) scanned: u64,
    pub(super) isolated: u64,
    sorted: u64,
    protected: u64,
    skipped: u64,
}

/// What to scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) kind: usize,
    pub(super) tier_limit: usize,
    /// Folios looked at: MAX_LRU_BATCH, less in 7.2.
    pub(super) budget: u64,
}

/// Folios whose state is read before they are sorted.
const LOOK_AHEAD: usize = MIN_LRU_BATCH as usize;

impl Mglru {
    /// One zone's list; true when the whole pass is over.
    fn scan_zone(
        &mut self,
        core: &mut Core,
        (target, zone): (Target, usize),
        scan: &ScanControl,
        done: &mut Scanned,
        out: &mut Vec<u32>,
    ) -> bool {
        let kind = target.kind;
        let oldest = gen_of(self.min_seq[kind]);
        let list = self.lists[oldest][kind][zone];
        let mut aside: Vec<u32> = Vec::new();
        let mut run: Vec<u32> = Vec::new();
        let (isolated, mut exhausted) = (done.isolated, false);
        let mut ahead = 0;
        loop {
            if ahead == 0 {
                let mut next = [0; LOOK_AHEAD];
                ahead = list.peek(&core.folios, &mut next);
                core.look_ahead(&next[..ahead]);
            }
            let Some(folio) = list.pop_tail(&mut core.folios) else {
                break;
            };
            ahead -= 1;
            done.scanned += 1;
            match self.sort_folio(core, folio, kind, target.tier_limit) {
                Sorted::Promoted => done.sorted += 1,
                Sorted::Protected => {
                    done.sorted += 1;
                    done.protected += 1;
                }
                Sorted::InRun => {
                    done.sorted += 1;
                    done.protected += 1;
                    run.push(folio);
                }
                Sorted::Evictable if Mglru::isolate_folio(core, folio, scan) => {
                    done.isolated += 1;
                    out.push(folio);
                }
                Sorted::Evictable => aside.push(folio),
            }
            exhausted = done.scanned >= target.budget;
            if exhausted || done.isolated >= MIN_LRU_BATCH || aside.len() as u64 >= MIN_LRU_BATCH {
                break;
            }
        }
        self.nr_pages[oldest][kind][zone] -= (done.isolated - isolated) as i64;
        if !run.is_empty() {
            let next = (oldest + 1) % self.lists.len();
            self.lists[next][kind][zone].add_run_tail(&mut core.folios, &run);
            core.event(Event::ListMove);
        }
        done.skipped += aside.len() as u64;
        // Each was moved to the head of `moved`, which is spliced to the head of the list.
        for folio in &aside {
            list.add_head(&mut core.folios, *folio);
        }
        exhausted || done.isolated >= MIN_LRU_BATCH
    }
}

impl Kernel<Mglru> {
    /// `scan_folios`; isolated folios go to `out` in the order of scanning. The
    /// number returned is 0 unless something was isolated or the budget spent.
    pub(super) fn scan_folios(
        &mut self,
        memcg: usize,
        target: Target,
        scan: &ScanControl,
        out: &mut Vec<u32>,
    ) -> Scanned {
        let lruvec = &mut self.lruvecs[memcg];
        let mut done = Scanned::default();
        if lruvec.nr_gens(target.kind) == super::lruvec::MIN_NR_GENS {
            return done;
        }
        for zone in (0..lruvec.zones).rev() {
            if lruvec.scan_zone(&mut self.core, (target, zone), scan, &mut done, out) {
                break;
            }
        }
        self.count_scan(&done);
        self.count_progress(memcg, scan, Progress::Scan, target.kind, done.isolated);
        self.count_refill(memcg, scan, done.sorted);
        done
    }

    fn count_scan(&mut self, done: &Scanned) {
        let events = &mut self.core.events;
        events.add(Event::ScanFolio, done.scanned);
        events.add(Event::Isolate, done.isolated);
        events.add(Event::SizeUpdateStore, done.isolated);
        events.add(Event::SizeUpdate, done.isolated);
        if self.core.rules.prefetch {
            events.add(Event::PrefetchIssue, done.scanned);
        }
        if self.core.rules.batched_counters && done.protected > 0 {
            events.one(Event::SizeUpdateBatched);
        }
        if done.skipped > 0 {
            events.one(Event::ListSplice);
        }
    }
}

impl Scanned {
    /// What `scan_folios` returns to its caller.
    pub(super) fn progress(&self, budget: u64) -> u64 {
        if self.isolated > 0 || self.scanned >= budget { self.scanned } else { 0 }
    }
}

const _: () = assert!(MIN_LRU_BATCH < MAX_LRU_BATCH);
