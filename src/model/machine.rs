//! Drives accesses into a kernel: the hit path, and the way into faults and reads.
//!
//! A hit costs one byte of the page table and one table entry. To hide the
//! memory behind misses, each small group of accesses is looked through once
//! before it is run.

use super::access::Access;
use super::access::AccessKind;
use super::charge::OutOfMemory;
use super::core::Core;
use super::counter::Counter;
use super::event::Event;
use super::hit::HitTable;
use super::hit::SLOW;
use super::hit::TALLY_LIMIT;
use super::hit::Tally;
use super::kernel::Kernel;
use super::policy::Policy;

/// Accesses looked through at once.
const GROUP: usize = 64;
const _: () = assert!(GROUP <= TALLY_LIMIT);

/// A kernel with the table of its hits.
#[derive(Debug, Clone)]
pub struct Machine<P> {
    pub kernel: Kernel<P>,
    table: HitTable,
}

impl<P: Policy> Machine<P> {
    pub fn new(core: Core) -> Self {
        let table = HitTable::new(&core.rules, &core.platform, core.policy);
        Machine { kernel: Kernel::new(core), table }
    }

    /// Runs the accesses in order; stops when a memcg cannot be reclaimed from.
    pub fn run(&mut self, accesses: &[Access]) -> Result<(), OutOfMemory> {
        for group in accesses.chunks(GROUP) {
            self.look_through(group);
            self.run_group(group)?;
        }
        Ok(())
    }

    /// Reads the state byte of each page and, of those that are not a plain hit, the
    /// slot, the folio and its place on a list, so that the loads of a group overlap.
    #[inline]
    fn look_through(&self, group: &[Access]) {
        let pages = &self.kernel.core.pages;
        let mut missing = [0u32; GROUP];
        let mut count = 0;
        for access in group {
            missing[count & (GROUP - 1)] = access.page;
            let entry = self.table.entry(access.kind, pages.state[access.page as usize]);
            count += usize::from(entry & SLOW != 0);
        }
        let missing = &mut missing[..count.min(GROUP)];
        for page in missing.iter_mut() {
            *page = pages.slot[*page as usize];
        }
        // Shadow entries are no index of a folio and are passed over.
        self.kernel.core.folios.look_ahead(missing);
    }

    #[inline]
    fn run_group(&mut self, group: &[Access]) -> Result<(), OutOfMemory> {
        let mut tally = Tally::default();
        // Eight bits a kind, which a group cannot overflow.
        let mut kinds = 0u64;
        let mut slow = 0u64;
        for access in group {
            let kind = 1u64 << (8 * access.kind as u32);
            kinds += kind;
            let state = &mut self.kernel.core.pages.state[access.page as usize];
            let entry = self.table.entry(access.kind, *state);
            if entry & SLOW == 0 {
                *state = entry as u8;
                tally.add(entry);
            } else {
                slow += kind;
                self.slow(*access)?;
            }
        }
        let of = |counts: u64, kind: AccessKind| counts >> (8 * kind as u32) & 0xff;
        let marking = [AccessKind::FileRead, AccessKind::FileWrite];
        let marks: u64 = marking.into_iter().map(|kind| of(kinds, kind) - of(slow, kind)).sum();
        let core = &mut self.kernel.core;
        core.accesses += group.len() as u64;
        for (event, kind) in KIND_EVENTS.iter().zip(AccessKind::ALL) {
            core.events.add(*event, of(kinds, kind));
        }
        let faults = tally.flush(&mut core.events, marks);
        if faults > 0 {
            let region = core.region_of(group[0].page);
            let memcg = usize::from(core.regions[region].memcg);
            core.count(memcg, Counter::PgFault, faults);
        }
        Ok(())
    }

    #[inline(never)]
    fn slow(&mut self, access: Access) -> Result<(), OutOfMemory> {
        match access.kind {
            AccessKind::MapRead => self.kernel.fault(access.page, false),
            AccessKind::MapWrite => self.kernel.fault(access.page, true),
            AccessKind::FileRead => self.kernel.read(&self.table, access.page, true),
            AccessKind::FileReadAgain => self.kernel.read(&self.table, access.page, false),
            AccessKind::FileWrite => self.kernel.write(&self.table, access.page),
            AccessKind::Free => {
                self.kernel.free_page(access.page);
                Ok(())
            }
        }
    }
}

const KIND_EVENTS: [Event; 6] = [
    Event::AccessMapRead,
    Event::AccessMapWrite,
    Event::AccessFileRead,
    Event::AccessFileWrite,
    Event::AccessFileReadAgain,
    Event::AccessFree,
];
