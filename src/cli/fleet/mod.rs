//! `run-bench run --fleet slurm`, and what Slurm starts on the nodes.

mod node;
mod status;
mod submit;
mod watch;

pub use node::{doctor, task};
pub use status::{FleetStatus, fleet_status};
pub use submit::{is_meant, run};
