//! usemem: tasks that map anonymous memory, write it from first to last, and
//! unmap it.

use crate::model::access::{Access, AccessKind, Region, RegionKind, Stream};

/// Pages a task writes before the next one runs.
const QUANTUM: u32 = 32;

/// Several tasks side by side, each with a region of its own.
#[derive(Debug, Clone)]
pub struct UsememStream {
    regions: Vec<Region>,
    passes: u32,
    pass: u32,
    /// The next page of the current pass, the same for all tasks.
    at: u32,
    unmapped: bool,
}

impl UsememStream {
    /// `tasks` times `pages` must fit 32 bits.
    pub fn new(tasks: u16, pages: u32, passes: u32) -> Self {
        let region = |task: u16| Region::new(u32::from(task) * pages, pages, RegionKind::Anon);
        UsememStream { regions: (0..tasks).map(region).collect(), passes, pass: 0, at: 0, unmapped: false }
    }

    fn push(&self, out: &mut Vec<Access>, from: u32, to: u32, kind: AccessKind) {
        for (task, region) in self.regions.iter().enumerate() {
            let pages = region.first + from..region.first + to;
            out.extend(pages.map(|page| Access::by(page, kind, task as u16)));
        }
    }
}

impl Stream for UsememStream {
    fn regions(&self) -> &[Region] {
        &self.regions
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        let before = out.len();
        let pages = self.regions.first().map_or(0, |r| r.pages);
        if pages == 0 || self.unmapped {
            return 0;
        }
        if self.pass < self.passes {
            let to = (self.at + QUANTUM).min(pages);
            self.push(out, self.at, to, AccessKind::MapWrite);
            self.at = to % pages;
            self.pass += u32::from(to == pages);
        } else {
            self.push(out, 0, pages, AccessKind::Free);
            self.unmapped = true;
        }
        out.len() - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_written_once_a_pass_and_freed() {
        let mut stream = UsememStream::new(3, 70, 2);
        let mut out = Vec::new();
        while stream.next_batch(&mut out) > 0 {}
        for page in 0..210 {
            let kinds: Vec<AccessKind> = out.iter().filter(|a| a.page == page).map(|a| a.kind).collect();
            assert_eq!(kinds, [AccessKind::MapWrite, AccessKind::MapWrite, AccessKind::Free], "page {page}");
        }
        assert_eq!((out.len(), out[32].task, out[32].page), (630, 1, 70));
    }
}
