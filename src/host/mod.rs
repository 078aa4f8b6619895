//! The host: cgroups, swap, ramdisks, mounts, sysctls, host facts, and the undo journal.
//!
//! Every change goes through a [`HostSession`]: its undo is on disk before the
//! change is made, and it is undone in reverse on success, on failure, by the
//! next start or by `run-bench clean`. All access to `/proc`, `/sys`, `/dev`
//! and the cgroup trees goes through a [`SysRoot`].

pub mod cgroup;
pub mod doctor;
pub mod facts;
pub mod fake;
pub mod journal;
pub mod knob;
pub mod probe;
pub mod ramdisk;
pub mod reader;
pub mod swap;
pub mod syscall;

mod crash;
mod disk_room;
mod error;
mod kernel;
pub mod kernel_config;
#[cfg(test)]
mod real_tests;
mod root;
mod running_kernel;
mod session;
mod steadfast;

pub use crash::{CrashMode, CrashPoint};
pub use disk_room::DiskRoom;
pub use error::HostError;
pub use kernel::{CommandOutput, Facility, FileIdentity, Kernel, MountCall, RealKernel};
pub use root::SysRoot;
pub use running_kernel::{RunningKernel, build_id_in_notes};
pub use session::{HostSession, SessionOptions};
pub use steadfast::stay_in_memory;
pub use syscall::LoopBacking;
