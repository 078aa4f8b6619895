//! Plain replacement policies beside the kernel's: what a page cache of the
//! same size could have missed. No kernel counters, no flags; only misses.

mod belady;
mod clock;
mod fifo;
mod list;
mod lru;
mod s3fifo;
mod sieve;
mod stack_distance;

use crate::model::access::Access;
use crate::model::access::AccessKind;

pub use belady::Belady;
pub use clock::Clock;
pub use fifo::Fifo;
pub use lru::Lru;
pub use s3fifo::S3Fifo;
pub use sieve::Sieve;
pub use stack_distance::{Distance, StackDistance};

#[cfg(test)]
mod tests;

/// A cache that serves one access after another.
pub trait Cache {
    /// Serves an access; whether the page was resident. It is afterwards.
    fn access(&mut self, page: u32) -> bool;

    /// The page goes away (`munmap`, exit, truncate).
    fn remove(&mut self, page: u32);

    /// Resident pages.
    fn resident(&self) -> u32;
}

/// A policy by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Yardstick {
    Fifo,
    Lru,
    Clock,
    Sieve,
    S3Fifo,
    Belady,
}

impl Yardstick {
    pub const ALL: [Self; 6] = [Self::Fifo, Self::Lru, Self::Clock, Self::Sieve, Self::S3Fifo, Self::Belady];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Lru => "lru",
            Self::Clock => "clock",
            Self::Sieve => "sieve",
            Self::S3Fifo => "s3-fifo",
            Self::Belady => "belady",
        }
    }

    /// Misses of these accesses in a cache of `size` pages, from empty.
    /// `pages` is one past the largest page id.
    pub fn misses(self, accesses: &[Access], pages: u32, size: u32) -> u64 {
        match self {
            Self::Fifo => replay(&mut Fifo::new(pages, size), accesses),
            Self::Lru => replay(&mut Lru::new(pages, size), accesses),
            Self::Clock => replay(&mut Clock::new(pages, size), accesses),
            Self::Sieve => replay(&mut Sieve::new(pages, size), accesses),
            Self::S3Fifo => replay(&mut S3Fifo::new(pages, size), accesses),
            Self::Belady => replay(&mut Belady::new(accesses, pages, size), accesses),
        }
    }
}

/// Plays accesses into a cache; how many missed.
pub fn replay(cache: &mut impl Cache, accesses: &[Access]) -> u64 {
    let mut misses = 0;
    for access in accesses {
        if access.kind == AccessKind::Free {
            cache.remove(access.page);
        } else {
            misses += u64::from(!cache.access(access.page));
        }
    }
    misses
}
