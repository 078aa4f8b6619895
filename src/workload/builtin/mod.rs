//! What the built-in load generators share: the request on their command line,
//! the answer on their standard output, and crews of tasks that start together.
//!
//! ```text
//! workload ── exec ──▶ __driver NAME {"run":…} ──▶ N × __driver NAME {"task":…}
//!    ◀── one JSON line ──┘        └── shared memory board ──┘
//! ```
//! A driver is a process of its own, so that it is confined, accounted and
//! killed like any tool; its tasks inherit its cgroups and its process group.

mod board;
mod crew;
mod fault;
mod request;

use std::time::Duration;

use crate::store::DriverIdentity;
use crate::store::Violation;

pub(super) use board::Task;
pub(super) use crew::{Crew, Shape, Slot, Timing, Work, allowed_cpus};
pub(super) use fault::DriverFault;
pub(super) use request::{Call, answer, answer_alone, call};

/// The measured interval must be the one asked for, within 5% and 100 ms.
pub(super) fn interval_violation(rule: &str, seconds: f64, asked: Duration) -> Option<Violation> {
    let asked = asked.as_secs_f64();
    let off = (seconds - asked).abs();
    (off > (0.05 * asked).max(0.1)).then(|| {
        let message = format!(
            "the interval took {seconds:.3} s instead of {asked:.3} s, so the driver did not get the processor in \
             time; look for other load on this host"
        );
        Violation::new(rule, message, format!("{seconds} s"))
    })
}

/// A load generator of this program.
pub(super) fn identity(name: &str) -> DriverIdentity {
    DriverIdentity { name: format!("run-bench-{name}"), version: env!("CARGO_PKG_VERSION").to_owned() }
}
