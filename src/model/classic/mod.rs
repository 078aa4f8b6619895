//! The classic LRU: active and inactive lists for anon and file, balanced by
//! cost and by refault distance. Follows `mm/vmscan.c` and `mm/workingset.c`.

mod balance;
mod lruvec;
mod scan;
mod shrink;
mod workingset;

pub use balance::Fractions;
pub use balance::fractions;
pub use balance::inactive_is_low;
pub use balance::inactive_ratio;
pub use lruvec::Classic;
pub use workingset::Distance;
pub use workingset::refault_distance;
