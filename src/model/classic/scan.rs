//! How much to scan: `prepare_scan_control`, `get_scan_count` and the loop of
//! `shrink_lruvec`. memory.min and memory.low are not modelled (0).

use super::balance::fractions;
use super::balance::inactive_is_low;
use super::lruvec::ACTIVE_LIST;
use super::lruvec::Classic;
use super::lruvec::LISTS;
use crate::model::kernel::Kernel;
use crate::model::reclaim::SWAP_CLUSTER_MAX;
use crate::model::reclaim::ScanControl;

/// How `get_scan_count` splits the scan.
enum Balance {
    /// File only.
    File,
    /// Both by size.
    Equal,
    /// By cost.
    Fractions,
}

impl Kernel<Classic> {
    /// `prepare_scan_control`.
    pub(super) fn prepare_scan_control(&mut self, memcg: usize, scan: &mut ScanControl) {
        let lruvec = &mut self.lruvecs[memcg];
        lruvec.flush_for_scan(&self.core, memcg);
        scan.anon_cost = lruvec.anon_cost;
        scan.file_cost = lruvec.file_cost;
        // The counters are read before the sizes: a flush covers both.
        let activate = lruvec.flushed_activate(&self.core, memcg);
        let sizes = lruvec.flushed_sizes(&self.core);
        for (kind, now) in activate.into_iter().enumerate() {
            scan.may_deactivate[kind] = scan.force_deactivate
                || now != lruvec.refaults[kind]
                || inactive_is_low(sizes.inactive[kind], sizes.active[kind]);
        }
        scan.cache_trim_mode = sizes.inactive[1] >> scan.priority != 0 && !scan.may_deactivate[1];
    }

    /// `get_scan_count`: pages to scan of each list.
    fn get_scan_count(&self, memcg: usize, scan: &ScanControl) -> [u64; LISTS] {
        let lruvec = &self.lruvecs[memcg];
        let free_swap = self.core.memcgs[memcg].free_swap(self.core.swap.free());
        let balance = if !scan.may_swap || free_swap == 0 || scan.swappiness == 0 {
            Balance::File
        } else if scan.priority == 0 {
            Balance::Equal
        } else if scan.cache_trim_mode {
            Balance::File
        } else {
            Balance::Fractions
        };
        let shares = fractions(u64::from(scan.swappiness), scan.anon_cost, scan.file_cost);
        let mut counts = [0; LISTS];
        for (list, count) in counts.iter_mut().enumerate() {
            let kind = list / 2;
            let size = lruvec.sizes[list];
            *count = match balance {
                Balance::File if kind == 0 => 0,
                Balance::File | Balance::Equal => size >> scan.priority,
                Balance::Fractions => shares.scan(size, scan.priority, kind),
            };
        }
        counts
    }

    /// `shrink_lruvec`.
    pub(super) fn shrink_lruvec(&mut self, memcg: usize, scan: &mut ScanControl) {
        let targets = self.get_scan_count(memcg, scan);
        let mut left = targets;
        let mut reclaimed = 0;
        while left[0] > 0 || left[2] > 0 || left[3] > 0 {
            for (list, rest) in left.iter_mut().enumerate() {
                let count = (*rest).min(SWAP_CLUSTER_MAX);
                if count > 0 {
                    *rest -= count;
                    reclaimed += self.shrink_list(memcg, list, count, scan);
                }
            }
            if reclaimed < scan.nr_to_reclaim {
                continue;
            }
            if !drop_smaller(&targets, &mut left) {
                break;
            }
        }
        scan.nr_reclaimed += reclaimed;
        if self.core.swap.total() > 0 {
            let sizes = self.lruvecs[memcg].flushed_sizes(&self.core);
            if inactive_is_low(sizes.inactive[0], sizes.active[0]) {
                self.shrink_active_list(memcg, 0, SWAP_CLUSTER_MAX, scan);
            }
        }
    }

    /// `shrink_list`.
    fn shrink_list(&mut self, memcg: usize, list: usize, count: u64, scan: &mut ScanControl) -> u64 {
        let kind = list / 2;
        if list & ACTIVE_LIST == 0 {
            return self.shrink_inactive_list(memcg, kind, count, scan);
        }
        if scan.may_deactivate[kind] {
            self.shrink_active_list(memcg, kind, count, scan);
        } else {
            scan.skipped_deactivate = true;
        }
        0
    }
}

/// Enough was reclaimed: drops the type with less left, and lets the other finish
/// the same share of its target. False when there is nothing to balance.
fn drop_smaller(targets: &[u64; LISTS], left: &mut [u64; LISTS]) -> bool {
    let anon = left[0] + left[1];
    let file = left[2] + left[3];
    if anon == 0 || file == 0 {
        return false;
    }
    let (dropped, other, rest) = if file > anon { (0, 2, anon) } else { (2, 0, file) };
    let percent = rest * 100 / (targets[dropped] + targets[dropped + 1] + 1);
    left[dropped] = 0;
    left[dropped + 1] = 0;
    for list in [other, other + 1] {
        let scanned = targets[list] - left[list];
        left[list] = (targets[list] * (100 - percent) / 100).saturating_sub(scanned);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_type_is_dropped_and_the_other_finishes_its_share() {
        let targets = [100, 50, 400, 200];
        let mut left = [68, 18, 368, 168];
        assert!(drop_smaller(&targets, &mut left));
        // 86 of 151 left of anon is 56%, so file goes to 44% of its targets.
        assert_eq!(left, [0, 0, 176 - 32, 88 - 32]);
        assert!(!drop_smaller(&targets, &mut left));
    }

    #[test]
    fn with_equal_rests_file_is_dropped() {
        let mut left = [10, 0, 10, 0];
        assert!(drop_smaller(&[20, 0, 20, 0], &mut left));
        assert_eq!(left, [20 * 53 / 100 - 10, 0, 0, 0]);
    }
}
