//! Memory cgroups on v1, v2 and hybrid hosts behind one interface.
//!
//! On a hybrid host the memory controller sits in a v1 tree while a cgroup2
//! tree without it is mounted too; each group then has a twin there, so that
//! `cgroup.kill` ends all of it at once.

mod group;
mod layout;
mod limit;
mod parent;
mod tree;

#[cfg(test)]
mod tests;

pub use group::{MemoryCgroup, MemoryEvents, Reclaimed, SwappinessScope};
pub use layout::{CgroupLayout, MemoryController};
pub use limit::Limit;
pub use parent::{Delegation, delegation};

pub(super) use tree::{is_own_cgroup, kill_tree, move_back, remove_tree};
