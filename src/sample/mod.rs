//! The sampler: kernel counters at a fixed rate, with its own cost.
//!
//! Files are opened once and read again in place. Counters that a kernel does
//! not have are absent, never zero. The thread belongs to the controller's
//! process, outside the limited memcg.

mod counter_file;
mod sampler;
mod source;

pub use sampler::{Sampled, Sampler, Snapshot};
pub use source::{Source, SourceFormat, standard_sources};
