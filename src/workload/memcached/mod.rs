//! memcached under load: a fresh server, a load generator, and rules by which
//! the numbers are judged.

pub mod loader;
mod result;

pub use result::{CommandResult, LoadRun, Quantiles};
