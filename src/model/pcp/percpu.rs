//! One CPU's page lists in one zone: `struct per_cpu_pages` and the rules that
//! say how many pages to take from the buddy, how many to keep, and how many
//! to give back (`nr_pcp_alloc`, `nr_pcp_high`, `nr_pcp_free`,
//! `free_unref_page_commit`, `decay_pcp_high`).
//!
//! Only arithmetic and lists; the zone lock and the buddy belong to
//! [`super::Zone`].

use std::collections::VecDeque;

use super::block::{COSTLY_ORDER, Migratetype, PCP_TYPES, PMD_ORDER};
use super::rules::{PCP_BATCH_SCALE_MAX, PcpRules};

/// Twelve lists for orders 0 to 3, two for huge pages.
const LISTS: usize = (COSTLY_ORDER as usize + 1) * PCP_TYPES + 2;

/// What the zone's flags say while a page is freed or allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ZoneState {
    /// `ZONE_RECLAIM_ACTIVE`: kswapd is at work on the node.
    pub reclaim_active: bool,
    /// `ZONE_BELOW_HIGH`: an allocation saw free pages below the high watermark.
    pub below_high: bool,
}

/// The limits of a list, set at boot and by the sysctl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PcpLimits {
    pub batch: u32,
    pub high_min: u32,
    pub high_max: u32,
    /// `PCPF_FREE_HIGH_BATCH`: the CPU's cache slice holds over three batches.
    pub free_high_batch: bool,
}

/// How many pages a free must give back to the buddy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainDecision {
    pub pages: u32,
    /// A run of high-order frees asked for it, not a full list.
    pub free_high: bool,
    /// The list that the drain starts with.
    pub start: usize,
}

/// `struct per_cpu_pages`.
#[derive(Debug, Clone)]
pub struct PerCpuPages {
    pub count: u32,
    pub high: u32,
    pub limits: PcpLimits,
    pub alloc_factor: u32,
    /// Doublings of the free batch; unused once frees are counted in pages.
    pub free_factor: u32,
    pub free_count: u32,
    prev_free_high_order: bool,
    lists: [VecDeque<u32>; LISTS],
}

/// The list of an order and migrate type, if it is kept per CPU
/// (`order_to_pindex`).
pub fn list_index(order: u32, migratetype: Migratetype) -> Option<usize> {
    if order <= COSTLY_ORDER {
        Some(PCP_TYPES * order as usize + migratetype.index())
    } else if order == PMD_ORDER {
        Some(LISTS - 2 + usize::from(migratetype == Migratetype::Movable))
    } else {
        None
    }
}

/// The order of the blocks on a list (`pindex_to_order`).
fn list_order(index: usize) -> u32 {
    if index >= LISTS - 2 { PMD_ORDER } else { (index / PCP_TYPES) as u32 }
}

impl PerCpuPages {
    pub fn new(limits: PcpLimits) -> Self {
        PerCpuPages {
            count: 0,
            high: limits.high_min,
            limits,
            alloc_factor: 0,
            free_factor: 0,
            free_count: 0,
            prev_free_high_order: false,
            lists: Default::default(),
        }
    }

    fn clamp_high(&mut self) -> u32 {
        self.high = self.high.clamp(self.limits.high_min, self.limits.high_max);
        self.high
    }

    fn tuned(&self, rules: &PcpRules) -> bool {
        rules.auto_tuning && self.limits.high_min != self.limits.high_max
    }

    /// Blocks of `order` to take from the buddy for an empty list
    /// (`nr_pcp_alloc`).
    fn nr_pcp_alloc(&mut self, order: u32, rules: &PcpRules, zone: ZoneState) -> u32 {
        let PcpLimits { batch: base, high_max, .. } = self.limits;
        let mut batch = base;
        if rules.alloc_factor {
            let mut high = self.clamp_high();
            if high < base {
                return 1;
            }
            if order == 0 {
                batch = base << self.alloc_factor;
            }
            // While pages are asked for, the lists may hold more.
            if self.tuned(rules) && !(rules.below_high && zone.below_high) {
                high = (high + batch).min(high_max);
                self.high = high;
            }
            if order == 0 {
                let most = high.saturating_sub(self.count).saturating_sub(base).max(base);
                if batch <= most && self.alloc_factor < PCP_BATCH_SCALE_MAX {
                    self.alloc_factor += 1;
                }
                batch = batch.min(most);
            }
        }
        if batch > 1 { (batch >> order).max(2) } else { batch }
    }

    /// Marks an allocation; how many blocks a refill must bring first, 0 if
    /// the list has one.
    pub fn begin_allocate(&mut self, order: u32, list: usize, rules: &PcpRules, zone: ZoneState) -> u32 {
        if rules.free_count {
            self.free_count >>= 1;
        } else {
            self.free_factor >>= 1;
        }
        if self.lists[list].is_empty() { self.nr_pcp_alloc(order, rules, zone) } else { 0 }
    }

    /// A block from the buddy, behind those already there.
    pub fn refill(&mut self, pfn: u32, list: usize) {
        self.lists[list].push_back(pfn);
        self.count += 1 << list_order(list);
    }

    /// The block that was freed last, or refilled first.
    pub fn pop(&mut self, list: usize) -> Option<u32> {
        let pfn = self.lists[list].pop_front()?;
        self.count -= 1 << list_order(list);
        Some(pfn)
    }

