//! Workloads as streams of accesses, or of page allocations and frees.
//!
//! Each stream follows what its program does to memory, not its speed: fio's
//! block generator, memcached's slabs and hash table under memtier's key order,
//! the one page that will-it-scale's pread2 reads. All are seeded. Traces come
//! as bytes; reading files is the caller's affair.

pub mod fio;
pub mod guard;
mod hash_table;
mod memcached;
mod netperf;
mod pread;
pub mod slab;
pub mod spec;
mod synthetic;
pub mod trace;
mod usemem;
mod zipf;

pub use fio::{FioEngine, FioError, FioPattern, FioStream, FioWorkload};
pub use memcached::{KeyOrder, MemcachedStream, MemcachedWorkload};
pub use netperf::{NetperfStream, NetperfWorkload, PageOperation};
pub use pread::PreadStream;
pub use spec::{StreamRequest, StreamSpec};
pub use synthetic::{Pattern, Phase, SyntheticStream, SyntheticWorkload};
pub use usemem::UsememStream;
pub use zipf::ZipfPages;

/// Accesses a stream appends at once, at least where it has that many left.
const BATCH: usize = 4096;
