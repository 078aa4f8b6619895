//! Counts that follow from others: they are filled in when a snapshot is taken, so
//! that the paths of a miss count each thing once.

use super::counter::Counter;
use super::counter::Counters;
use super::event::Event;
use super::event::Events;
use super::kernel::Kernel;
use super::policy::Policy;
use super::version::Version;

/// Counters that a memcg and the machine count alike.
const ALIKE: [Counter; 10] = [
    Counter::PgFault,
    Counter::PgMajFault,
    Counter::PgActivate,
    Counter::PgDeactivate,
    Counter::WorkingsetRefaultAnon,
    Counter::WorkingsetRefaultFile,
    Counter::WorkingsetActivateAnon,
    Counter::WorkingsetActivateFile,
    Counter::WorkingsetRestoreAnon,
    Counter::WorkingsetRestoreFile,
];

impl<P: Policy> Kernel<P> {
    /// All events.
    pub fn events(&self) -> Events {
        let mut events = self.core.events.clone();
        let vmstat = &self.core.vmstat;
        let calls = [Event::AccessFileRead, Event::AccessFileWrite, Event::AccessFileReadAgain];
        let calls: u64 = calls.iter().map(|e| events.get(*e)).sum();
        let evicted = self.core.memcgs.iter().map(|m| m.counters.pgsteal()).sum();
        let written = vmstat.get(Counter::PswpOut);
        events.add(Event::Syscall, calls + events.get(Event::AccessFree));
        events.add(Event::CopyUser, calls);
        events.add(Event::XarrayLookup, calls);
        events.add(Event::RefcountChange, 2 * calls);
        events.add(Event::XarrayInsert, events.get(Event::PageAllocate) + events.get(Event::AddToSwap));
        events.add(Event::ShadowStore, evicted);
        events.add(Event::XarrayDelete, evicted);
        events.add(Event::ZeroCheck, written);
        let read = vmstat.get(Counter::PswpIn) + vmstat.get(Counter::PgPgIn) / 4;
        events.add(Event::CopyDevice, written + read + vmstat.get(Counter::NrWritten));
        events
    }

    /// All of `/proc/vmstat`.
    pub fn vmstat(&self) -> Counters {
        let mut vmstat = self.core.vmstat.clone();
        for counter in ALIKE {
            let sum = self.core.memcgs.iter().map(|m| m.counters.get(counter)).sum();
            vmstat.add(counter, sum);
        }
        vmstat.add(Counter::PgAlloc, self.core.events.get(Event::PageAllocate));
        vmstat.add(Counter::PgFree, self.core.events.get(Event::PageFree));
        vmstat.add(Counter::NrVmscanWrite, vmstat.get(Counter::PswpOut));
        // A swap device read by bio counts as any other; 6.1 reads ramdisks without one.
        if !self.core.rules.is(Version::K61) {
            vmstat.add(Counter::PgPgIn, 4 * vmstat.get(Counter::PswpIn));
        }
        vmstat
    }
}
