//! Block devices in memory: brd, zram, and loop on a noswap tmpfs.
//!
//! They are different paths in the kernel: brd and zram are synchronous, loop
//! goes through writeback; zram compresses. Which one was made is recorded.
//! Loop on an ordinary tmpfs is never made: its pages would be swapped to the
//! very device they back, and the host would stand still for good.

mod brd;
mod filesystem;
mod loopback;
mod zram;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::HostError;
use super::reader::{mounts, swaps};
use super::root::SysRoot;
use super::session::HostSession;
use crate::units::Bytes;

pub use filesystem::RamdiskFilesystem;

pub(super) use brd::{blank, unload_module};
pub(super) use loopback::{detach_loop, mount_noswap};
pub(super) use zram::{remove_orphan_zram, remove_zram};

/// Helper commands are quick; one that is not has met a stuck device.
const COMMAND_DEADLINE: Duration = Duration::from_secs(60);
/// Right after a device appears udev may hold it.
const BUSY_TRIES: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// What was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RamdiskKind {
    Brd,
    Zram,
    LoopTmpfs,
}

impl RamdiskKind {
    /// Whether swap on it skips writeback (the kernel's synchronous path).
    pub fn is_synchronous(self) -> bool {
        !matches!(self, RamdiskKind::LoopTmpfs)
    }

    pub fn compresses(self) -> bool {
        matches!(self, RamdiskKind::Zram)
    }

    pub fn name(self) -> &'static str {
        match self {
            RamdiskKind::Brd => "brd",
            RamdiskKind::Zram => "zram",
            RamdiskKind::LoopTmpfs => "loop on noswap tmpfs",
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RamdiskChoice {
    /// brd, else loop on a noswap tmpfs: plain memory, no compression.
    Plain,
    Brd,
    LoopTmpfs,
    Zram {
        algorithm: Option<String>,
    },
}

/// A block device in memory that this session made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ramdisk {
    pub device: PathBuf,
    pub kind: RamdiskKind,
    pub size: Bytes,
    /// Of zram, as the kernel shows it.
    pub algorithm: Option<String>,
}

impl Ramdisk {
    pub fn create(session: &mut HostSession, choice: &RamdiskChoice, size: Bytes) -> Result<Self, HostError> {
        let size = size.round_to_page();
        match choice {
            RamdiskChoice::Brd => brd::create(session, size),
            RamdiskChoice::LoopTmpfs => loopback::create(session, size),
            RamdiskChoice::Zram { algorithm } => zram::create(session, size, algorithm.as_deref()),
            RamdiskChoice::Plain => match brd::create(session, size) {
                Err(HostError::Unsupported { why, .. }) => {
                    loopback::create(session, size).map_err(|error| no_plain(why, error))
                }
                other => other,
            },
        }
    }
}

fn no_plain(brd: String, error: HostError) -> HostError {
    match error {
        HostError::Unsupported { why, .. } => HostError::Unsupported {
            what: "a plain ramdisk",
            why: format!("brd: {brd}; loop on noswap tmpfs: {why}"),
            remedy: "load or build brd (CONFIG_BLK_DEV_RAM), use Linux 6.4 or later, or ask for kind = \"zram\", which compresses".to_owned(),
        },
        other => other,
    }
}

/// Fails when memory would not hold a ramdisk of this size.
fn ensure_memory(root: &SysRoot, size: Bytes) -> Result<(), HostError> {
    let available = super::reader::Meminfo::read(root)?.get("MemAvailable");
    match available {
        Some(available) if available < size => Err(HostError::Refused {
            action: "make a ramdisk of",
            subject: size.to_string(),
            why: format!("MemAvailable is {available}; scale the experiment down with --scale"),
        }),
        _ => Ok(()),
    }
}

/// Why a block device is in use, if it is.
fn in_use(root: &SysRoot, device: &Path) -> Result<Option<String>, HostError> {
    if swaps(root)?.iter().any(|swap| swap.is_device(device)) {
        return Ok(Some("it is active swap".to_owned()));
    }
    let mounts = mounts(root)?;
    if let Some(mount) = mounts.iter().find(|mount| Path::new(&mount.source) == device) {
        return Ok(Some(format!("it is mounted on {}", mount.target.display())));
    }
    let name = device.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let holders = root.names(format!("/sys/block/{name}/holders"));
    Ok((!holders.is_empty()).then(|| format!("{} holds it", holders.join(", "))))
}

/// Repeats `action` while it says EBUSY.
fn while_busy(
    root: &SysRoot,
    subject: &str,
    action: impl Fn() -> Result<(), HostError>,
) -> Result<(), HostError> {
    for _ in 0..BUSY_TRIES {
        match action() {
            Err(error) if error.is_busy() => root.sleep(BUSY_PAUSE),
            other => return other,
        }
    }
    Err(HostError::Busy {
        subject: subject.to_owned(),
        tries: BUSY_TRIES,
        why: "somebody holds it open, udev perhaps".to_owned(),
    })
}

/// Lets udev finish with a new device, where it runs.
fn settle(root: &SysRoot) -> Result<(), HostError> {
    if !root.exists("/run/udev/control") {
        return Ok(());
    }
    match root.command(&["udevadm", "settle", "--timeout=10"], COMMAND_DEADLINE) {
        // Waiting is a courtesy: the retries on EBUSY decide.
        Err(HostError::Command { .. }) | Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}
