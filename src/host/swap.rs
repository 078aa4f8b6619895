//! Ramdisk swap: made, switched on with a priority above all others, proved in
//! `/proc/swaps`, and watched so that pages went to our device alone.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::HostError;
use super::journal::{Change, DeviceIdentity};
use super::ramdisk::{Ramdisk, RamdiskChoice, RamdiskKind};
use super::reader::{SwapEntry, swaps};
use super::root::SysRoot;
use super::session::HostSession;
use crate::units::{Bytes, PAGE_SIZE};

/// Above what distributions give their zram (usually 100).
const LOWEST_PRIORITY: u16 = 1000;
/// The kernel's highest.
const HIGHEST_PRIORITY: u16 = 32_767;
const MKSWAP_DEADLINE: std::time::Duration = std::time::Duration::from_secs(60);

/// The swap an experiment asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapRequest {
    pub choice: RamdiskChoice,
    pub size: Bytes,
}

/// Swap on a ramdisk of this session, as recorded with every result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RamdiskSwap {
    pub device: PathBuf,
    pub kind: RamdiskKind,
    /// Whether the kernel swaps to it without writeback.
    pub synchronous: bool,
    pub compresses: bool,
    pub algorithm: Option<String>,
    /// As `/proc/swaps` shows it: a page less than the device.
    pub size: Bytes,
    pub priority: u16,
    /// Swap areas of others that were active too.
    pub foreign: Vec<PathBuf>,
}

impl RamdiskSwap {
    pub fn enable(session: &mut HostSession, request: &SwapRequest) -> Result<Self, HostError> {
        let root = session.root().clone();
        let before = swaps(&root)?;
        let priority = priority_above(&before)?;
        let ramdisk = Ramdisk::create(session, &request.choice, request.size)?;
        let device = ramdisk.device.clone();
        let full = root.path(&device).display().to_string();
        root.command(&["mkswap", "--label", "run-bench", &full], MKSWAP_DEADLINE)?;
        let name = device.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let identity = DeviceIdentity::of(&root, &name)?;
        let change = Change::SwapOn { device: device.clone(), identity };
        session.apply(change, |root| root.swapon(&device, priority))?;
        let active = verify(&root, &ramdisk, priority)?;
        Ok(RamdiskSwap {
            device,
            kind: ramdisk.kind,
            synchronous: ramdisk.kind.is_synchronous(),
            compresses: ramdisk.kind.compresses(),
            algorithm: ramdisk.algorithm,
            size: active.size,
            priority,
            foreign: before.into_iter().map(|swap| swap.path).collect(),
        })
    }

    /// Bytes in use on our device.
    pub fn used(&self, root: &SysRoot) -> Result<Bytes, HostError> {
        let active = swaps(root)?.into_iter().find(|swap| swap.is_device(&self.device));
        active.map(|swap| swap.used).ok_or_else(|| HostError::Refused {
            action: "read the use of",
            subject: self.device.display().to_string(),
            why: "it is no longer active swap: somebody switched it off".to_owned(),
        })
    }

    /// The devices other than ours that grew between two readings, by how much.
    /// New swap may stay empty while per-CPU clusters of an older device last.
    pub fn grown_elsewhere(&self, before: &[SwapEntry], after: &[SwapEntry]) -> Vec<(PathBuf, Bytes)> {
        let mut grown = Vec::new();
        for swap in after.iter().filter(|swap| !swap.is_device(&self.device)) {
            let earlier = before.iter().find(|b| b.path == swap.path).map_or(0, |b| b.used.0);
            if swap.used.0 > earlier {
                grown.push((swap.path.clone(), Bytes(swap.used.0 - earlier)));
            }
        }
        grown
    }
}

/// Negative priorities mean "last", so ours is positive and above all others.
fn priority_above(active: &[SwapEntry]) -> Result<u16, HostError> {
    let highest = active.iter().map(|swap| swap.priority).max().unwrap_or(-1);
    let next = u16::try_from(highest + 1).unwrap_or(0).max(LOWEST_PRIORITY);
    if next <= HIGHEST_PRIORITY {
        return Ok(next);
    }
    let holder = active.iter().find(|swap| swap.priority == highest);
    Err(HostError::Refused {
        action: "add swap above",
        subject: holder.map_or_else(String::new, |swap| swap.path.display().to_string()),
        why: format!("it has the highest priority there is ({highest}), so ours would not be used first"),
    })
}

fn verify(root: &SysRoot, ramdisk: &Ramdisk, priority: u16) -> Result<SwapEntry, HostError> {
    let path = Path::new("/proc/swaps");
    let expected = format!("{} of {} with priority {priority}", ramdisk.device.display(), ramdisk.size);
    let found = swaps(root)?.into_iter().find(|swap| swap.is_device(&ramdisk.device));
    match found {
        Some(swap)
            if swap.priority == i32::from(priority)
                && swap.size.0 + PAGE_SIZE >= ramdisk.size.0
                && swap.size <= ramdisk.size =>
        {
            Ok(swap)
        }
        other => Err(HostError::ReadBack {
            path: root.path(path),
            wrote: expected,
            found: other.map_or_else(|| "no such area".to_owned(), |swap| format!("{swap:?}")),
        }),
    }
}
