//! Miss-ratio curves: misses over memory sizes, a policy a line, cells in
//! parallel. Any policy can join by [`MissCounter`], the yardsticks and the
//! reclaim core alike. The result does not depend on the number of threads.

mod reclaim;

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::thread;

use crate::model::access::Access;
use crate::model::access::AccessKind;
use crate::model::access::Region;
use crate::model::access::Stream;
use crate::model::yardstick::{Distance, StackDistance, Yardstick};
use crate::units::Pages;

pub use reclaim::ReclaimPolicy;

/// The accesses of one curve, read by every cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    pub regions: Vec<Region>,
    pub accesses: Vec<Access>,
}

impl Recording {
    /// Takes at most `limit` accesses off a stream.
    pub fn of(stream: &mut (impl Stream + ?Sized), limit: usize) -> Self {
        let mut accesses = Vec::new();
        while accesses.len() < limit && stream.next_batch(&mut accesses) > 0 {}
        accesses.truncate(limit);
        Recording { regions: stream.regions().to_vec(), accesses }
    }

    /// One past the largest page id.
    pub fn pages(&self) -> u32 {
        let touched = self.accesses.iter().map(|a| a.page + 1).max().unwrap_or(0);
        self.regions.iter().map(Region::end).max().unwrap_or(0).max(touched)
    }

    /// Accesses that ask for a page; a `Free` does not.
    pub fn demands(&self) -> u64 {
        self.accesses.iter().filter(|a| a.kind != AccessKind::Free).count() as u64
    }

    /// Demands of a page that was not there before: they miss at any size.
    pub fn first_touches(&self) -> u64 {
        let mut known = vec![false; self.pages() as usize];
        let mut first = 0;
        for access in &self.accesses {
            let demanded = access.kind != AccessKind::Free;
            first += u64::from(demanded && !known[access.page as usize]);
            known[access.page as usize] = demanded;
        }
        first
    }
}

/// What one cell counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Misses {
    /// Demands of a page that was not resident.
    pub misses: u64,
    /// Refaults as the policy's own counters see them; `None` lets the curve
    /// count the misses beyond first touches.
    pub refaults: Option<u64>,
}

/// A policy that can be run over a recording at a size.
pub trait MissCounter: Sync {
    /// The line's name.
    fn name(&self) -> &str;

    /// Misses from an empty memory of this size; `None` if the policy cannot
    /// run in so little.
    fn count(&self, recording: &Recording, size: Pages) -> Option<Misses>;
}

impl MissCounter for Yardstick {
    fn name(&self) -> &str {
        (*self).name()
    }

    fn count(&self, recording: &Recording, size: Pages) -> Option<Misses> {
        let size = u32::try_from(size.0).unwrap_or(u32::MAX);
        Some(Misses { misses: self.misses(&recording.accesses, recording.pages(), size), refaults: None })
    }
}

/// A policy given as a name and a function.
pub struct Named<F> {
    pub name: String,
    pub count: F,
}

impl<F: Fn(&Recording, Pages) -> Option<Misses> + Sync> MissCounter for Named<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, recording: &Recording, size: Pages) -> Option<Misses> {
        (self.count)(recording, size)
    }
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveRow {
    pub policy: String,
    pub size: Pages,
    pub accesses: u64,
    pub misses: u64,
    pub refaults: u64,
}

