//! A limit in bytes or none, and the order in which v1 takes two of them.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::error::HostError;
use super::super::root::SysRoot;
use crate::units::{Bytes, PAGE_SIZE};

/// v1 shows "no limit" as the largest multiple of a page below 2^63.
const V1_UNLIMITED: u64 = (i64::MAX as u64) / PAGE_SIZE * PAGE_SIZE;

/// How much a group may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    Max,
    Bytes(Bytes),
}

impl Limit {
    /// From a file of v1 or v2.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "max" => Some(Limit::Max),
            number => match number.parse::<u64>().ok()? {
                bytes if bytes >= V1_UNLIMITED => Some(Limit::Max),
                bytes => Some(Limit::Bytes(Bytes(bytes))),
            },
        }
    }

    /// What the kernel makes of it: whole pages, rounded down.
    fn in_pages(self) -> Self {
        match self {
            Limit::Max => Limit::Max,
            Limit::Bytes(bytes) => Limit::Bytes(Bytes(bytes.0 / PAGE_SIZE * PAGE_SIZE)),
        }
    }

    fn order(self) -> u64 {
        match self {
            Limit::Max => u64::MAX,
            Limit::Bytes(bytes) => bytes.0,
        }
    }

    /// Memory and swap together, as v1 counts them.
    fn plus(self, swap: Limit) -> Self {
        match (self, swap) {
            (Limit::Bytes(memory), Limit::Bytes(swap)) => {
                Limit::Bytes(Bytes(memory.0.saturating_add(swap.0)))
            }
            _ => Limit::Max,
        }
    }

    fn v1_text(self) -> String {
        match self {
            Limit::Max => "-1".to_owned(),
            Limit::Bytes(bytes) => bytes.0.to_string(),
        }
    }

    fn v2_text(self) -> String {
        match self {
            Limit::Max => "max".to_owned(),
            Limit::Bytes(bytes) => bytes.0.to_string(),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Max => f.pad("max"),
            Limit::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

pub(super) fn read_limit(root: &SysRoot, path: &Path) -> Result<Limit, HostError> {
    let text = root.read(path)?;
    Limit::parse(&text)
        .ok_or_else(|| HostError::Parse { path: root.path(path), what: format!("{text:?} is no limit") })
}

fn write_limit(root: &SysRoot, path: &Path, text: &str, limit: Limit) -> Result<(), HostError> {
    let same = |_: &str, found: &str| Limit::parse(found) == Some(limit.in_pages());
    root.write_checked(path, text, same).map(|_| ())
}

fn no_swap_accounting(path: &Path) -> HostError {
    HostError::Unsupported {
        what: "swap accounting of cgroups",
        why: format!("{} is absent or cannot be written, so a swap limit would not hold", path.display()),
        remedy: "boot with `swapaccount=1`, or set no swap limit".to_owned(),
    }
}

pub(super) fn set_v2(root: &SysRoot, dir: &Path, memory: Limit, swap: Limit) -> Result<(), HostError> {
    write_limit(root, &dir.join("memory.max"), &memory.v2_text(), memory)?;
    let file = dir.join("memory.swap.max");
    if !root.exists(&file) {
        // Without the file swap is neither counted nor limited.
        return if swap == Limit::Max { Ok(()) } else { Err(no_swap_accounting(&root.path(&file))) };
    }
    write_limit(root, &file, &swap.v2_text(), swap)
}

pub(super) fn set_v2_high(root: &SysRoot, dir: &Path, high: Limit) -> Result<(), HostError> {
    write_limit(root, &dir.join("memory.high"), &high.v2_text(), high)
}

/// v1 keeps memory+swap at or above memory at all times, so the order of the
/// two writes depends on the values before.
pub(super) fn set_v1(root: &SysRoot, dir: &Path, memory: Limit, swap: Limit) -> Result<(), HostError> {
    let limit_file = dir.join("memory.limit_in_bytes");
    let both_file = dir.join("memory.memsw.limit_in_bytes");
    let unsupported = rustix::io::Errno::OPNOTSUPP.raw_os_error();
    let before = match read_limit(root, &both_file) {
        Ok(before) => before,
        Err(error) if error.is_not_found() || error.errno() == Some(unsupported) => {
            return if swap == Limit::Max {
                write_limit(root, &limit_file, &memory.v1_text(), memory)
            } else {
                Err(no_swap_accounting(&root.path(&both_file)))
            };
        }
        Err(error) => return Err(error),
    };
    let both = memory.plus(swap);
    let limit = (limit_file, memory);
    let both = (both_file, both);
    let (first, second) = if both.1.order() >= before.order() { (both, limit) } else { (limit, both) };
    let write = |(path, limit): &(PathBuf, Limit)| write_limit(root, path, &limit.v1_text(), *limit);
    match write(&first) {
        // Somebody changed the limits in between: the other order fits now.
        Err(error) if error.errno() == Some(rustix::io::Errno::INVAL.raw_os_error()) => {
            write(&second)?;
            write(&first)
        }
        Err(error) => Err(error),
        Ok(()) => write(&second),
    }
}
