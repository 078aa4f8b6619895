//! Per-CPU page lists and the buddy allocator of one zone, driven by streams
//! of allocations and frees alone or joined to the reclaim core.
//!
//! Follows `mm/page_alloc.c`: `rmqueue_pcplist`, `free_unref_page_commit`,
//! `free_pcppages_bulk`, `__free_one_page`. Versions and the patches between
//! them are switches in [`PcpRules`]. Not owned here: prices (events only) and
//! the streams (`model::stream`).

mod block;
mod buddy;
mod counts;
mod driver;
mod lines;
mod percpu;
mod reuse;
mod rules;
mod sizing;
mod zone;

pub use block::{Block, COSTLY_ORDER, MAX_ORDER, Migratetype, PMD_ORDER};
pub use buddy::{Buddy, BuddyWork};
pub use counts::{DrainReason, HoldCounts, PcpCounts};
pub use driver::{Driver, DriverError, DriverReport};
pub use percpu::{DrainDecision, PcpLimits, PerCpuPages, ZoneState, list_index};
pub use reuse::ReuseHistogram;
pub use rules::{MissingPatch, PCP_BATCH_SCALE_MAX, PcpRules};
pub use sizing::{Watermarks, ZoneSize, zone_batchsize};
pub use zone::{Allocation, Drain, Zone, ZoneConfig, ZoneError};

#[cfg(test)]
mod tests;
