//! zram: always a device of our own, added by `hot_add` and removed by `hot_remove`.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::error::HostError;
use super::super::journal::{Change, DeviceIdentity, selected_value};
use super::super::reader::swaps;
use super::super::root::SysRoot;
use super::super::session::HostSession;
use super::{COMMAND_DEADLINE, Ramdisk, RamdiskKind, settle, while_busy};
use crate::units::Bytes;

const CONTROL: &str = "/sys/class/zram-control";
/// A device that appeared later than this after the intent is not ours.
const APPEARS_WITHIN_SECONDS: i64 = 5;

pub(super) fn create(
    session: &mut HostSession,
    size: Bytes,
    algorithm: Option<&str>,
) -> Result<Ramdisk, HostError> {
    let root = session.root().clone();
    ensure_control(session)?;
    let id = hot_add(session)?;
    settle(&root)?;
    let block = PathBuf::from(format!("/sys/block/zram{id}"));
    // The algorithm cannot change once there is a size.
    let file = block.join("comp_algorithm");
    if let Some(algorithm) = algorithm {
        set_algorithm(&root, &file, algorithm)?;
    }
    let text = size.0.to_string();
    let disksize = block.join("disksize");
    while_busy(&root, &disksize.display().to_string(), || {
        root.write_checked(&disksize, &text, |wrote, found| wrote == found).map(|_| ())
    })?;
    Ok(Ramdisk {
        device: PathBuf::from(format!("/dev/zram{id}")),
        kind: RamdiskKind::Zram,
        size,
        algorithm: root.value(&file).map(|text| selected_value(&text).to_owned()),
    })
}

fn set_algorithm(root: &SysRoot, file: &Path, algorithm: &str) -> Result<(), HostError> {
    let offered = root.value(file).unwrap_or_default();
    root.write_checked(file, algorithm, |wrote, found| selected_value(found) == wrote).map_err(|error| {
        if matches!(error, HostError::CrashPoint { .. }) {
            return error;
        }
        HostError::Unsupported {
            what: "this zram algorithm",
            why: format!("{algorithm:?} was refused ({error})"),
            remedy: format!("choose one of: {}", offered.replace(['[', ']'], "")),
        }
    })?;
    Ok(())
}

fn ensure_control(session: &mut HostSession) -> Result<(), HostError> {
    let root = session.root().clone();
    let hot_add = Path::new(CONTROL).join("hot_add");
    if root.exists(&hot_add) {
        return Ok(());
    }
    let change = Change::Module { name: "zram".to_owned() };
    let loaded =
        session.apply(change, |root| root.command(&["modprobe", "zram", "num_devices=0"], COMMAND_DEADLINE));
    match loaded {
        Err(stop @ HostError::CrashPoint { .. }) => Err(stop),
        Ok(_) if root.exists(&hot_add) => Ok(()),
        other => Err(HostError::Unsupported {
            what: "zram",
            why: other.err().map_or_else(|| "it has no hot_add".to_owned(), |error| error.to_string()),
            remedy: "build or install the zram module (CONFIG_ZRAM)".to_owned(),
        }),
    }
}

/// The numbers of the zram devices that exist.
fn present(root: &SysRoot) -> Vec<u32> {
    let mut ids: Vec<u32> = root
        .names("/sys/block")
        .iter()
        .filter_map(|name| name.strip_prefix("zram").and_then(|id| id.parse().ok()))
        .collect();
    ids.sort_unstable();
    ids
}

fn hot_add(session: &mut HostSession) -> Result<u32, HostError> {
    let root = session.root().clone();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let change = Change::ZramHotAdd { present: present(&root), at: now.cast_signed() };
    let path = Path::new(CONTROL).join("hot_add");
    let text = session.apply(change, |root| root.read_that_changes(&path))?;
    let id: u32 = text.trim().parse().map_err(|_| HostError::Parse {
        path: root.path(&path),
        what: format!("{text:?} is no device number"),
    })?;
    let identity = DeviceIdentity::of(&root, &format!("zram{id}"))?;
    session.note(Change::ZramDevice { id, identity })?;
    Ok(id)
}

/// Removes a device that this session's journal proves to be ours.
pub(in super::super) fn remove_zram(root: &SysRoot, id: u32) -> Result<(), HostError> {
    let device = PathBuf::from(format!("/dev/zram{id}"));
    if swaps(root)?.iter().any(|swap| swap.is_device(&device)) {
        return Err(HostError::Refused {
            action: "remove",
            subject: device.display().to_string(),
            why: "it is still active swap".to_owned(),
        });
    }
    let reset = format!("/sys/block/zram{id}/reset");
    while_busy(root, &reset, || root.write(&reset, "1"))?;
    hot_remove(root, id)
}

fn hot_remove(root: &SysRoot, id: u32) -> Result<(), HostError> {
    let path = Path::new(CONTROL).join("hot_remove");
    while_busy(root, &format!("zram{id}"), || root.write(&path, &id.to_string()))
}

/// The process died between asking for a device and learning its number. An
/// unused device without a size that appeared right then is ours; with two
/// such devices neither is touched.
pub(in super::super) fn remove_orphan_zram(
    root: &SysRoot,
    before: &[u32],
    at: i64,
) -> Result<bool, HostError> {
    let swaps = swaps(root)?;
    let mut candidates = Vec::new();
    for id in present(root).into_iter().filter(|id| !before.contains(id)) {
        let device = PathBuf::from(format!("/dev/zram{id}"));
        let empty = root.value(format!("/sys/block/zram{id}/disksize")).as_deref() == Some("0");
        let used = swaps.iter().any(|swap| swap.is_device(&device));
        let appeared = root.identity(&device)?.changed;
        if empty && !used && (at - 1..=at + APPEARS_WITHIN_SECONDS).contains(&appeared) {
            candidates.push(id);
        }
    }
    match candidates.as_slice() {
        [] => Ok(false),
        [id] => hot_remove(root, *id).map(|()| true),
        several => Err(HostError::Refused {
            action: "remove one of",
            subject: format!("zram devices {several:?}"),
            why: "only one is ours and nothing tells which; remove it through /sys/class/zram-control/hot_remove".to_owned(),
        }),
    }
}
