//! This host, rebooted into the kernel of the arm whose trial is next.
//!
//! Every boot is armed once: whatever happens to it, the boot after it is the
//! host's default kernel, which resumes the campaign through a systemd unit. A
//! file says what was armed, so that a kernel that did not come up is counted
//! against its arm, and a host that only reboots is stopped.

mod error;
mod loader;
mod state;
mod target;
mod unit;

pub use error::BootError;
pub use target::{BootPlaces, BootTarget};
