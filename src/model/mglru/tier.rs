//! Tiers and the controller that decides which are protected (2.6): `read_ctrl_pos`,
//! `positive_ctrl_err`, `reset_ctrl_pos`, `get_tier_idx`, `get_type_to_scan`.

use super::lruvec::MAX_NR_GENS;
use crate::model::reclaim::MIN_LRU_BATCH;

pub(super) const MAX_NR_TIERS: usize = 4;

type ByTier = [[u64; MAX_NR_TIERS]; 2];

/// Evictions and refaults by type and tier, now and on average.
#[derive(Debug, Clone)]
pub struct Controller {
    hist_gens: usize,
    pub(super) avg_refaulted: ByTier,
    pub(super) avg_total: ByTier,
    refaulted: [ByTier; MAX_NR_GENS],
    evicted: [ByTier; MAX_NR_GENS],
    /// Tier 0 stays 0 until the 6.14 rework counts it.
    protected: [ByTier; MAX_NR_GENS],
}

/// One side of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlPosition {
    pub refaulted: u64,
    pub total: u64,
    pub gain: u64,
}

impl ControlPosition {
    fn add(&mut self, other: ControlPosition) {
        self.refaulted += other.refaulted;
        self.total += other.total;
    }
}

/// `positive_ctrl_err`: true is "do not protect `process`".
#[inline]
pub fn positive_control_error(set: ControlPosition, process: ControlPosition) -> bool {
    process.refaulted < MIN_LRU_BATCH
        || process.refaulted.wrapping_mul(set.total + MIN_LRU_BATCH).wrapping_mul(set.gain)
            <= (set.refaulted + 1).wrapping_mul(process.total).wrapping_mul(process.gain)
}

impl Controller {
    pub(super) fn new(hist_gens: usize) -> Self {
        Controller {
            hist_gens,
            avg_refaulted: [[0; MAX_NR_TIERS]; 2],
            avg_total: [[0; MAX_NR_TIERS]; 2],
            refaulted: [[[0; MAX_NR_TIERS]; 2]; MAX_NR_GENS],
            evicted: [[[0; MAX_NR_TIERS]; 2]; MAX_NR_GENS],
            protected: [[[0; MAX_NR_TIERS]; 2]; MAX_NR_GENS],
        }
    }

    #[inline]
    fn hist(&self, seq: u64) -> usize {
        if self.hist_gens == 1 { 0 } else { seq as usize % MAX_NR_GENS }
    }

    #[inline]
    pub(super) fn note_evicted(&mut self, min_seq: u64, kind: usize, tier: usize) {
        let hist = self.hist(min_seq);
        self.evicted[hist][kind][tier] += 1;
    }

    #[inline]
    pub(super) fn note_refaulted(&mut self, min_seq: u64, kind: usize, tier: usize) {
        let hist = self.hist(min_seq);
        self.refaulted[hist][kind][tier] += 1;
    }

    #[inline]
    pub(super) fn note_protected(&mut self, min_seq: u64, kind: usize, tier: usize) {
        let hist = self.hist(min_seq);
        self.protected[hist][kind][tier] += 1;
    }

    /// `reset_ctrl_pos` with carry-over: the oldest generation, `min_seq`, goes away.
    pub(super) fn carry_over(&mut self, kind: usize, min_seq: u64) {
        let hist = self.hist(min_seq);
        for tier in 0..MAX_NR_TIERS {
            let refaulted = self.avg_refaulted[kind][tier] + self.refaulted[hist][kind][tier];
            self.avg_refaulted[kind][tier] = refaulted / 2;
            let total = self.avg_total[kind][tier]
                + self.evicted[hist][kind][tier]
                + self.protected[hist][kind][tier];
            self.avg_total[kind][tier] = total / 2;
        }
        if self.hist_gens == 1 {
            self.clear(kind, hist);
        }
    }

    /// `reset_ctrl_pos` without: the generation `max_seq` + 1 is made.
    pub(super) fn start(&mut self, kind: usize, max_seq: u64) {
        if self.hist_gens > 1 {
            self.clear(kind, self.hist(max_seq + 1));
        }
    }

    fn clear(&mut self, kind: usize, hist: usize) {
        for table in [&mut self.refaulted, &mut self.evicted, &mut self.protected] {
            table[hist][kind] = [0; MAX_NR_TIERS];
        }
    }

