//! memcached under load: a fresh server, a load generator, and rules by which
//! the numbers are judged.
//!
//! The load comes from the real memtier_benchmark where it is present, else from
//! the built-in [`loader`]: same options, same sequence of keys, same results.

mod load;
pub mod loader;
mod measure;
mod memtier;
mod memtier_json;
mod result;
pub(crate) mod rules;
mod run;
mod server;
mod stats;

pub(crate) use memtier::judge_stderr;
pub use memtier_json::{MemtierReport, parse as parse_memtier};
pub use result::{CommandResult, LoadRun, Quantiles};
pub use run::run;
pub use stats::Stats;