    /// The limit above which a free gives pages back (`nr_pcp_high`).
    fn nr_pcp_high(&mut self, free_high: bool, rules: &PcpRules, zone: ZoneState) -> u32 {
        let PcpLimits { batch, high_min, high_max, .. } = self.limits;
        if !rules.auto_tuning {
            return match (free_high || self.high == 0, zone.reclaim_active) {
                (true, _) => 0,
                (false, true) => (batch << 2).min(self.high),
                (false, false) => self.high,
            };
        }
        let high = self.clamp_high();
        if high == 0 {
            return 0;
        }
        let shrunk = |by: u32| high.saturating_sub(by).max(high_min);
        if free_high {
            self.high = shrunk(batch << PCP_BATCH_SCALE_MAX);
            return 0;
        }
        let freed = if rules.free_count { self.free_count } else { batch << self.free_factor };
        if zone.reclaim_active {
            self.high = shrunk(freed.max(batch));
            return (batch << 2).min(self.high);
        }
        if !self.tuned(rules) {
            return high;
        }
        if rules.below_high && zone.below_high {
            self.high = shrunk(freed.max(batch));
            return self.count.max(high_min);
        }
        if self.count >= high {
            let need = freed + batch;
            if self.high < need {
                self.high = need.clamp(high_min, high_max);
            }
        }
        high
    }

    /// How many pages to give back at once (`nr_pcp_free`).
    fn nr_pcp_free(&mut self, high: u32, free_high: bool, rules: &PcpRules) -> u32 {
        let batch = self.limits.batch;
        if free_high {
            let most = if rules.bounded_free_high { batch << PCP_BATCH_SCALE_MAX } else { u32::MAX };
            return self.count.min(most);
        }
        if high < batch {
            return 1;
        }
        // At least a batch stays, unless the list is smaller than two.
        let most = (high - batch).max(batch);
        if rules.free_count {
            return self.free_count.clamp(batch, most);
        }
        let wanted = batch.checked_shl(self.free_factor).unwrap_or(u32::MAX);
        let room = if rules.bounded_free_high { wanted <= high - batch } else { wanted < high - batch };
        let scale = if rules.batch_scale_limit { PCP_BATCH_SCALE_MAX } else { u32::MAX };
        if room && self.free_factor < scale {
            self.free_factor += 1;
        }
        wanted.clamp(batch, most)
    }

    /// Puts a freed block at the head of its list and says what must go back
    /// to the buddy (`free_unref_page_commit`).
    pub fn free(
        &mut self,
        pfn: u32,
        list: usize,
        rules: &PcpRules,
        zone: ZoneState,
    ) -> Option<DrainDecision> {
        let PcpLimits { batch, high_min, .. } = self.limits;
        let order = list_order(list);
        if rules.alloc_factor {
            self.alloc_factor >>= 1;
        }
        self.lists[list].push_front(pfn);
        self.count += 1 << order;
        let mut free_high = false;
        if (1..=COSTLY_ORDER).contains(&order) {
            let in_a_row = match (rules.free_count, rules.free_high_threshold) {
                (true, true) => self.free_count >= batch + high_min / 2,
                (true, false) => self.free_count >= batch,
                (false, _) => self.free_factor > 0,
            };
            let keep = rules.free_high_batch && self.limits.free_high_batch && self.count < batch;
            free_high = in_a_row && (self.prev_free_high_order || !rules.prev_free_high_order) && !keep;
            self.prev_free_high_order = true;
        } else {
            self.prev_free_high_order = false;
        }
        if rules.free_count && self.free_count < batch << PCP_BATCH_SCALE_MAX {
            self.free_count += 1 << order;
        }
        let high = self.nr_pcp_high(free_high, rules, zone);
        if self.count < high {
            return None;
        }
        let pages = self.nr_pcp_free(high, free_high, rules);
        Some(DrainDecision { pages, free_high, start: list })
    }

    /// Takes the coldest blocks off the lists until `pages` are gone, one list
    /// after the other (`free_pcppages_bulk`); hands each to `give`.
    pub fn drain(&mut self, pages: u32, start: usize, mut give: impl FnMut(u32, u32)) -> u32 {
        let target = pages.min(self.count);
        let mut taken = 0;
        let mut list = start;
        while taken < target {
            let order = list_order(list);
            while taken < target {
                let Some(pfn) = self.lists[list].pop_back() else { break };
                taken += 1 << order;
                give(pfn, order);
            }
            list = (list + 1) % LISTS;
        }
        self.count -= taken;
        taken
    }

    /// Lowers a tuned limit on the one-second tick; the pages above it must
    /// be drained (`decay_pcp_high`).
    pub fn decay_high(&mut self, rules: &PcpRules) -> u32 {
        let PcpLimits { batch, high_min, .. } = self.limits;
        if !rules.auto_tuning {
            return 0;
        }
        if self.high > high_min {
            self.high = self
                .count
                .saturating_sub(batch << PCP_BATCH_SCALE_MAX)
                .max(self.high - (self.high >> 3))
                .max(high_min);
        }
        self.count.saturating_sub(self.high)
    }

    /// Pages on the lists, counted one list at a time.
    pub fn listed(&self) -> u32 {
        self.lists.iter().enumerate().map(|(index, list)| (list.len() as u32) << list_order(index)).sum()
    }
}
