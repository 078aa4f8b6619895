//! Looking at results before the end without spoiling them: group-sequential
//! looks, the anytime-valid e-process, and futility.
//!
//! After any look, print the interval of this module, never the fixed-n one.

mod e_process;
mod futility;
mod group;

pub use e_process::{EProcess, EProcessPoint};
pub use futility::Outlook;
pub use group::{GroupSequential, Look, LookResult};
