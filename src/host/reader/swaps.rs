//! `/proc/swaps`.

use std::path::{Path, PathBuf};

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::mountinfo::unescape;
use super::{ParseError, read_with};
use crate::units::Bytes;

/// One active swap area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapEntry {
    pub path: PathBuf,
    pub kind: String,
    pub size: Bytes,
    pub used: Bytes,
    pub priority: i32,
}

impl SwapEntry {
    /// Whether this area is on `device`, also once its node is deleted.
    pub fn is_device(&self, device: &Path) -> bool {
        let listed = self.path.to_string_lossy();
        Path::new(listed.trim_end_matches(" (deleted)")) == device
    }
}

/// The active swap areas.
pub fn swaps(root: &SysRoot) -> Result<Vec<SwapEntry>, HostError> {
    read_with(root, "/proc/swaps", parse)
}

pub(super) fn parse(text: &str) -> Result<Vec<SwapEntry>, ParseError> {
    let mut lines = text.lines().enumerate();
    match lines.next() {
        None => return Ok(Vec::new()),
        Some((_, header)) if header.starts_with("Filename") => {}
        Some((_, header)) => return Err(ParseError::new(1, "expected the header", header)),
    }
    lines.map(|(index, line)| parse_line(index + 1, line)).collect()
}

fn parse_line(number: usize, line: &str) -> Result<SwapEntry, ParseError> {
    let bad = |what| ParseError::new(number, what, line);
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [path, kind, size, used, priority] = words.as_slice() else {
        return Err(bad("expected five fields"));
    };
    let kib = |text: &str| {
        let kib = text.parse::<u64>().ok().and_then(|kib| kib.checked_mul(1024));
        kib.map(Bytes).ok_or_else(|| bad("expected a size in KiB"))
    };
    Ok(SwapEntry {
        path: PathBuf::from(unescape(path)),
        kind: (*kind).to_owned(),
        size: kib(size)?,
        used: kib(used)?,
        priority: priority.parse().map_err(|_| bad("expected a priority"))?,
    })
}
