//! One zone: the lists of every CPU, the buddy behind them, the zone lock that
//! guards it, and the flags that reclaim and the watermarks set.
//!
//! The reclaim core joins here: it allocates and frees through
//! [`Zone::allocate`] and [`Zone::free`], and tells of kswapd through
//! [`Zone::set_reclaim_active`]. A failed trylock of a list (another CPU
//! draining it) does not happen in a single-threaded model, so only orders
//! without a list go to the buddy directly.

use thiserror::Error;

use crate::units::Bytes;
use crate::units::Pages;

use super::block::Block;
use super::block::Migratetype;
use super::buddy::{Buddy, BuddyWork};
use super::counts::{DrainReason, PcpCounts};
use super::percpu::{PcpLimits, PerCpuPages, ZoneState, list_index};
use super::rules::{MissingPatch, PcpRules};
use super::sizing::{Watermarks, ZoneSize};

/// A zone that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ZoneError {
    #[error(transparent)]
    Rules(#[from] MissingPatch),
    #[error(
        "a zone of {pages} pages cannot be modelled; page numbers are 32 bits; give 1 to 4294967295 pages"
    )]
    Size { pages: u64 },
    #[error("{cpus} CPUs cannot be modelled; lists are per CPU and lines remember 65535; give 1 to 65535")]
    Cpus { cpus: u32 },
}

/// What a zone is made from. A large machine's lists can be modelled on a
/// smaller zone: `limits` and `marks` are given apart from `managed`, which
/// costs some 18 bytes a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneConfig {
    pub managed: Pages,
    pub cpus: u32,
    pub marks: Watermarks,
    pub rules: PcpRules,
    /// Limits of every CPU's lists.
    pub limits: PcpLimits,
    /// An SMP kernel: only there does the tick lower a tuned limit.
    pub smp: bool,
    /// Struct-page lines that stay in a CPU's own cache.
    pub recent_lines: u32,
}

impl ZoneConfig {
    /// A zone of this size with the kernel's own defaults, and a second-level
    /// cache of one MiB a CPU.
    pub fn new(managed: Pages, cpus: u32, rules: PcpRules, cache_slice: Option<Bytes>) -> Self {
        let marks = Watermarks::of_zone(managed);
        let size = ZoneSize { managed, low: marks.low, local_cpus: cpus, high_fraction: None, cache_slice };
        let limits = size.limits(&rules);
        ZoneConfig { managed, cpus, marks, rules, limits, smp: cpus > 1, recent_lines: 16_384 }
    }
}

/// A drain that a free or a tick caused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drain {
    pub pages: u32,
    pub reason: DrainReason,
}

/// A block and the refill that had to come first, in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    pub block: Block,
    pub refilled: u32,
}

/// A zone and its per-CPU lists.
#[derive(Debug, Clone)]
pub struct Zone {
    pub(super) config: ZoneConfig,
    pub(super) state: ZoneState,
    lists: Vec<PerCpuPages>,
    buddy: Buddy,
    counts: PcpCounts,
    /// Pages handed out and not yet freed.
    used: u64,
}

impl Zone {
    pub fn new(config: ZoneConfig) -> Result<Self, ZoneError> {
        config.rules.check()?;
        let pages = u32::try_from(config.managed.0).ok().filter(|&p| p > 0 && p < u32::MAX);
        let pages = pages.ok_or(ZoneError::Size { pages: config.managed.0 })?;
        if config.cpus == 0 || config.cpus > u32::from(u16::MAX) {
            return Err(ZoneError::Cpus { cpus: config.cpus });
        }
        let lists = vec![PerCpuPages::new(config.limits); config.cpus as usize];
        let buddy = Buddy::new(pages, config.cpus, config.recent_lines);
        let (state, counts) = (ZoneState::default(), PcpCounts::default());
        Ok(Zone { config, state, lists, buddy, counts, used: 0 })
    }

    pub fn counts(&self) -> &PcpCounts {
        &self.counts
    }

    pub fn config(&self) -> &ZoneConfig {
        &self.config
    }

    pub fn state(&self) -> ZoneState {
        self.state
    }

    /// The lists of one CPU.
    pub fn lists(&self, cpu: u32) -> &PerCpuPages {
        &self.lists[cpu as usize]
    }

    /// Free pages in the buddy, lists not counted.
    pub fn free_pages(&self) -> Pages {
        Pages(self.buddy.free_pages())
    }

    /// kswapd starts or ends its work on the node.
    pub fn set_reclaim_active(&mut self, active: bool) {
        self.state.reclaim_active = active;
    }

    /// Starts a CPU's limit elsewhere than at its minimum, as after a long run.
    pub fn set_high(&mut self, cpu: u32, high: u32) {
        self.lists[cpu as usize].high = high;
    }

    /// Whether free pages are above the high watermark for this order
    /// (`zone_watermark_ok`).
    fn above_high(&self, order: u32) -> bool {
        self.buddy.free_pages() > self.config.marks.high.0 && (order == 0 || self.buddy.has_block(order))
    }

