//! The interface between workload streams and the reclaim model: accesses, and
//! the regions of pages that they go to.
//!
//! A page id is a `u32`, dense over all regions of a stream: neighbours in a
//! region are neighbours in virtual memory (or in the file), so a page-table
//! walk, the rmap look-around and readahead see the same adjacency.

/// How a page is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AccessKind {
    /// A load through a page table.
    MapRead = 0,
    /// A store through a page table.
    MapWrite = 1,
    /// A `read(2)`: `folio_mark_accessed` on a hit, the read path on a miss.
    FileRead = 2,
    /// A `write(2)` of a whole page.
    FileWrite = 3,
    /// A `read(2)` of the page where the previous read of the same open file
    /// ended: the copy happens, `folio_mark_accessed` does not.
    FileReadAgain = 4,
    /// `munmap`, exit, truncate: the page and its swap or cache copy go away.
    Free = 5,
}

impl AccessKind {
    pub const ALL: [AccessKind; 6] = [
        AccessKind::MapRead,
        AccessKind::MapWrite,
        AccessKind::FileRead,
        AccessKind::FileWrite,
        AccessKind::FileReadAgain,
        AccessKind::Free,
    ];

    /// Whether the access is a system call, not a load or store.
    pub const fn is_syscall(self) -> bool {
        !matches!(self, AccessKind::MapRead | AccessKind::MapWrite)
    }
}

/// One access of a stream, 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    pub page: u32,
    pub kind: AccessKind,
    /// The job, thread or connection it comes from; 0 where a stream has one.
    pub task: u16,
}

impl Access {
    pub const fn new(page: u32, kind: AccessKind) -> Self {
        Access { page, kind, task: 0 }
    }

    pub const fn by(page: u32, kind: AccessKind, task: u16) -> Self {
        Access { page, kind, task }
    }
}

/// What backs the pages of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// Private anonymous memory.
    Anon,
    /// A file accessed through a mapping.
    MappedFile,
    /// A file accessed by system calls.
    File,
    /// tmpfs or shared memory: swap backed, by mapping or by system calls.
    Shmem,
}

impl RegionKind {
    /// Whether reclaim counts it as anon, that is, swaps it.
    pub const fn is_swap_backed(self) -> bool {
        matches!(self, RegionKind::Anon | RegionKind::Shmem)
    }
}

/// A run of page ids with one backing, one VMA and one memcg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    pub first: u32,
    pub pages: u32,
    pub kind: RegionKind,
    /// Index of the memcg that is charged.
    pub memcg: u16,
    /// Neither MADV_RANDOM, MADV_SEQUENTIAL nor FMODE_NOREUSE (`vma_has_recency`).
    pub with_recency: bool,
    /// VM_EXEC.
    pub exec: bool,
    /// VM_LOCKED: resident pages are unevictable.
    pub locked: bool,
}

impl Region {
    /// An ordinary region of the first memcg.
    pub const fn new(first: u32, pages: u32, kind: RegionKind) -> Self {
        Region { first, pages, kind, memcg: 0, with_recency: true, exec: false, locked: false }
    }

    /// One past the last page id.
    pub const fn end(&self) -> u32 {
        self.first + self.pages
    }

    pub const fn contains(&self, page: u32) -> bool {
        page >= self.first && page < self.end()
    }
}

/// A source of accesses. The same seed gives the same accesses.
pub trait Stream {
    /// The regions, ascending and without overlap; fixed for the life of the stream.
    fn regions(&self) -> &[Region];

    /// Appends some accesses to `out` and returns how many; 0 at the end.
    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize;
}

/// Accesses held in memory, for traces already read, tests and benches.
#[derive(Debug, Clone)]
pub struct Recorded {
    regions: Vec<Region>,
    accesses: Vec<Access>,
    next: usize,
}

impl Recorded {
    const BATCH: usize = 4096;

    pub fn new(regions: Vec<Region>, accesses: Vec<Access>) -> Self {
        Recorded { regions, accesses, next: 0 }
    }

    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    pub fn rewind(&mut self) {
        self.next = 0;
    }
}

impl Stream for Recorded {
    fn regions(&self) -> &[Region] {
        &self.regions
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        let end = (self.next + Self::BATCH).min(self.accesses.len());
        let batch = &self.accesses[self.next..end];
        out.extend_from_slice(batch);
        self.next = end;
        batch.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_takes_eight_bytes() {
        assert_eq!(size_of::<Access>(), 8);
    }

    #[test]
    fn recorded_gives_each_access_once() {
        let accesses: Vec<_> = (0..10_000).map(|i| Access::new(i % 7, AccessKind::MapRead)).collect();
        let mut stream = Recorded::new(vec![Region::new(0, 7, RegionKind::Anon)], accesses.clone());
        let mut out = Vec::new();
        while stream.next_batch(&mut out) > 0 {}
        assert_eq!(out, accesses);
        assert!(stream.regions()[0].contains(6) && !stream.regions()[0].contains(7));
    }
}