    /// `read_ctrl_pos`.
    #[inline]
    fn read(&self, min_seq: u64, kind: usize, tier: usize, gain: u64) -> ControlPosition {
        let hist = self.hist(min_seq);
        ControlPosition {
            refaulted: self.avg_refaulted[kind][tier] + self.refaulted[hist][kind][tier],
            total: self.avg_total[kind][tier]
                + self.evicted[hist][kind][tier]
                + self.protected[hist][kind][tier],
            gain,
        }
    }

    fn read_all(&self, min_seq: u64, kind: usize, gain: u64) -> ControlPosition {
        let mut sum = self.read(min_seq, kind, 0, gain);
        for tier in 1..MAX_NR_TIERS {
            sum.add(self.read(min_seq, kind, tier, gain));
        }
        sum
    }

    /// Last tier that is not protected, its tiers held against `set`.
    fn limit(&self, min_seq: u64, kind: usize, gain: u64, set: ControlPosition) -> usize {
        let first = (1..MAX_NR_TIERS)
            .find(|tier| !positive_control_error(set, self.read(min_seq, kind, *tier, gain)));
        first.unwrap_or(MAX_NR_TIERS) - 1
    }

    /// `get_tier_idx`; gains 1 and 2, reworked 2 and 3.
    pub(super) fn tier_limit(&self, min_seq: [u64; 2], kind: usize, reworked: bool) -> usize {
        let (set, process) = if reworked { (2, 3) } else { (1, 2) };
        let min_seq = min_seq[kind];
        self.limit(min_seq, kind, process, self.read(min_seq, kind, 0, set))
    }

    /// `get_type_to_scan` up to 6.12: the type, and its tier limit against the other's gain.
    pub(super) fn type_and_tier(&self, min_seq: [u64; 2], swappiness: u64) -> (usize, usize) {
        let gain = [swappiness, 200 - swappiness];
        let set = self.read(min_seq[0], 0, 0, gain[0]);
        let process = self.read(min_seq[1], 1, 0, gain[1]);
        let kind = usize::from(positive_control_error(set, process));
        let other = self.read(min_seq[1 - kind], 1 - kind, 0, gain[1 - kind]);
        (kind, self.limit(min_seq[kind], kind, gain[kind], other))
    }

    /// `get_type_to_scan` reworked, for swappiness 2 to 199: by sums over tiers.
    pub(super) fn type_by_sum(&self, min_seq: [u64; 2], swappiness: u64) -> usize {
        let set = self.read_all(min_seq[0], 0, swappiness);
        let process = self.read_all(min_seq[1], 1, 200 - swappiness);
        usize::from(positive_control_error(set, process))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(refaulted: u64, total: u64, gain: u64) -> ControlPosition {
        ControlPosition { refaulted, total, gain }
    }

    #[test]
    fn control_error_by_hand_values() {
        for (set, process, positive) in [
            (at(0, 0, 1), at(63, 10, 2), true),
            (at(100, 1000, 1), at(100, 500, 2), false),
            (at(100, 1000, 2), at(200, 500, 3), false),
            (at(10, 5000, 60), at(300, 5000, 140), false),
            (at(300, 5000, 60), at(300, 5000, 140), true),
        ] {
            assert_eq!(positive_control_error(set, process), positive, "{set:?} {process:?}");
        }
    }

    #[test]
    fn carry_over_halves_and_the_slot_is_cleared_when_due() {
        for hist_gens in [1, 4] {
            let mut controller = Controller::new(hist_gens);
            for _ in 0..65 {
                controller.note_evicted(2, 1, 0);
                controller.note_refaulted(2, 1, 3);
            }
            controller.carry_over(1, 2);
            assert_eq!((controller.avg_total[1][0], controller.avg_refaulted[1][3]), (32, 32));
            controller.start(1, 5);
            assert_eq!(controller.read(6, 1, 0, 1).total, 32, "slot of seq 6 is that of seq 2");
        }
    }

    #[test]
    fn a_tier_is_protected_from_64_refaults() {
        let mut controller = Controller::new(4);
        for _ in 0..63 {
            controller.note_refaulted(0, 1, 2);
        }
        assert_eq!(controller.tier_limit([0, 0], 1, false), 3);
        controller.note_refaulted(0, 1, 2);
        assert_eq!(controller.tier_limit([0, 0], 1, false), 1);
        assert_eq!(controller.tier_limit([0, 0], 1, true), 1);
    }
}