    /// Hands out a block; `None` when neither list nor buddy has one.
    pub fn allocate(&mut self, cpu: u32, order: u32, migratetype: Migratetype) -> Option<Allocation> {
        if self.config.rules.below_high && !self.state.below_high && !self.above_high(order) {
            self.state.below_high = true;
        }
        let Some(list) = list_index(order, migratetype) else {
            let mut work = BuddyWork::default();
            let pfn = self.buddy.allocate(cpu, order, migratetype, &mut work)?;
            self.counts.buddy_direct.record(1, 1 << order, work);
            return Some(self.hand_out(pfn, order, migratetype, 0));
        };
        let lists = &mut self.lists[cpu as usize];
        let wanted = lists.begin_allocate(order, list, &self.config.rules, self.state);
        let mut refilled = 0;
        if wanted == 0 {
            self.counts.pcp_hit += 1;
        } else {
            let mut work = BuddyWork::default();
            while refilled < wanted {
                let Some(pfn) = self.buddy.allocate(cpu, order, migratetype, &mut work) else { break };
                lists.refill(pfn, list);
                refilled += 1;
            }
            let blocks = u64::from(refilled);
            self.counts.refill.record(blocks, blocks << order, work);
        }
        let pfn = lists.pop(list)?;
        Some(self.hand_out(pfn, order, migratetype, refilled))
    }

    fn hand_out(&mut self, pfn: u32, order: u32, migratetype: Migratetype, refilled: u32) -> Allocation {
        self.used += 1 << order;
        self.counts.pgalloc += 1 << order;
        Allocation { block: Block { pfn, order, migratetype }, refilled }
    }

    /// Takes a block back; the drain it caused, if any.
    pub fn free(&mut self, cpu: u32, block: Block) -> Option<Drain> {
        self.used -= u64::from(block.pages());
        self.counts.pgfree += u64::from(block.pages());
        // The pageblock decides the list, whatever the page was asked for.
        let migratetype = self.buddy.pageblock_type(block.pfn);
        let Some(list) = list_index(block.order, migratetype) else {
            let mut work = BuddyWork::default();
            self.buddy.free(cpu, block.pfn, block.order, &mut work);
            self.counts.buddy_direct.record(1, u64::from(block.pages()), work);
            return None;
        };
        self.counts.pcp_free += 1;
        let decision = self.lists[cpu as usize].free(block.pfn, list, &self.config.rules, self.state)?;
        let reason = if decision.free_high { DrainReason::FreeHigh } else { DrainReason::High };
        let pages = self.drain(cpu, decision.pages, decision.start, reason);
        if self.state.below_high && self.above_high(0) {
            self.state.below_high = false;
        }
        Some(Drain { pages, reason })
    }

    /// Moves pages to the buddy, in one hold or, with `chunked_drain`, in one
    /// a batch.
    fn drain(&mut self, cpu: u32, pages: u32, start: usize, reason: DrainReason) -> u32 {
        let chunked = self.config.rules.chunked_drain || matches!(reason, DrainReason::Decay);
        let step = if chunked { self.config.limits.batch } else { u32::MAX };
        let mut left = pages;
        let mut drained = 0;
        while left > 0 && self.lists[cpu as usize].count > 0 {
            let now = left.min(step);
            drained += self.hold(cpu, now, start, reason);
            left -= now;
        }
        drained
    }

    /// One hold of the zone lock (`free_pcppages_bulk`).
    fn hold(&mut self, cpu: u32, pages: u32, start: usize, reason: DrainReason) -> u32 {
        let (mut work, mut blocks) = (BuddyWork::default(), 0);
        let buddy = &mut self.buddy;
        let taken = self.lists[cpu as usize].drain(pages, start, |pfn, order| {
            buddy.free(cpu, pfn, order, &mut work);
            blocks += 1;
        });
        self.counts.drain_mut(reason).record(blocks, u64::from(taken), work);
        taken
    }

    /// One second passes: tuned limits fall and the surplus goes back
    /// (`refresh_cpu_vm_stats`). Nothing on a kernel without SMP.
    pub fn tick(&mut self) -> u32 {
        if !self.config.smp {
            return 0;
        }
        let mut drained = 0;
        for cpu in 0..self.config.cpus {
            let surplus = self.lists[cpu as usize].decay_high(&self.config.rules);
            if surplus > 0 {
                drained += self.drain(cpu, surplus, 0, DrainReason::Decay);
            }
        }
        drained
    }

    /// Empties the lists of one CPU (`drain_pages_zone`).
    pub fn drain_cpu(&mut self, cpu: u32) -> u32 {
        let most = self.config.limits.batch << super::rules::PCP_BATCH_SCALE_MAX;
        let mut drained = 0;
        while self.lists[cpu as usize].count > 0 {
            drained += self.hold(cpu, self.lists[cpu as usize].count.min(most), 0, DrainReason::Explicit);
        }
        drained
    }

    /// Empties every CPU's lists (`drain_all_pages`).
    pub fn drain_all(&mut self) -> u32 {
        (0..self.config.cpus).map(|cpu| self.drain_cpu(cpu)).sum()
    }

    /// Checks that no page is lost: free, listed and used make up the zone.
    pub fn assert_conserved(&self) {
        let mut listed = 0;
        for (cpu, lists) in self.lists.iter().enumerate() {
            assert_eq!(lists.count, lists.listed(), "count of CPU {cpu} against its lists");
            listed += u64::from(lists.count);
        }
        let total = self.buddy.free_pages() + listed + self.used;
        assert_eq!(total, self.config.managed.0, "free + listed + used against managed");
        self.buddy.assert_consistent();
    }
}
