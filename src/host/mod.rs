//! The host: cgroups, swap, ramdisks, mounts, sysctls, host facts, and the undo journal.

pub mod syscall;
