//! Readers of the kernel's text files. Each has a parser on text and a `read`
//! that takes a [`SysRoot`]; what a kernel lacks is `None`.

mod counter_file;
mod damon;
mod keyed;
mod meminfo;
mod mountinfo;
mod patient;
mod pressure;
mod process;
mod swaps;
mod zoneinfo;
mod zram;

#[cfg(test)]
mod tests;

use std::path::Path;

use super::error::HostError;
use super::root::SysRoot;

pub use counter_file::{CounterFile, CounterFormat};
pub use damon::{DamonScheme, Kdamond, kdamonds};
pub use keyed::Counters;
pub use meminfo::Meminfo;
pub use mountinfo::{Mount, mounts};
pub use patient::{ProcessNames, process_names, read_with_deadline};
pub use pressure::{Pressure, PressureLine};
pub use process::{ProcessStat, process_stat};
pub use swaps::{SwapEntry, swaps};
pub use zoneinfo::{PageSet, Zone, zones};
pub use zram::ZramStat;

/// A text that is not what the kernel writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}: {text:?}")]
pub struct ParseError {
    pub line: usize,
    pub what: &'static str,
    pub text: String,
}

impl ParseError {
    fn new(line: usize, what: &'static str, text: &str) -> Self {
        ParseError { line, what, text: text.chars().take(120).collect() }
    }
}

/// Reads `path` and parses it; errors carry the path.
fn read_with<T>(
    root: &SysRoot,
    path: impl AsRef<Path>,
    parse: impl FnOnce(&str) -> Result<T, ParseError>,
) -> Result<T, HostError> {
    let path = path.as_ref();
    let text = root.read(path)?;
    parse(&text).map_err(|error| HostError::Parse { path: root.path(path), what: error.to_string() })
}
