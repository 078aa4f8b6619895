//! brd: loaded by us for the time of the session, or one that is there,
//! unused, blank and of the right size.

use std::path::{Path, PathBuf};

use super::super::error::HostError;
use super::super::journal::{Change, DeviceIdentity};
use super::super::reader::{mounts, swaps};
use super::super::root::SysRoot;
use super::super::session::HostSession;
use super::{COMMAND_DEADLINE, Ramdisk, RamdiskKind, ensure_memory, in_use, settle};
use crate::units::Bytes;

const SECTOR: u64 = 512;
/// File systems and swap leave their marks in here.
const BLANK_START: usize = 1 << 20;

pub(super) fn create(session: &mut HostSession, size: Bytes) -> Result<Ramdisk, HostError> {
    let root = session.root().clone();
    ensure_memory(&root, size)?;
    let size = Bytes(size.0.div_ceil(1024) * 1024);
    let present: Vec<String> = ram_names(&root);
    let device = if present.is_empty() { load(session, size)? } else { take(session, &present, size)? };
    Ok(Ramdisk { device, kind: RamdiskKind::Brd, size, algorithm: None })
}

fn ram_names(root: &SysRoot) -> Vec<String> {
    let is_ram = |name: &String| name.strip_prefix("ram").is_some_and(|id| id.parse::<u32>().is_ok());
    root.names("/sys/block").into_iter().filter(is_ram).collect()
}

fn size_of(root: &SysRoot, name: &str) -> Option<Bytes> {
    let sectors: u64 = root.value(format!("/sys/block/{name}/size"))?.parse().ok()?;
    Some(Bytes(sectors * SECTOR))
}

fn unsupported(why: String) -> HostError {
    HostError::Unsupported {
        what: "brd",
        why,
        remedy: "build or install the brd module (CONFIG_BLK_DEV_RAM=m)".to_owned(),
    }
}

fn load(session: &mut HostSession, size: Bytes) -> Result<PathBuf, HostError> {
    let root = session.root().clone();
    if root.exists("/sys/module/brd") {
        return Err(unsupported("the module is there and has no device".to_owned()));
    }
    let rd_size = format!("rd_size={}", size.0 / 1024);
    let change = Change::Module { name: "brd".to_owned() };
    let words = ["modprobe", "brd", "rd_nr=1", &rd_size, "max_part=0"];
    let mark = session.mark();
    match session.apply(change, |root| root.command(&words, COMMAND_DEADLINE)) {
        Ok(_) => {}
        Err(HostError::Command { outcome, .. }) => {
            session.undo_since(mark);
            return Err(unsupported(outcome));
        }
        Err(error) => return Err(error),
    }
    settle(&root)?;
    match size_of(&root, "ram0") {
        Some(found) if found == size => Ok(PathBuf::from("/dev/ram0")),
        found => Err(HostError::ReadBack {
            path: root.path("/sys/block/ram0/size"),
            wrote: size.to_string(),
            found: found.map_or_else(|| "no device".to_owned(), |size| size.to_string()),
        }),
    }
}

/// A device that was there before us: module parameters have no effect on it.
fn take(session: &mut HostSession, present: &[String], size: Bytes) -> Result<PathBuf, HostError> {
    let root = session.root().clone();
    let mut reasons = Vec::new();
    for name in present {
        let device = PathBuf::from(format!("/dev/{name}"));
        let found = size_of(&root, name);
        let reason = if found != Some(size) {
            let found = found.map_or_else(|| "no size".to_owned(), |size| size.to_string());
            Some(format!("it has {found}, {size} are needed"))
        } else if let Some(user) = in_use(&root, &device)? {
            Some(user)
        } else if root.read_start(&device, BLANK_START)?.iter().any(|byte| *byte != 0) {
            Some("it holds data".to_owned())
        } else {
            None
        };
        match reason {
            Some(reason) => reasons.push(format!("{name}: {reason}")),
            None => {
                let identity = DeviceIdentity::of(&root, name)?;
                session.note(Change::BlankDevice { device: device.clone(), identity })?;
                return Ok(device);
            }
        }
    }
    Err(unsupported(format!(
        "it was there before and none of its devices can be used ({})",
        reasons.join("; ")
    )))
}

/// Gives a borrowed device back as it was: blank, its memory free where the
/// kernel can discard.
pub(in super::super) fn blank(root: &SysRoot, device: &Path) -> Result<(), HostError> {
    if let Some(user) = in_use(root, device)? {
        return Err(HostError::Refused { action: "blank", subject: device.display().to_string(), why: user });
    }
    let full = root.path(device).display().to_string();
    match root.command(&["blkdiscard", "--force", &full], COMMAND_DEADLINE) {
        Err(HostError::Command { .. }) | Ok(_) => root.zero_start(device, BLANK_START),
        Err(error) => Err(error),
    }
}

/// Unloads a module that this session loaded, unless somebody uses it now.
pub(in super::super) fn unload_module(root: &SysRoot, name: &str) -> Result<bool, HostError> {
    if !root.exists(format!("/sys/module/{name}")) {
        return Ok(false);
    }
    let prefix = if name == "brd" { "/dev/ram" } else { "/dev/zram" };
    let swap = swaps(root)?.iter().any(|swap| swap.path.to_string_lossy().starts_with(prefix));
    let mount = mounts(root)?.iter().any(|mount| mount.source.starts_with(prefix));
    if swap || mount {
        return Err(HostError::Refused {
            action: "unload module",
            subject: name.to_owned(),
            why: format!("a {prefix} device is in use"),
        });
    }
    root.command(&["modprobe", "-r", name], COMMAND_DEADLINE)?;
    Ok(true)
}
