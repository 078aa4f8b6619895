//! The fault matrix: every kind of bad input and fault that this tool has to
//! bear, with its injection. `run-bench selftest faults` and the tests run the
//! same rows.
//!
//! A row injects its faults into a fake host, a fake executor or a stub, which
//! works everywhere; where a fault can be made real, whole campaigns on this
//! host follow.

mod host_rows;
mod input_rows;
mod kill_rows;
mod machine_rows;
mod matrix;
mod real;
mod row;
mod seen;
mod soak;
mod tool_rows;

#[cfg(test)]
mod tests;

pub use matrix::ROWS;
pub use real::{RealCase, host_state};
pub use row::{Kind, Real, Row, RowResult};
pub use soak::{Soak, SoakReport};
