//! The reclaim model: classic LRU, MGLRU, workingset, memcg, swap, PCP and
//! buddy. Pure, no I/O, no clock; the same seed gives the same counts.

pub mod access;
pub mod charge;
pub mod classic;
pub mod core;
pub mod counter;
pub mod curve;
pub mod derive;
pub mod event;
pub mod fault;
pub mod flag;
pub mod folio;
pub mod hit;
pub mod invariant;
pub mod kernel;
pub mod list;
pub mod machine;
pub mod memcg;
pub mod mglru;
pub mod page;
pub mod pcp;
pub mod platform;
pub mod policy;
pub mod read;
pub mod reclaim;
pub mod rules;
pub mod shrink;
pub mod simulation;
pub mod stream;
pub mod swap;
pub mod version;
pub mod yardstick;
