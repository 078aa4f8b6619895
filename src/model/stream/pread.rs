//! will-it-scale's pread2: every process reads the same page of the same
//! tmpfs file, for ever. No reclaim; all contention is on the one folio.

use crate::model::access::{Access, AccessKind, Region, RegionKind, Stream};

use super::BATCH;

/// Processes in turn.
#[derive(Debug, Clone)]
pub struct PreadStream {
    region: [Region; 1],
    processes: u16,
    next: u16,
    left: u64,
}

impl PreadStream {
    /// `reads` over all processes, at least one process.
    pub fn new(processes: u16, reads: u64) -> Self {
        let region = [Region::new(0, 1, RegionKind::Shmem)];
        PreadStream { region, processes: processes.max(1), next: 0, left: reads }
    }
}

impl Stream for PreadStream {
    fn regions(&self) -> &[Region] {
        &self.region
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        let count = self.left.min(BATCH as u64);
        for _ in 0..count {
            // tmpfs marks the folio on every read, also of the same page again.
            out.push(Access::by(0, AccessKind::FileRead, self.next));
            self.next = (self.next + 1) % self.processes;
        }
        self.left -= count;
        count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_take_turns_on_one_page() {
        let mut stream = PreadStream::new(104, 10_000);
        let mut out = Vec::new();
        while stream.next_batch(&mut out) > 0 {}
        assert_eq!(out.len(), 10_000);
        assert!(out.iter().enumerate().all(|(i, a)| a.page == 0 && usize::from(a.task) == i % 104));
    }
}
