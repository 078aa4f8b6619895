//! Buffered reads and writes of files and of shared memory.
//!
//! Follows `filemap_read`, `generic_perform_write` and
//! `shmem_get_folio_gfp`. A random reader (POSIX_FADV_RANDOM) reads the page it
//! asked for and no more.

use super::access::RegionKind;
use super::charge::OutOfMemory;
use super::counter::Counter;
use super::hit::HitTable;
use super::kernel::Kernel;
use super::page::DIRTY;
use super::page::SHADOW;
use super::policy::Policy;
use super::reclaim::Gfp;

impl<P: Policy> Kernel<P> {
    /// A `read(2)` that the state byte alone did not settle.
    pub fn read(&mut self, table: &HitTable, page: u32, mark: bool) -> Result<(), OutOfMemory> {
        if self.core.pages.is_resident(page) {
            if mark {
                self.mark_accessed(table, page);
            }
            return Ok(());
        }
        let region = self.core.region_of(page);
        let shmem = self.core.regions[region].kind.is_swap_backed();
        let stored = self.core.pages.slot[page as usize] & SHADOW != 0;
        if shmem && !stored {
            // A hole: zeros are copied out, no folio is made.
            return Ok(());
        }
        if shmem {
            self.add_swapped_page(page, region, false, DIRTY)?;
        } else {
            self.core.vmstat.add(Counter::PgPgIn, 4);
            self.add_page(page, region, Gfp::READ, false, 0)?;
        }
        if mark {
            self.mark_accessed(table, page);
        }
        Ok(())
    }

    /// A `write(2)` of a whole page.
    pub fn write(&mut self, table: &HitTable, page: u32) -> Result<(), OutOfMemory> {
        let region = self.core.region_of(page);
        let kind = self.core.regions[region].kind;
        if !self.core.pages.is_resident(page) {
            let stored = self.core.pages.slot[page as usize] & SHADOW != 0;
            if kind == RegionKind::Shmem && stored {
                self.add_swapped_page(page, region, false, 0)?;
            } else {
                let gfp =
                    if kind.is_swap_backed() { Gfp::USER } else { Gfp { no_retry: false, ..Gfp::READ } };
                self.add_page(page, region, gfp, false, 0)?;
            }
        }
        if kind.is_swap_backed() {
            self.core.pages.set(page, DIRTY);
        } else {
            self.dirty_file(page);
        }
        // Background writing may have cleaned the page, but it is still there.
        self.mark_accessed(table, page);
        Ok(())
    }
}
