//! Plays a stream of page operations into a zone and follows the contents:
//! each message is written into its block and read out again, and how many
//! other pages were touched in between says whether a cache still held it.
//!
//! One order of recency stands for the whole machine; a cache of one socket is
//! laid over it by size alone.
//!
//! The reclaim core joins as another source of operations: a folio's index is
//! the slot, its allocation and its free are two operations of order 0.

use thiserror::Error;

use crate::model::stream::PageOperation;
use crate::model::yardstick::StackDistance;

use super::block::{Block, Migratetype};
use super::counts::PcpCounts;
use super::reuse::ReuseHistogram;
use super::zone::Zone;

/// An operation that the zone cannot serve.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DriverError {
    #[error(
        "no free block of order {order} for CPU {cpu} with {free} pages free; the stream needs more memory than \
         the zone has; enlarge the zone or shorten the window"
    )]
    OutOfMemory { cpu: u16, order: u8, free: u64 },
    #[error("slot {slot} is {state}; the stream allocates and frees a slot in turn; correct the stream")]
    Slot { slot: u32, state: &'static str },
}

/// What a span of the stream did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DriverReport {
    pub counts: PcpCounts,
    /// Distance of pages when a message is written into them.
    pub copy_in: ReuseHistogram,
    /// Distance of pages when it is read out.
    pub copy_out: ReuseHistogram,
    pub blocks_allocated: u64,
    pub blocks_freed: u64,
}

impl DriverReport {
    /// What was added after an earlier reading.
    pub fn since(&self, earlier: &Self) -> Self {
        DriverReport {
            counts: self.counts.since(&earlier.counts),
            copy_in: self.copy_in.since(&earlier.copy_in),
            copy_out: self.copy_out.since(&earlier.copy_out),
            blocks_allocated: self.blocks_allocated - earlier.blocks_allocated,
            blocks_freed: self.blocks_freed - earlier.blocks_freed,
        }
    }
}

/// A zone, the blocks in use and the order of their last touches.
#[derive(Debug, Clone)]
pub struct Driver {
    zone: Zone,
    held: Vec<Option<Block>>,
    migratetype: Migratetype,
    /// The order of last touches, if contents are followed.
    touched: Option<StackDistance>,
    report: DriverReport,
}

impl Driver {
    /// Buffers of the kernel, whose contents are followed. `slots`: blocks that
    /// the stream holds at once, at most.
    pub fn new(zone: Zone, slots: u32) -> Self {
        let touched = Some(StackDistance::new(zone.config().managed.0 as u32));
        Driver { touched, ..Self::without_contents(zone, slots, Migratetype::Unmovable) }
    }

    /// Only lists, buddy and lock: several times as fast.
    pub fn without_contents(zone: Zone, slots: u32, migratetype: Migratetype) -> Self {
        let (held, report) = (vec![None; slots as usize], DriverReport::default());
        Driver { zone, held, migratetype, touched: None, report }
    }

    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The zone itself, for ticks and reclaim between operations.
    pub fn zone_mut(&mut self) -> &mut Zone {
        &mut self.zone
    }

    /// Counts and distances since the start.
    pub fn report(&self) -> DriverReport {
        DriverReport { counts: *self.zone.counts(), ..self.report.clone() }
    }

    pub fn apply(&mut self, operation: PageOperation) -> Result<(), DriverError> {
        match operation {
            PageOperation::Allocate { cpu, order, slot } => {
                self.expect_slot(slot, false)?;
                let got = self.zone.allocate(u32::from(cpu), u32::from(order), self.migratetype);
                let free = self.zone.free_pages().0;
                let block = got.ok_or(DriverError::OutOfMemory { cpu, order, free })?.block;
                if let Some(touched) = &mut self.touched {
                    let pages = block.pfn..block.pfn + block.pages();
                    pages.for_each(|page| self.report.copy_in.record(touched.touch(page)));
                }
                self.held[slot as usize] = Some(block);
                self.report.blocks_allocated += 1;
            }
            PageOperation::Free { cpu, slot } => {
                self.expect_slot(slot, true)?;
                if let Some(block) = self.held[slot as usize].take() {
                    if let Some(touched) = &mut self.touched {
                        let pages = block.pfn..block.pfn + block.pages();
                        pages.for_each(|page| self.report.copy_out.record(touched.touch(page)));
                    }
                    self.zone.free(u32::from(cpu), block);
                    self.report.blocks_freed += 1;
                }
            }
        }
        Ok(())
    }

    fn expect_slot(&self, slot: u32, in_use: bool) -> Result<(), DriverError> {
        match self.held.get(slot as usize) {
            None => Err(DriverError::Slot { slot, state: "beyond the announced slots" }),
            Some(held) if held.is_some() == in_use => Ok(()),
            Some(Some(_)) => Err(DriverError::Slot { slot, state: "allocated already" }),
            Some(None) => Err(DriverError::Slot { slot, state: "freed, but holds no block" }),
        }
    }
}

#[cfg(test)]
mod tests;