impl CurveRow {
    /// Names of [`CurveRow::fields`].
    pub const HEADER: [&'static str; 7] =
        ["policy", "size_pages", "accesses", "misses", "miss_ratio", "refaults", "refault_ratio"];

    pub fn miss_ratio(&self) -> f64 {
        share(self.misses, self.accesses)
    }

    pub fn refault_ratio(&self) -> f64 {
        share(self.refaults, self.accesses)
    }

    /// The row as fields of a CSV line.
    pub fn fields(&self) -> [String; 7] {
        [
            self.policy.clone(),
            self.size.0.to_string(),
            self.accesses.to_string(),
            self.misses.to_string(),
            format!("{:.6}", self.miss_ratio()),
            self.refaults.to_string(),
            format!("{:.6}", self.refault_ratio()),
        ]
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Every policy at every size, in that order, on up to `threads` threads. A
/// size too small for a policy leaves its row out.
pub fn miss_ratio_curves(
    recording: &Recording,
    policies: &[&dyn MissCounter],
    sizes: &[Pages],
    threads: usize,
) -> Vec<CurveRow> {
    let (accesses, first) = (recording.demands(), recording.first_touches());
    let cells = policies.len() * sizes.len();
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(vec![None; cells]));
    let work = || {
        loop {
            let cell = next.fetch_add(1, Ordering::Relaxed);
            if cell >= cells {
                return;
            }
            let (policy, size) = (policies[cell / sizes.len()], sizes[cell % sizes.len()]);
            let counted = policy.count(recording, size);
            let row = counted.map(|counted| CurveRow {
                policy: policy.name().to_owned(),
                size,
                accesses,
                misses: counted.misses,
                refaults: counted.refaults.unwrap_or(counted.misses.saturating_sub(first)),
            });
            rows.lock().expect("no holder panics while it stores a row")[cell] = row;
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.clamp(1, cells.max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let rows = rows.into_inner().expect("no holder panics while it stores a row");
    rows.into_iter().flatten().collect()
}

/// The LRU curve at all these sizes in one pass over the recording. Exact
/// only while no page goes away, so a recording with `Free` yields `None`.
pub fn lru_curve(recording: &Recording, sizes: &[Pages]) -> Option<Vec<CurveRow>> {
    if recording.accesses.iter().any(|a| a.kind == AccessKind::Free) {
        return None;
    }
    let mut stack = StackDistance::new(recording.pages());
    let mut at_distance = vec![0u64; recording.pages() as usize];
    let mut cold = 0;
    for access in &recording.accesses {
        match stack.touch(access.page) {
            Distance::Cold => cold += 1,
            Distance::Pages(pages) => at_distance[pages as usize] += 1,
        }
    }
    let accesses = recording.demands();
    let rows = sizes.iter().map(|&size| {
        let from = usize::try_from(size.0.max(1)).unwrap_or(usize::MAX).min(at_distance.len());
        let refaults: u64 = at_distance[from..].iter().sum();
        let policy = Yardstick::Lru.name().to_owned();
        CurveRow { policy, size, accesses, misses: cold + refaults, refaults }
    });
    Some(rows.collect())
}

/// Sizes from `smallest` to `largest`, evenly spaced in ratio, without repeats.
pub fn geometric_sizes(smallest: Pages, largest: Pages, points: usize) -> Vec<Pages> {
    let (low, high) = (smallest.0.max(1) as f64, largest.0.max(smallest.0).max(1) as f64);
    let steps = points.saturating_sub(1).max(1) as f64;
    let mut sizes: Vec<Pages> =
        (0..points).map(|i| Pages((low * (high / low).powf(i as f64 / steps)).round() as u64)).collect();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::access::RegionKind;

    fn recording(pages: impl Iterator<Item = u32>) -> Recording {
        let accesses = pages.map(|page| Access::new(page, AccessKind::MapRead)).collect();
        Recording { regions: vec![Region::new(0, 1000, RegionKind::Anon)], accesses }
    }

    fn skewed() -> Recording {
        recording((0..30_000u64).map(|i| {
            let draw = (i * 2_654_435_761) % 1_000_003;
            (draw * draw % 1_000_003 * draw / 1_000_003 * 1000 / 1_000_003) as u32
        }))
    }

    #[test]
    fn rows_do_not_depend_on_threads() {
        let recording = skewed();
        let sizes = geometric_sizes(Pages(10), Pages(1000), 7);
        let own = Named {
            name: "never".to_owned(),
            count: |r: &Recording, _| Some(Misses { misses: r.demands(), refaults: Some(7) }),
        };
        let mut policies: Vec<&dyn MissCounter> =
            Yardstick::ALL.iter().map(|y| y as &dyn MissCounter).collect();
        policies.push(&own);
        let one = miss_ratio_curves(&recording, &policies, &sizes, 1);
        assert_eq!(one, miss_ratio_curves(&recording, &policies, &sizes, 5));
        assert_eq!(one.len(), 49);
        assert_eq!(one[48].fields(), ["never", "1000", "30000", "30000", "1.000000", "7", "0.000233"]);
        for row in &one[..42] {
            assert_eq!(row.misses - row.refaults, recording.first_touches());
        }
    }

    #[test]
    fn one_pass_gives_the_lru_line() {
        let recording = skewed();
        let sizes = geometric_sizes(Pages(1), Pages(2000), 12);
        let cells = miss_ratio_curves(&recording, &[&Yardstick::Lru], &sizes, 2);
        assert_eq!(lru_curve(&recording, &sizes), Some(cells));
    }

    #[test]
    fn a_freed_page_is_touched_first_again() {
        let mut recording = recording([1, 2, 1].into_iter());
        recording.accesses.insert(2, Access::new(1, AccessKind::Free));
        assert_eq!((recording.demands(), recording.first_touches()), (3, 3));
        assert_eq!(lru_curve(&recording, &[Pages(2)]), None);
        let rows = miss_ratio_curves(&recording, &[&Yardstick::Belady], &[Pages(2)], 1);
        assert_eq!((rows[0].misses, rows[0].refaults), (3, 0));
        assert!(miss_ratio_curves(&recording, &[], &[], 4).is_empty());
    }

    #[test]
    fn sizes_are_spaced_by_ratio() {
        assert_eq!(geometric_sizes(Pages(1), Pages(8), 4), [Pages(1), Pages(2), Pages(4), Pages(8)]);
        assert_eq!(geometric_sizes(Pages(1), Pages(2), 5), [Pages(1), Pages(2)]);
    }
}
