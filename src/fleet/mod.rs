//! Fleets: one campaign on several hosts, handed out by a batch system.
//!
//! ```text
//! submitting host                        nodes
//! doctor tasks ───────────────────────▶  fleet/doctor/<node>.json
//! choose hosts ▸ fleet.json
//! arrays, one task a block ───────────▶  fleet/blocks/<block>/<try>/   a campaign folder of one block
//! merge whole tries ▸ trials/, journal
//! ```
//! A task runs its block with the code of every campaign, into a folder of its
//! own: a block never leaves its node, and a task that runs twice leaves two
//! tries of which one is merged. What belongs to the batch system is behind
//! [`Scheduler`]. We keep no daemon: all state lies in the campaign's folder.

mod choose;
mod clock;
mod drive;
mod error;
#[cfg(test)]
mod fake;
mod layout;
mod merge;
mod node;
mod provenance;
mod request;
mod scheduler;
mod slurm;
mod standing;
mod task;
#[cfg(test)]
mod tests;

pub use choose::{Choice, UnfitNode};
pub use drive::{FleetEnd, FleetRun, FleetWatch};
pub use error::FleetError;
pub use layout::{Assignment, FleetFile, FleetFolder, FleetHost, Submission};
pub use merge::{Merged, Merger, RefusedTry};
pub use node::{NodeReport, find_hosts};
pub use provenance::{BlockOrigin, Provenance, provenance};
pub use request::{TaskIdentity, block_time_limit};
pub use scheduler::{JobRequest, NodeLine, Scheduler, TaskLine};
pub use slurm::Slurm;
pub use standing::{BlockStanding, Standing, standing};
pub use task::{TaskEnd, TaskStart, run_block};
