//! Quantities with their units: parse, print, round.
//!
//! A bare number never crosses a module boundary: sizes are [`Bytes`], page
//! counts [`Pages`], times [`Nanos`], relative changes [`Percent`].

mod bytes;
mod chain;
mod cpu_set;
mod error;
mod hex;
mod nanos;
mod percent;

pub use bytes::{Bytes, PAGE_SIZE, Pages};
pub use chain::with_causes;
pub use cpu_set::CpuSet;
pub use error::UnitError;
pub use hex::hex;
pub use nanos::Nanos;
pub use percent::Percent;
