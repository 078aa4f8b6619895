//! The limits that a zone's size, its CPUs and their cache set: watermarks
//! (`__setup_per_zone_wmarks`), batch (`zone_batchsize`), high
//! (`zone_highsize`) and the cache slice (`zone_pcp_update_cacheinfo`).

use crate::units::Bytes;
use crate::units::Pages;

use super::percpu::PcpLimits;
use super::rules::PcpRules;

/// `MIN_PERCPU_PAGELIST_HIGH_FRACTION`: an eighth of the zone at most.
const HIGH_FRACTION: u64 = 8;
const LARGEST_MIN_FREE_KIB: u64 = 262_144;
const SMALLEST_MIN_FREE_KIB: u64 = 128;

/// The free-page marks of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watermarks {
    pub min: Pages,
    pub low: Pages,
    pub high: Pages,
}

impl Watermarks {
    /// The default marks of a machine with one zone (`min_free_kbytes` and
    /// `watermark_scale_factor` untouched).
    pub fn of_zone(managed: Pages) -> Self {
        let kib = managed.0 * 4;
        let min_free = (kib * 16).isqrt().clamp(SMALLEST_MIN_FREE_KIB, LARGEST_MIN_FREE_KIB);
        let min = min_free / 4;
        let gap = (min / 4).max(managed.0 * 10 / 10_000);
        Watermarks { min: Pages(min), low: Pages(min + gap), high: Pages(min + 2 * gap) }
    }
}

/// Pages moved between a list and the buddy at once.
pub fn zone_batchsize(managed: Pages, rules: &PcpRules) -> u32 {
    let share =
        if rules.small_zone_batch { (managed.0 >> 12).min(64) } else { (managed.0 >> 10).min(256) / 4 };
    let share = share.max(1);
    let scaled = share + share / 2;
    (1u32 << scaled.ilog2()) - 1
}

/// What the lists of one CPU are sized from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneSize {
    pub managed: Pages,
    pub low: Pages,
    /// CPUs of the zone's node.
    pub local_cpus: u32,
    /// `vm.percpu_pagelist_high_fraction`, if set: no tuning.
    pub high_fraction: Option<u32>,
    /// Last-level cache divided by the CPUs that share it.
    pub cache_slice: Option<Bytes>,
}

impl ZoneSize {
    /// The limits of every CPU's lists.
    pub fn limits(&self, rules: &PcpRules) -> PcpLimits {
        let batch = zone_batchsize(self.managed, rules).max(1);
        let per_cpu = |pages: u64| {
            let share = pages / u64::from(self.local_cpus.max(1));
            u32::try_from(share).unwrap_or(u32::MAX).max(batch << 2)
        };
        let (high_min, tuned_max) = match self.high_fraction {
            Some(fraction) => {
                let fixed = per_cpu(self.managed.0 / u64::from(fraction.max(HIGH_FRACTION as u32)));
                (fixed, fixed)
            }
            None => (per_cpu(self.low.0), per_cpu(self.managed.0 / HIGH_FRACTION)),
        };
        let high_max = if rules.auto_tuning { tuned_max } else { high_min };
        // The kernel rounds the slice down to pages before it compares.
        let slice_pages = self.cache_slice.map_or(0, |slice| slice.0 / 4096);
        let free_high_batch = rules.free_high_batch && slice_pages > 3 * u64::from(batch);
        PcpLimits { batch, high_min, high_max: high_max.max(high_min), free_high_batch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(gib: u64, cpus: u32) -> ZoneSize {
        let managed = Bytes::gib(gib).to_pages();
        let low = Watermarks::of_zone(managed).low;
        ZoneSize { managed, low, local_cpus: cpus, high_fraction: None, cache_slice: None }
    }

    #[test]
    fn batch_is_63_from_a_gibibyte_on() {
        for rules in [PcpRules::K61, PcpRules::K612, PcpRules::K72] {
            assert_eq!(zone_batchsize(Bytes::gib(1).to_pages(), &rules), 63);
            assert_eq!(zone_batchsize(Bytes::gib(512).to_pages(), &rules), 63);
            assert_eq!(zone_batchsize(Pages(1000), &rules), 0);
        }
        assert_eq!(zone_batchsize(Bytes::mib(256).to_pages(), &PcpRules::K612), 15);
    }

    #[test]
    fn marks_of_a_16_gib_zone() {
        let marks = Watermarks::of_zone(Bytes::gib(16).to_pages());
        assert_eq!(marks.min, Pages(4096));
        assert_eq!(marks.low, Pages(4096 + 4194));
        assert_eq!(marks.high, Pages(4096 + 2 * 4194));
    }

    #[test]
    fn high_is_shared_out_and_never_below_four_batches() {
        let limits = zone(16, 4).limits(&PcpRules::K612);
        assert_eq!((limits.high_min, limits.high_max), (8290 / 4, 4_194_304 / 8 / 4));
        let limits = zone(16, 128).limits(&PcpRules::K612);
        assert_eq!((limits.high_min, limits.high_max), (252, 4096));
        let limits = zone(16, 4).limits(&PcpRules::K61);
        assert_eq!((limits.high_min, limits.high_max), (2072, 2072));
        let fixed = ZoneSize { high_fraction: Some(100), ..zone(16, 4) }.limits(&PcpRules::K612);
        assert_eq!((fixed.high_min, fixed.high_max), (10_485, 10_485));
    }

    #[test]
    fn a_cache_slice_over_three_batches_keeps_a_batch() {
        let with = |pages: u64| ZoneSize { cache_slice: Some(Bytes(pages * 4096)), ..zone(4, 2) };
        assert!(!with(189).limits(&PcpRules::K612).free_high_batch);
        assert!(with(190).limits(&PcpRules::K612).free_high_batch);
        assert!(!with(190).limits(&PcpRules::V66).free_high_batch);
    }
}
