//! Making generations: `try_to_inc_max_seq`, `inc_max_seq`, `inc_min_seq`,
//! `try_to_inc_min_seq`.

use super::lruvec::MAX_NR_GENS;
use super::lruvec::MIN_NR_GENS;
use super::lruvec::Mglru;
use super::lruvec::gen_of;
use crate::model::core::Core;
use crate::model::event::Event;
use crate::model::kernel::Kernel;
use crate::model::list::List;
use crate::model::reclaim::MAX_LRU_BATCH;
use crate::model::version::Version;

impl Kernel<Mglru> {
    /// `try_to_inc_max_seq` for generation `seq`.
    pub(super) fn try_to_inc_max_seq(&mut self, memcg: usize, seq: u64, can_swap: bool) -> bool {
        let lruvec = &mut self.lruvecs[memcg];
        if Mglru::walks(&self.core) {
            if seq <= lruvec.walk_seq {
                self.core.event(Event::AgingRefused);
                return false;
            }
            lruvec.walk_mms(&mut self.core, memcg, seq, can_swap);
        }
        lruvec.inc_max_seq(&mut self.core, seq, can_swap)
    }

    /// The debugfs command `+`: false when refused.
    pub fn debugfs_age(&mut self, memcg: usize, seq: u64, can_swap: bool, force: bool) -> bool {
        self.lru_add_drain();
        let lruvec = &self.lruvecs[memcg];
        if seq != lruvec.max_seq {
            return false;
        }
        let full = lruvec.nr_gens(usize::from(!can_swap)) == MAX_NR_GENS as u64;
        if full && !force && !self.core.rules.is(Version::K72) {
            return false;
        }
        self.try_to_inc_max_seq(memcg, seq, can_swap)
    }
}

impl Mglru {
    /// `inc_max_seq`.
    pub(super) fn inc_max_seq(&mut self, core: &mut Core, seq: u64, can_swap: bool) -> bool {
        if seq != self.max_seq {
            return false;
        }
        core.event(Event::Aging);
        let order = if core.rules.is(Version::K72) { [0, 1] } else { [1, 0] };
        for kind in order {
            while self.nr_gens(kind) == MAX_NR_GENS as u64 && !self.inc_min_seq(core, kind, can_swap) {
                core.event(Event::IncMinSeqRestart);
            }
        }
        for kind in 0..2 {
            self.controller.start(kind, self.max_seq);
        }
        self.max_seq += 1;
        self.timestamps[gen_of(self.max_seq)] = core.accesses;
        true
    }

    /// `inc_min_seq`: the oldest generation of a type joins the next. False after
    /// 4096 folios: the lock is dropped and the caller starts again.
    fn inc_min_seq(&mut self, core: &mut Core, kind: usize, can_swap: bool) -> bool {
        if kind == 1 || can_swap {
            let mut left = MAX_LRU_BATCH;
            for zone in 0..self.zones {
                if !self.empty_oldest(core, kind, zone, &mut left) {
                    return false;
                }
            }
        }
        self.controller.carry_over(kind, self.min_seq[kind]);
        self.min_seq[kind] += 1;
        true
    }

    /// Moves one list of the oldest generation on; false when `left` ran out.
    fn empty_oldest(&mut self, core: &mut Core, kind: usize, zone: usize, left: &mut u64) -> bool {
        let old = gen_of(self.min_seq[kind]);
        let next = (old + 1) % MAX_NR_GENS;
        let from = self.lists[old][kind][zone];
        let to = self.lists[next][kind][zone];
        let mut run: Vec<u32> = Vec::new();
        let mut moved = 0;
        while let Some(folio) = from.pop_tail(&mut core.folios) {
            if core.rules.prefetch {
                core.event(Event::PrefetchIssue);
            }
            if core.rules.two_step() {
                self.count_protected(core, folio, kind);
            }
            let generation = Mglru::inc_gen(core, folio, old);
            if generation != next {
                self.move_promoted(core, folio, generation, kind, zone);
            } else {
                self.nr_pages[old][kind][zone] -= 1;
                self.nr_pages[next][kind][zone] += 1;
                if !core.rules.batched_counters {
                    self.count_move(core, Some(old), Some(next));
                }
                if core.rules.bulk_move {
                    run.push(folio);
                } else {
                    to.add_tail(&mut core.folios, folio);
                    core.event(Event::ListMove);
                }
            }
            moved += 1;
            *left -= 1;
            if *left == 0 {
                break;
            }
        }
        core.events.add(Event::IncMinSeqMove, moved);
        finish_run(core, to, &run, moved);
        *left > 0
    }

    /// Reworked: folios that age are counted as protected, but for those that were
    /// lazily promoted.
    fn count_protected(&mut self, core: &Core, folio: u32, kind: usize) {
        let state = core.page_state(folio);
        let workingset = state & crate::model::page::WORKINGSET != 0;
        if core.refs(state) + u32::from(workingset) != 5 {
            self.controller.note_protected(self.min_seq[kind], kind, core.tier(state));
        }
    }

    /// A folio that a walk promoted: to its own generation, at the tail; with bulk
    /// moves at the head, and never part of the run.
    fn move_promoted(&self, core: &mut Core, folio: u32, generation: usize, kind: usize, zone: usize) {
        let list = self.lists[generation][kind][zone];
        if core.rules.bulk_move {
            list.add_head(&mut core.folios, folio);
        } else {
            list.add_tail(&mut core.folios, folio);
        }
        core.event(Event::ListMove);
    }

    /// `try_to_inc_min_seq`: passes over empty oldest generations.
    pub(super) fn try_to_inc_min_seq(&mut self, core: &Core, can_swap: bool, swappiness: u32) -> bool {
        let mut min_seq = self.min_seq;
        for (kind, seq) in min_seq.iter_mut().enumerate().skip(usize::from(!can_swap)) {
            while *seq + MIN_NR_GENS <= self.max_seq && self.is_generation_empty(core, *seq, kind) {
                *seq += 1;
            }
        }
        if core.rules.types_move_apart() {
            if (1..=200).contains(&swappiness) {
                let hold = self.max_seq - MIN_NR_GENS;
                if min_seq[0] > hold && min_seq[1] < hold {
                    min_seq[0] = hold;
                } else if min_seq[1] > hold && min_seq[0] < hold {
                    min_seq[1] = hold;
                }
            }
        } else if can_swap {
            min_seq[0] = min_seq[0].min(min_seq[1]);
            min_seq[1] = min_seq[0].max(self.min_seq[1]);
        }
        let mut moved = false;
        for (kind, seq) in min_seq.into_iter().enumerate().skip(usize::from(!can_swap)) {
            if seq > self.min_seq[kind] {
                self.controller.carry_over(kind, self.min_seq[kind]);
                self.min_seq[kind] = seq;
                moved = true;
            }
        }
        moved
    }

    fn is_generation_empty(&self, core: &Core, seq: u64, kind: usize) -> bool {
        let lists = &self.lists[gen_of(seq)][kind];
        lists[..self.zones].iter().all(|list| list.is_empty(&core.folios))
    }
}

/// The bulk move and the batched update at the end of a list.
fn finish_run(core: &mut Core, to: List, run: &[u32], moved: u64) {
    if !run.is_empty() {
        to.add_run_tail(&mut core.folios, run);
        core.event(Event::ListMove);
    }
    if core.rules.batched_counters && moved > 0 {
        core.event(Event::SizeUpdateBatched);
    }
}
