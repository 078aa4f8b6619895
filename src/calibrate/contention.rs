//! Atomic operations and a queued lock, alone and among processors.

use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::thread;
use std::time::Duration;

use super::chain::map;
use super::error::CalibrateError;
use super::machine::MachineUnderTest;
use super::parameter::Parameter;
use super::primitive::{Mapping, PageSize};
use super::round::Group;
use super::timing::{Budget, per_operation, quantile, timed, timed_together};

/// Levels of a charge: the memcg, its parent, the root.
const LEVELS: usize = 3;
const NOBODY: usize = usize::MAX;

/// A cache line of its own.
#[repr(align(128))]
#[derive(Default)]
struct Line<T>(T);

/// A lock whose waiters spin each on a line of their own, as the kernel's
/// queued spinlock does (Mellor-Crummey and Scott, 1991).
struct QueuedLock {
    tail: Line<AtomicUsize>,
    nodes: Vec<Line<Waiter>>,
}

#[derive(Default)]
struct Waiter {
    waits: AtomicBool,
    next: AtomicUsize,
}

impl QueuedLock {
    fn new(threads: usize) -> Self {
        QueuedLock {
            tail: Line(AtomicUsize::new(NOBODY)),
            nodes: (0..threads).map(|_| Line::default()).collect(),
        }
    }

    fn acquire(&self, me: usize) {
        let node = &self.nodes[me].0;
        node.next.store(NOBODY, Relaxed);
        node.waits.store(true, Relaxed);
        let before = self.tail.0.swap(me, AcqRel);
        if before != NOBODY {
            self.nodes[before].0.next.store(me, Release);
            let mut spins = 0u32;
            while node.waits.load(Acquire) {
                wait(&mut spins);
            }
        }
    }

    fn release(&self, me: usize) {
        let node = &self.nodes[me].0;
        if node.next.load(Acquire) == NOBODY {
            if self.tail.0.compare_exchange(me, NOBODY, Release, Relaxed).is_ok() {
                return;
            }
            let mut spins = 0u32;
            while node.next.load(Acquire) == NOBODY {
                wait(&mut spins);
            }
        }
        self.nodes[node.next.load(Acquire)].0.waits.store(false, Release);
    }
}

/// Spins; after a while gives way, since the other may have lost its processor.
fn wait(spins: &mut u32) {
    *spins += 1;
    if (*spins).is_multiple_of(20_000) {
        thread::yield_now();
    } else {
        spin_loop();
    }
}

/// Operations between two looks at the clock.
const LOT: u64 = 64;
/// A thread that waits this long for its turn has lost its partner.
const PATIENCE: u32 = 20_000;

/// Operations in turn, each by another processor, so that each finds the line in
/// another one's cache. A lone processor would do many before it loses the line.
fn take_turns(line: &AtomicU64, (me, threads): (usize, usize), lot: u64) {
    let (me, threads) = (me as u64, threads as u64);
    for _ in 0..lot {
        let mut spins = 0;
        loop {
            let seen = line.load(Relaxed);
            if seen % threads == me && line.compare_exchange(seen, seen + 1, AcqRel, Relaxed).is_ok() {
                break;
            }
            spins += 1;
            if spins > PATIENCE {
                // The other has ended, or lost its processor: take its turn too.
                line.fetch_add(1, Relaxed);
                break;
            }
            spin_loop();
        }
    }
}

/// Atomic operations.
pub struct Contention<'m> {
    machine: &'m MachineUnderTest,
    line: Mapping,
}

impl<'m> Contention<'m> {
    pub fn new(machine: &'m MachineUnderTest) -> Result<Self, CalibrateError> {
        Ok(Contention { machine, line: map(4096, PageSize::Small)? })
    }

    fn alone(&self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError> {
        let records = self.line.records();
        let rmw = per_operation("c_rmw0", budget, |count| {
            timed(|| {
                (0..count).for_each(|_| {
                    records[0].flags.fetch_add(1, Relaxed);
                })
            })
        })?;
        let chain = per_operation("c_atomic_hier", budget, |count| {
            timed(|| {
                let mut carried = 1;
                for _ in 0..count {
                    // Each level's result is the next one's addend, so none overlaps.
                    for record in &records[..LEVELS] {
                        carried = 1 + (record.flags.fetch_add(carried & 1, Relaxed) & 1);
                    }
                }
                std::hint::black_box(carried);
            })
        })?;
        Ok(vec![(Parameter::Rmw, rmw), (Parameter::AtomicHierarchy, chain)])
    }

    /// Nanoseconds between two operations of `threads` processors together. A
    /// sample in which one of them lost its processor is far too long, so samples
    /// are short and the lower quarter counts.
    fn together(&self, threads: usize, budget: Budget, work: &(impl Fn(usize, u64) + Sync)) -> f64 {
        let count = 4 * budget.samples;
        let mut samples: Vec<f64> =
            (0..count).map(|_| self.one_sample(threads, budget.sample / 4, work)).collect();
        quantile(&mut samples, 0.25)
    }

    fn one_sample(&self, threads: usize, time: Duration, work: &(impl Fn(usize, u64) + Sync)) -> f64 {
        let (total, ready) = (AtomicU64::new(0), Barrier::new(threads));
        let stop = AtomicBool::new(false);
        let run = |me: usize| {
            self.machine.pin(me);
            ready.wait();
            let mut done = 0;
            let took = timed_together(|| {
                while !stop.load(Relaxed) {
                    work(me, LOT);
                    done += LOT;
                }
            });
            total.fetch_add(done, Relaxed);
            took
        };
        let took = thread::scope(|scope| {
            let others: Vec<_> = (0..threads).map(|me| scope.spawn(move || run(me))).collect();
            thread::sleep(time);
            stop.store(true, Relaxed);
            others.into_iter().map(|other| other.join().unwrap_or_default()).max().unwrap_or_default()
        });
        took.as_nanos() as f64 / total.load(Relaxed).max(1) as f64
    }

    fn sharing(&self, budget: Budget, threads: usize) -> (f64, f64) {
        let shared = Line(AtomicU64::new(0));
        let rmw = self.together(threads, budget, &|me, lot| take_turns(&shared.0, (me, threads), lot));
        let lock = QueuedLock::new(threads);
        let spin = self.together(threads, budget, &|me, lot| {
            for _ in 0..lot {
                lock.acquire(me);
                lock.release(me);
            }
        });
        (rmw, spin)
    }
}

impl Group for Contention<'_> {
    fn round(&mut self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError> {
        let mut cells = self.alone(budget)?;
        let cpus = self.machine.allowed.len();
        if cpus >= 2 {
            let (rmw, spin) = self.sharing(budget, 2);
            cells.extend([(Parameter::RmwTwo, rmw), (Parameter::SpinTwo, spin)]);
        }
        if cpus >= 4 {
            let (rmw, spin) = self.sharing(budget, cpus);
            cells.extend([(Parameter::RmwMany, rmw), (Parameter::SpinMany, spin)]);
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queued_lock_excludes() {
        let lock = QueuedLock::new(3);
        let inside = AtomicU64::new(0);
        let count = AtomicU64::new(0);
        thread::scope(|scope| {
            for me in 0..3 {
                let (lock, inside, count) = (&lock, &inside, &count);
                scope.spawn(move || {
                    for _ in 0..200 {
                        lock.acquire(me);
                        assert_eq!(inside.fetch_add(1, Relaxed), 0);
                        count.fetch_add(1, Relaxed);
                        inside.fetch_sub(1, Relaxed);
                        lock.release(me);
                    }
                });
            }
        });
        assert_eq!(count.load(Relaxed), 600);
    }
}
