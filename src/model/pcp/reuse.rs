//! How long ago the contents of a page were last touched when they are touched
//! again, as a histogram fine enough to lay a cache size over.

use crate::model::yardstick::Distance;
use crate::units::Pages;

/// Steps in each doubling of the distance.
const STEPS: u32 = 8;
const STEP_BITS: u32 = STEPS.trailing_zeros();
const BUCKETS: usize = (32 * STEPS) as usize;

/// Distances in distinct pages; exact below 16, then in eighths of a doubling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReuseHistogram {
    counts: Vec<u64>,
    cold: u64,
}

impl Default for ReuseHistogram {
    fn default() -> Self {
        ReuseHistogram { counts: vec![0; BUCKETS], cold: 0 }
    }
}

fn bucket(distance: u32) -> usize {
    if distance < 2 * STEPS {
        return distance as usize;
    }
    let shift = distance.ilog2() - STEP_BITS;
    (shift * STEPS + (distance >> shift)) as usize
}

/// The smallest distance of a bucket.
fn lower_bound(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let steps = u64::from(STEPS);
    if bucket < 2 * steps {
        return bucket;
    }
    let shift = bucket / steps - 1;
    (bucket - shift * steps) << shift
}

impl ReuseHistogram {
    pub fn record(&mut self, distance: Distance) {
        match distance {
            Distance::Cold => self.cold += 1,
            Distance::Pages(pages) => self.counts[bucket(pages)] += 1,
        }
    }

    /// Touches of pages never touched before.
    pub fn cold(&self) -> u64 {
        self.cold
    }

    pub fn total(&self) -> u64 {
        self.cold + self.counts.iter().sum::<u64>()
    }

    /// The share of touches that find the page in a cache of this size; the
    /// bucket that the size cuts counts in proportion.
    pub fn share_within(&self, cache: Pages) -> f64 {
        let mut within = 0.0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            let (from, to) = (lower_bound(bucket), lower_bound(bucket + 1));
            let covered = cache.0.saturating_sub(from).min(to - from) as f64 / (to - from) as f64;
            within += count as f64 * covered;
        }
        match self.total() {
            0 => 0.0,
            total => within / total as f64,
        }
    }

    /// Distances and counts of the buckets in use, ascending.
    pub fn rows(&self) -> Vec<(Pages, u64)> {
        let used = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        used.map(|(bucket, &count)| (Pages(lower_bound(bucket)), count)).collect()
    }

    /// What was added after an earlier reading.
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = self.counts.iter().zip(&earlier.counts).map(|(now, then)| now - then).collect();
        ReuseHistogram { counts, cold: self.cold - earlier.cold }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_distances() {
        let mut last = 0;
        for distance in (0..100_000).chain([u32::MAX / 2, u32::MAX - 1]) {
            let at = bucket(distance);
            assert!(lower_bound(at) <= u64::from(distance) && u64::from(distance) < lower_bound(at + 1));
            assert!(at >= last && at < BUCKETS, "{distance} in {at}");
            last = at;
        }
    }

    #[test]
    fn a_cache_holds_what_is_nearer_than_its_size() {
        let mut reuse = ReuseHistogram::default();
        for distance in 0..1000 {
            reuse.record(Distance::Pages(distance));
        }
        reuse.record(Distance::Cold);
        assert_eq!((reuse.cold(), reuse.total()), (1, 1001));
        for size in [0, 1, 13, 16, 500, 960] {
            let share = reuse.share_within(Pages(size));
            assert!((share - size as f64 / 1001.0).abs() < 1e-9, "{size}: {share}");
        }
        let later = reuse.since(&ReuseHistogram::default());
        assert_eq!(later, reuse);
        assert_eq!(later.rows()[..2], [(Pages(0), 1), (Pages(1), 1)]);
    }
}
