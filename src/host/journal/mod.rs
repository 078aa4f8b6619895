//! The undo journal: one file per process that changes the host.
//!
//! Each change is written and synced before it is made. A line is never
//! rewritten; a torn last line is a change that was not made yet. Undoing goes
//! backwards, may be repeated, and touches nothing that is not provably ours.

mod entry;
mod file;
mod lock;
mod owner;
mod recover;
mod undo;

#[cfg(test)]
mod tests;

pub use entry::{Change, DeviceIdentity};
pub use file::{Journal, Recorded};
pub use lock::HostLock;
pub use owner::Owner;
pub(super) use recover::recover_locked;
pub use recover::{JournalReport, RecoveryReport, default_folder, recover_all};
pub use undo::{Left, UndoReport};

pub(super) use undo::{same_value, selected_value, undo_steps};
