//! A loop device on a file in a noswap tmpfs, all its pages allocated.
//!
//! On an ordinary tmpfs the file's own pages would be swapped to the device
//! they back and the loop worker would wait for itself for ever. So the mount
//! is read back and must say `noswap` before a device is attached.

use std::path::{Path, PathBuf};

use super::super::error::HostError;
use super::super::journal::Change;
use super::super::kernel::MountCall;
use super::super::reader::{mounts, swaps};
use super::super::root::SysRoot;
use super::super::session::HostSession;
use super::{BUSY_PAUSE, BUSY_TRIES, COMMAND_DEADLINE, Ramdisk, RamdiskKind, ensure_memory, settle};
use crate::units::Bytes;

/// tmpfs counts pages of its own besides the file's.
const SLACK: u64 = 1 << 20;

fn unsupported(why: String) -> HostError {
    HostError::Unsupported {
        what: "loop on a noswap tmpfs",
        why,
        remedy: "use Linux 6.4 or later as root, or ask for kind = \"zram\"".to_owned(),
    }
}

/// A tmpfs whose pages are never swapped, proved by its mount options.
pub(in super::super) fn mount_noswap(
    session: &mut HostSession,
    name: &str,
    size: Bytes,
) -> Result<PathBuf, HostError> {
    let target = session.private_folder()?.join(name);
    session.apply(Change::CreateDir { path: target.clone() }, |root| root.create_dir(&target))?;
    let call = MountCall {
        source: "run-bench".to_owned(),
        target: target.clone(),
        filesystem: "tmpfs".to_owned(),
        options: format!("size={},mode=0700,noswap", size.0 + SLACK),
    };
    let change = Change::Mount { target: target.clone(), filesystem: "tmpfs".to_owned() };
    match session.apply(change, |root| root.mount(&call)) {
        Ok(()) => {}
        Err(error) => {
            return Err(match error.errno().map(rustix::io::Errno::from_raw_os_error) {
                Some(rustix::io::Errno::INVAL) => {
                    unsupported("tmpfs does not know the option noswap".to_owned())
                }
                Some(rustix::io::Errno::PERM) => HostError::Privilege { action: "mount a tmpfs" },
                _ => error,
            });
        }
    }
    let root = session.root();
    let is_noswap = mounts(root)?
        .iter()
        .any(|m| m.target == target && m.filesystem == "tmpfs" && m.has_super_option("noswap"));
    if is_noswap {
        return Ok(target);
    }
    Err(unsupported(format!("the mount on {} does not say noswap", target.display())))
}

pub(super) fn create(session: &mut HostSession, size: Bytes) -> Result<Ramdisk, HostError> {
    let root = session.root().clone();
    ensure_memory(&root, size)?;
    let name = format!("ramdisk-{}", session.mark());
    let target = mount_noswap(session, &name, size)?;
    let backing = target.join("backing");
    session.apply(Change::CreateFile { path: backing.clone() }, |root| root.create_file(&backing, size.0))?;
    let identity = root.identity(&backing)?;
    if identity.allocated < size.0 {
        return Err(unsupported(format!(
            "only {} of {size} are allocated in {}, and a page missing under pressure would hang the host",
            Bytes(identity.allocated),
            backing.display()
        )));
    }
    let change =
        Change::LoopAttach { backing: backing.clone(), device: identity.device, inode: identity.inode };
    let full = root.path(&backing).display().to_string();
    let output = session
        .apply(change, |root| root.command(&["losetup", "--find", "--show", &full], COMMAND_DEADLINE))?;
    let device = PathBuf::from(output.stdout.trim());
    settle(&root)?;
    let attached = root.loop_backing(&device)?;
    if !attached.is_some_and(|b| b.device == identity.device && b.inode == identity.inode) {
        return Err(HostError::ReadBack {
            path: device,
            wrote: backing.display().to_string(),
            found: format!("{attached:?}"),
        });
    }
    Ok(Ramdisk { device, kind: RamdiskKind::LoopTmpfs, size, algorithm: None })
}

/// Detaches the loop device whose backing file is this very inode.
pub(in super::super) fn detach_loop(root: &SysRoot, device: u64, inode: u64) -> Result<bool, HostError> {
    let Some(path) = find_loop(root, device, inode)? else { return Ok(false) };
    if swaps(root)?.iter().any(|swap| swap.is_device(&path)) {
        return Err(HostError::Refused {
            action: "detach",
            subject: path.display().to_string(),
            why: "it is still active swap".to_owned(),
        });
    }
    let full = root.path(&path).display().to_string();
    root.command(&["losetup", "--detach", &full], COMMAND_DEADLINE)?;
    for _ in 0..BUSY_TRIES {
        // A device that somebody has open is detached when they close it.
        if find_loop(root, device, inode)?.is_none() {
            return Ok(true);
        }
        root.sleep(BUSY_PAUSE);
    }
    Err(HostError::Busy {
        subject: path.display().to_string(),
        tries: BUSY_TRIES,
        why: "somebody holds the loop device open".to_owned(),
    })
}

fn find_loop(root: &SysRoot, device: u64, inode: u64) -> Result<Option<PathBuf>, HostError> {
    for name in root.names("/sys/block").iter().filter(|name| name.starts_with("loop")) {
        if !root.exists(format!("/sys/block/{name}/loop/backing_file")) {
            continue;
        }
        let path = Path::new("/dev").join(name);
        if root.loop_backing(&path)?.is_some_and(|b| b.device == device && b.inode == inode) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
