//! Where a trial runs: this host, a UML or QEMU guest, a reboot, a Slurm node.
//!
//! Every target does the same: it takes a [`TrialSpec`](crate::store::TrialSpec)
//! and a folder, has `run-bench trial` run somewhere, and says how it ended.

mod arms;
mod boot;
mod cpio;
mod error;
mod exchange;
mod fixture;
pub mod guest;
mod host;
pub mod identity;
pub mod kernel;
mod lock;
mod machine;
mod seal;
mod uml;
mod vm;

pub use arms::{TargetRequest, Targets};
pub use boot::{BootError, BootPlaces, BootTarget};
pub use error::TargetError;
pub use fixture::{fixture_folder, keep as keep_fixture};
pub use host::HostTarget;
pub use lock::HostLock;
pub use machine::CommandEnd;
pub use uml::UmlTarget;
pub use vm::{Accelerator, VmTarget};
