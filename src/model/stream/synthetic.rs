//! Patterns without a program: cyclic scan, uniform, zipf, and phases of them.
//!
//! The first touch of an anonymous page is a write: a page never written would
//! stay the shared zero page and cost no memory.

use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::access::{Access, AccessKind, Region, RegionKind, Stream};

use super::BATCH;
use super::zipf::ZipfPages;

/// How pages of a phase are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pattern {
    /// From first to last, again and again.
    Cyclic,
    Uniform,
    /// Frequency falls with rank to this exponent; ranks lie in random order.
    Zipf {
        exponent: f64,
    },
}

/// A stretch of time with one pattern on one range of pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    pub pattern: Pattern,
    pub first: u32,
    /// Pages in the range, at least 1.
    pub pages: u32,
    pub accesses: u64,
}

/// Phases one after the other on the same regions.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticWorkload {
    /// Ascending, without overlap, and holding every phase's range.
    pub regions: Vec<Region>,
    pub phases: Vec<Phase>,
    /// Writes in a hundred accesses.
    pub write_percent: u32,
    pub seed: u64,
}

impl SyntheticWorkload {
    /// One pattern over one region.
    pub fn single(kind: RegionKind, pages: u32, pattern: Pattern, accesses: u64, seed: u64) -> Self {
        let phases = vec![Phase { pattern, first: 0, pages, accesses }];
        SyntheticWorkload { regions: vec![Region::new(0, pages, kind)], phases, write_percent: 0, seed }
    }

    /// A working set of `pages` that moves on by its own size, `phases` times.
    pub fn moving(kind: RegionKind, pages: u32, phases: u32, each: u64, seed: u64) -> Self {
        let phase = |number: u32| Phase {
            pattern: Pattern::Zipf { exponent: 0.8 },
            first: number * pages,
            pages,
            accesses: each,
        };
        SyntheticWorkload {
            regions: vec![Region::new(0, pages * phases, kind)],
            phases: (0..phases).map(phase).collect(),
            write_percent: 0,
            seed,
        }
    }
}

#[derive(Debug, Clone)]
enum Draw {
    Cyclic { next: u32 },
    Uniform,
    Zipf(ZipfPages),
}

/// The accesses of a [`SyntheticWorkload`].
#[derive(Debug, Clone)]
pub struct SyntheticStream {
    workload: SyntheticWorkload,
    random: Xoshiro256PlusPlus,
    phase: usize,
    done: u64,
    draw: Option<Draw>,
    /// Pages touched before.
    known: Vec<bool>,
    /// Page of the last `read(2)`, all of them through one open file.
    last_read: Option<u32>,
}

impl SyntheticStream {
    pub fn new(workload: SyntheticWorkload) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(workload.seed);
        let pages = workload.regions.last().map_or(0, Region::end);
        let known = vec![false; pages as usize];
        SyntheticStream { workload, random, phase: 0, done: 0, draw: None, known, last_read: None }
    }

    /// Read or write of a page, by what backs it.
    fn kind(&mut self, page: u32, write: bool) -> AccessKind {
        let regions = &self.workload.regions;
        let at = regions.partition_point(|r| r.end() <= page);
        let first = !std::mem::replace(&mut self.known[page as usize], true);
        match (regions[at].kind, write) {
            // The kernel remembers where the last read of an open file ended.
            (RegionKind::File, false) if self.last_read.replace(page) == Some(page) => {
                AccessKind::FileReadAgain
            }
            (RegionKind::File, false) => AccessKind::FileRead,
            (RegionKind::File, true) => AccessKind::FileWrite,
            (RegionKind::Anon, false) if first => AccessKind::MapWrite,
            (_, false) => AccessKind::MapRead,
            (_, true) => AccessKind::MapWrite,
        }
    }

    fn start(&self, phase: &Phase) -> Draw {
        match phase.pattern {
            Pattern::Cyclic => Draw::Cyclic { next: 0 },
            Pattern::Uniform => Draw::Uniform,
            Pattern::Zipf { exponent } => {
                // Every phase has favourites of its own.
                let seed = self.workload.seed.wrapping_add(self.phase as u64 + 1);
                Draw::Zipf(ZipfPages::new(phase.pages, exponent, seed))
            }
        }
    }
}

impl Stream for SyntheticStream {
    fn regions(&self) -> &[Region] {
        &self.workload.regions
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        let phase = loop {
            let Some(&phase) = self.workload.phases.get(self.phase) else { return 0 };
            if self.done < phase.accesses {
                break phase;
            }
            self.phase += 1;
            self.done = 0;
            self.draw = None;
        };
        let mut draw = self.draw.take().unwrap_or_else(|| self.start(&phase));
        let count = (phase.accesses - self.done).min(BATCH as u64);
        for _ in 0..count {
            let page = match &mut draw {
                Draw::Cyclic { next } => std::mem::replace(next, (*next + 1) % phase.pages),
                Draw::Uniform => self.random.random_range(0..phase.pages),
                Draw::Zipf(zipf) => zipf.draw(&mut self.random),
            };
            let page = phase.first + page;
            let percent = self.workload.write_percent;
            let write = percent > 0 && self.random.random_range(0..100) < percent;
            let kind = self.kind(page, write);
            out.push(Access::new(page, kind));
        }
        self.draw = Some(draw);
        self.done += count;
        count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(workload: SyntheticWorkload) -> Vec<Access> {
        let mut stream = SyntheticStream::new(workload);
        let mut out = Vec::new();
        while stream.next_batch(&mut out) > 0 {}
        out
    }

    #[test]
    fn a_cycle_comes_round() {
        let scan = all(SyntheticWorkload::single(RegionKind::Anon, 3, Pattern::Cyclic, 7, 1));
        assert_eq!(scan.iter().map(|a| a.page).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2, 0]);
        let writes: Vec<bool> = scan.iter().map(|a| a.kind == AccessKind::MapWrite).collect();
        assert_eq!(writes, [true, true, true, false, false, false, false]);
    }

    #[test]
    fn batches_do_not_change_the_accesses_and_seeds_do() {
        let of = |seed| {
            all(SyntheticWorkload::single(
                RegionKind::File,
                500,
                Pattern::Zipf { exponent: 0.99 },
                9000,
                seed,
            ))
        };
        assert_eq!((of(1), of(1).len()), (of(1), 9000));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn a_moving_set_leaves_its_pages() {
        let moving = all(SyntheticWorkload::moving(RegionKind::Anon, 100, 3, 5000, 4));
        for (i, access) in moving.iter().enumerate() {
            assert_eq!(access.page / 100, i as u32 / 5000);
        }
    }

    #[test]
    fn kinds_follow_the_region_and_the_write_share() {
        let regions = vec![Region::new(0, 10, RegionKind::Anon), Region::new(10, 10, RegionKind::File)];
        let phases = vec![Phase { pattern: Pattern::Uniform, first: 0, pages: 20, accesses: 10_000 }];
        let mixed = all(SyntheticWorkload { regions, phases, write_percent: 25, seed: 9 });
        let writes = mixed.iter().filter(|a| matches!(a.kind, AccessKind::MapWrite | AccessKind::FileWrite));
        assert!((2300..2700).contains(&writes.count()));
        assert!(mixed.iter().all(|a| (a.page >= 10) == a.kind.is_syscall()));
    }
}
