//! Readers of the kernel's text files. Each has a parser on text and a `read`
//! that takes a [`SysRoot`](super::SysRoot); what a kernel lacks is `None`.

mod keyed;
mod meminfo;
mod mountinfo;
mod process;
mod swaps;

use std::path::Path;

use super::error::HostError;
use super::root::SysRoot;

pub use keyed::Counters;
pub use meminfo::Meminfo;
pub use mountinfo::{Mount, mounts};
pub use process::{ProcessStat, process_stat};
pub use swaps::{SwapEntry, swaps};

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
