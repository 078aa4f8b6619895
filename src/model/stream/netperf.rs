//! netperf SCTP_STREAM_MANY to the page allocator: each pair's sender
//! allocates a block for the data of a message, its receiver frees it, mostly
//! on another CPU.
//!
//! Small objects (heads of buffers, acknowledgements) come from slab caches
//! and are left out. Message size is a parameter; above 8 KiB a message is a
//! block of order `ceil(log2(pages))`.

use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// One call of the page allocator. A slot names a block from its allocation
/// to its free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageOperation {
    /// Allocate, and write the data.
    Allocate { cpu: u16, order: u8, slot: u32 },
    /// Read the data, and free.
    Free { cpu: u16, slot: u32 },
}

/// Pairs of sender and receiver over loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetperfWorkload {
    pub pairs: u32,
    pub cpus: u16,
    /// Order of a message's block.
    pub order: u8,
    /// Messages sent and not yet received, at most, a pair.
    pub window: u32,
    /// Messages a task handles before another runs.
    pub burst: u32,
    /// One burst in this many, a task first changes places with another.
    pub migrate_every: u32,
    pub messages: u64,
    pub seed: u64,
}

impl NetperfWorkload {
    /// 64 pairs with messages of 32 KiB; the default receive buffer of 208 KiB
    /// holds six.
    pub fn sctp_stream_many(cpus: u16, messages: u64, seed: u64) -> Self {
        NetperfWorkload { pairs: 64, cpus, order: 3, window: 6, burst: 6, migrate_every: 64, messages, seed }
    }
}

#[derive(Debug, Clone)]
struct Pair {
    /// Slots in flight, oldest first; a window is short.
    queue: Vec<u32>,
}

/// The operations of a [`NetperfWorkload`].
#[derive(Debug, Clone)]
pub struct NetperfStream {
    workload: NetperfWorkload,
    random: Xoshiro256PlusPlus,
    pairs: Vec<Pair>,
    /// CPU of each task: senders at even places, receivers at odd ones.
    cpu: Vec<u16>,
    free_slots: Vec<u32>,
    sent: u64,
}

impl NetperfStream {
    pub fn new(workload: NetperfWorkload) -> Self {
        let workload = NetperfWorkload {
            pairs: workload.pairs.max(1),
            cpus: workload.cpus.max(1),
            window: workload.window.max(1),
            burst: workload.burst.max(1),
            ..workload
        };
        let tasks = workload.pairs * 2;
        NetperfStream {
            random: Xoshiro256PlusPlus::seed_from_u64(workload.seed),
            pairs: vec![Pair { queue: Vec::new() }; workload.pairs as usize],
            cpu: (0..tasks).map(|task| (task % u32::from(workload.cpus)) as u16).collect(),
            free_slots: (0..workload.pairs * workload.window).rev().collect(),
            sent: 0,
            workload,
        }
    }

    /// Slots that can be in use at once.
    pub fn slots(&self) -> u32 {
        self.workload.pairs * self.workload.window
    }

    /// Appends the work of one task's turn; how many operations, 0 at the end.
    pub fn next_batch(&mut self, out: &mut Vec<PageOperation>) -> usize {
        let before = out.len();
        // A turn may find nothing to do; try until one does.
        while out.len() == before && !self.finished() {
            let task = self.random.random_range(0..self.cpu.len());
            self.migrate(task);
            if task.is_multiple_of(2) {
                self.send(task, out);
            } else {
                self.receive(task, out);
            }
        }
        out.len() - before
    }

    fn finished(&self) -> bool {
        self.sent == self.workload.messages && self.free_slots.len() as u32 == self.slots()
    }

    fn migrate(&mut self, task: usize) {
        let every = self.workload.migrate_every;
        if every > 0 && self.random.random_range(0..every) == 0 {
            let other = self.random.random_range(0..self.cpu.len());
            self.cpu.swap(task, other);
        }
    }

    fn send(&mut self, task: usize, out: &mut Vec<PageOperation>) {
        let NetperfWorkload { burst, window, messages, order, .. } = self.workload;
        let queue = &mut self.pairs[task / 2].queue;
        for _ in 0..burst {
            if queue.len() as u32 == window || self.sent == messages {
                return;
            }
            let slot = self.free_slots.pop().expect("a pair below its window leaves a slot");
            queue.push(slot);
            self.sent += 1;
            out.push(PageOperation::Allocate { cpu: self.cpu[task], order, slot });
        }
    }

    fn receive(&mut self, task: usize, out: &mut Vec<PageOperation>) {
        let queue = &mut self.pairs[task / 2].queue;
        let count = queue.len().min(self.workload.burst as usize);
        for slot in queue.drain(..count) {
            self.free_slots.push(slot);
            out.push(PageOperation::Free { cpu: self.cpu[task], slot });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_allocated_once_and_freed_once() {
        let workload = NetperfWorkload::sctp_stream_many(128, 20_000, 3);
        let mut stream = NetperfStream::new(workload);
        let (mut out, mut held) = (Vec::new(), vec![false; stream.slots() as usize]);
        while stream.next_batch(&mut out) > 0 {}
        let mut sent = 0;
        for operation in &out {
            match *operation {
                PageOperation::Allocate { cpu, slot, order } => {
                    assert!(cpu < 128 && order == 3 && !held[slot as usize]);
                    held[slot as usize] = true;
                    sent += 1;
                }
                PageOperation::Free { slot, .. } => {
                    assert!(held[slot as usize]);
                    held[slot as usize] = false;
                }
            }
        }
        assert_eq!((sent, out.len()), (20_000, 40_000));
        assert!(!held.contains(&true));
    }

    #[test]
    fn without_migration_a_cpu_only_sends_or_only_receives() {
        let workload =
            NetperfWorkload { migrate_every: 0, ..NetperfWorkload::sctp_stream_many(128, 5000, 1) };
        let mut stream = NetperfStream::new(workload);
        let mut out = Vec::new();
        while stream.next_batch(&mut out) > 0 {}
        for operation in out {
            match operation {
                PageOperation::Allocate { cpu, .. } => assert!(cpu.is_multiple_of(2)),
                PageOperation::Free { cpu, .. } => assert!(!cpu.is_multiple_of(2)),
            }
        }
    }
}
