//! The reclaim model: classic LRU, MGLRU, workingset, memcg, swap, PCP and
//! buddy. Pure, no I/O, no clock; the same seed gives the same counts.

pub mod access;
pub mod curve;
pub mod flag;
pub mod pcp;
pub mod stream;
pub mod version;
pub mod yardstick;
