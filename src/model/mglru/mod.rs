//! The multi-generational LRU (`mm/vmscan.c`, `mm/workingset.c`,
//! `include/linux/mm_inline.h`), as of 6.1, 6.12, the 6.14 rework and 7.2.

mod aging;
mod bloom;
mod evict;
mod look_around;
mod lruvec;
mod place;
mod refault;
mod scan;
mod shrink;
mod sort;
mod tier;
mod walk;

#[cfg(test)]
mod tests;

pub use lruvec::MAX_NR_GENS;
pub use lruvec::MIN_NR_GENS;
pub use lruvec::Mglru;
pub use tier::ControlPosition;
pub use tier::positive_control_error;
