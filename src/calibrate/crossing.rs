//! What the kernel is asked for: faults, system calls, flushes of translations,
//! and a scan of page-table entries.

use std::fs::File;
use std::hint::{black_box, spin_loop};
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use super::chain::map;
use super::error::CalibrateError;
use super::machine::MachineUnderTest;
use super::memory::beyond_cache;
use super::parameter::Parameter;
use super::primitive::{Mapping, PageSize};
use super::round::Group;
use super::timing::{Budget, per_operation, timed};

const PAGE: usize = 4096;
const FAULT_PAGES: usize = 512;
/// Accessed and present bits of an x86 entry.
const PRESENT: u64 = 1;
const ACCESSED: u64 = 1 << 5;

/// Crossings into the kernel.
pub struct Crossing<'m> {
    machine: &'m MachineUnderTest,
    faults: Mapping,
    page: Mapping,
    entries: Mapping,
    place: usize,
    file: File,
}

fn refused(what: &'static str) -> impl Fn(std::io::Error) -> CalibrateError {
    move |source| CalibrateError::Refused { what, source }
}

impl<'m> Crossing<'m> {
    pub fn new(machine: &'m MachineUnderTest) -> Result<Self, CalibrateError> {
        let mut entries = map(beyond_cache(machine) / 2, PageSize::Huge)?;
        // Every third entry is young, in no pattern that a predictor learns quickly.
        for (i, entry) in entries.words_mut().iter_mut().enumerate() {
            let young = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0;
            *entry = PRESENT | if young { ACCESSED } else { 0 };
        }
        let mut page = map(PAGE, PageSize::Small)?;
        page.bytes_mut()[0] = 1;
        let file = File::open("/dev/zero").map_err(refused("pread"))?;
        Ok(Crossing {
            machine,
            faults: map(FAULT_PAGES * PAGE, PageSize::Small)?,
            page,
            entries,
            place: 0,
            file,
        })
    }

    /// Faults on fresh pages; the pages are given back outside the clock.
    fn fault(&mut self, count: u64) -> Result<Duration, CalibrateError> {
        let mut took = Duration::ZERO;
        let mut left = count;
        while left > 0 {
            self.faults.discard().map_err(refused("page fault"))?;
            let pages = left.min(FAULT_PAGES as u64) as usize;
            let bytes = self.faults.bytes_mut();
            took += timed(|| (0..pages).for_each(|page| bytes[page * PAGE] = 1));
            left -= pages as u64;
        }
        Ok(took)
    }

    fn protect(&mut self, count: u64) -> Result<Duration, CalibrateError> {
        let mut failed = None;
        let took = timed(|| {
            for _ in 0..count {
                if let Err(error) = self.page.protect_and_restore() {
                    failed = Some(error);
                    return;
                }
                self.page.bytes_mut()[0] = 1;
            }
        });
        failed.map_or(Ok(took), |error| Err(refused("mprotect")(error)))
    }

    /// Protection changes while `others` threads of this process run elsewhere.
    fn flush(&mut self, budget: Budget, others: usize) -> Result<f64, CalibrateError> {
        let (stop, machine) = (AtomicBool::new(false), self.machine);
        thread::scope(|scope| {
            for other in 1..=others {
                let stop = &stop;
                scope.spawn(move || {
                    machine.pin(other);
                    while !stop.load(Relaxed) {
                        spin_loop();
                    }
                });
            }
            let mut failed = None;
            let found = per_operation("mprotect", budget, |count| match self.protect(count) {
                Ok(took) => took,
                Err(error) => {
                    failed = Some(error);
                    Duration::from_nanos(100 * count)
                }
            });
            stop.store(true, Relaxed);
            failed.map_or(found, Err)
        })
    }

    /// `walk_pte_range` without its promotions: tests two bits, clears one never.
    fn scan(&mut self, count: u64) -> Duration {
        let entries = self.entries.words_mut();
        let (mut place, mut young) = (self.place, 0u64);
        let took = timed(|| {
            let mut left = count as usize;
            while left > 0 {
                let lot = left.min(entries.len() - place);
                for entry in &entries[place..place + lot] {
                    if entry & (PRESENT | ACCESSED) == PRESENT | ACCESSED {
                        young += black_box(1);
                    }
                }
                place = (place + lot) % entries.len();
                left -= lot;
            }
            black_box(young);
        });
        self.place = place;
        took
    }
}

impl Group for Crossing<'_> {
    fn round(&mut self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError> {
        let mut failed = None;
        let fault = per_operation("c_fault", budget, |count| match self.fault(count) {
            Ok(took) => took,
            Err(error) => {
                failed = Some(error);
                Duration::from_nanos(100 * count)
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        let syscall = per_operation("c_syscall", budget, |count| {
            timed(|| {
                (0..count).for_each(|_| {
                    black_box(rustix::process::getppid());
                })
            })
        })?;
        let pread = per_operation("c_pread0", budget, |count| {
            timed(|| (0..count).for_each(|_| drop(black_box(self.file.read_at(&mut [], 0)))))
        })?;
        let mut cells = vec![
            (Parameter::Fault, fault),
            (Parameter::Syscall, syscall),
            (Parameter::PreadZero, pread),
            (Parameter::Pte, per_operation("c_pte", budget, |count| self.scan(count))?),
        ];
        let local = self.flush(budget, 0)?;
        cells.push((Parameter::TlbLocal, local));
        let cpus = self.machine.allowed.len();
        if cpus >= 2 {
            cells.push((Parameter::TlbOne, self.flush(budget, 1)? - local));
        }
        if cpus >= 4 {
            cells.push((Parameter::TlbMany, self.flush(budget, cpus - 1)? - local));
        }
        Ok(cells)
    }
}
