//! Undoing: backwards, more than once if need be, and only what is still ours.

use std::path::Path;
use std::time::Duration;

use super::super::cgroup::{is_own_cgroup, kill_tree, move_back, remove_tree};
use super::super::error::HostError;
use super::super::ramdisk;
use super::super::reader::{mounts, process_stat, swaps};
use super::super::root::SysRoot;
use super::entry::{Change, DeviceIdentity};
use super::file::{Journal, Recorded};

/// Swapoff reads every page back, at worst at a megabyte a second.
const SWAPOFF_DEADLINE: Duration = Duration::from_secs(300);
const UNMOUNT_TRIES: u32 = 50;
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// A change that could not be undone: the host is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub change: Change,
    pub why: String,
}

/// What undoing did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoReport {
    pub undone: Vec<Change>,
    /// Already gone, or gone with the boot they belonged to.
    pub gone: Vec<Change>,
    /// Changed or taken by somebody else since: left as they are.
    pub foreign: Vec<Left>,
    pub left: Vec<Left>,
}

enum Outcome {
    Undone,
    Gone,
    Foreign(String),
}

/// Undoes the journal's changes from `first_step` on, newest first.
pub(in super::super) fn undo_steps(
    root: &SysRoot,
    journal: &mut Journal,
    first_step: u64,
    same_boot: bool,
) -> UndoReport {
    let nonce = journal.nonce().to_owned();
    let steps: Vec<Recorded> = journal.recorded().iter().filter(|r| r.step >= first_step).cloned().collect();
    if same_boot {
        // Swapoff with live owners of the pages would take for ever: end them first.
        for recorded in &steps {
            if let Change::Cgroup { path } = &recorded.change
                && is_own_cgroup(path, &nonce)
            {
                let _ = kill_tree(root, path);
            }
        }
    }
    let mut report = UndoReport::default();
    for (index, recorded) in steps.iter().enumerate().rev() {
        let change = &recorded.change;
        let completed = matches!(
            (change, steps.get(index + 1).map(|next| &next.change)),
            (Change::ZramHotAdd { .. }, Some(Change::ZramDevice { .. }))
        );
        let outcome = if (!same_boot && !change.is_persistent()) || completed {
            Ok(Outcome::Gone)
        } else {
            undo_one(root, &nonce, recorded)
        };
        match outcome {
            Ok(Outcome::Undone) => report.undone.push(change.clone()),
            Ok(Outcome::Gone) => report.gone.push(change.clone()),
            Ok(Outcome::Foreign(why)) => report.foreign.push(Left { change: change.clone(), why }),
            Err(error) => {
                report.left.push(Left { change: change.clone(), why: error.to_string() });
                continue;
            }
        }
        // Undoing twice is harmless, so a full disk must not stop it.
        let _ = journal.undone(root, recorded.step);
    }
    report
}

fn undo_one(root: &SysRoot, nonce: &str, recorded: &Recorded) -> Result<Outcome, HostError> {
    match &recorded.change {
        Change::WriteFile { path, prior, .. } => {
            undo_write(root, path, prior.as_deref(), recorded.seen.as_deref())
        }
        Change::CreateFile { path } => {
            named_ours(path, nonce, "remove")?;
            gone_if_absent(root.remove_file(path))
        }
        Change::CreateDir { path } => {
            named_ours(path, nonce, "remove")?;
            gone_if_absent(root.remove_dir(path))
        }
        Change::Cgroup { path } => undo_cgroup(root, nonce, path),
        Change::ControllerLeaf { leaf, from } => {
            named_ours(leaf, nonce, "remove")?;
            if !root.exists(leaf) {
                return Ok(Outcome::Gone);
            }
            move_back(root, leaf, from)?;
            remove_tree(root, leaf).map(|()| Outcome::Undone)
        }
        Change::SubtreeControl { path, controllers } => undo_subtree_control(root, path, controllers),
        Change::Mount { target, filesystem } => undo_mount(root, nonce, target, filesystem),
        Change::LoopAttach { device, inode, .. } => done(ramdisk::detach_loop(root, *device, *inode)?),
        Change::ZramHotAdd { present, at } => done(ramdisk::remove_orphan_zram(root, present, *at)?),
        Change::ZramDevice { id, identity } => undo_zram(root, *id, *identity),
        Change::Module { name } => done(ramdisk::unload_module(root, name)?),
        Change::BlankDevice { device, identity } => undo_blank(root, device, *identity),
        Change::SwapOn { device, identity } => undo_swap(root, device, *identity),
        Change::Process { pid, start_time } => undo_process(root, *pid, *start_time),
    }
}

fn done(found: bool) -> Result<Outcome, HostError> {
    Ok(if found { Outcome::Undone } else { Outcome::Gone })
}

fn gone_if_absent(result: Result<(), HostError>) -> Result<Outcome, HostError> {
    match result {
        Ok(()) => Ok(Outcome::Undone),
        Err(error) if error.is_not_found() => Ok(Outcome::Gone),
        Err(error) => Err(error),
    }
}

/// Everything the tool makes carries its nonce in the path; nothing else is removed.
fn named_ours(path: &Path, nonce: &str, action: &'static str) -> Result<(), HostError> {
    if path.components().any(|part| part.as_os_str().to_string_lossy().contains(nonce)) {
        return Ok(());
    }
    Err(HostError::Refused {
        action,
        subject: path.display().to_string(),
        why: format!("its name does not carry this journal's mark {nonce}"),
    })
}

fn undo_write(
    root: &SysRoot,
    path: &Path,
    prior: Option<&str>,
    seen: Option<&str>,
) -> Result<Outcome, HostError> {
    let Some(current) = root.read_optional(path)? else { return Ok(Outcome::Gone) };
    let Some(prior) = prior else { return gone_if_absent(root.remove_file(path)) };
    if same_value(&current, prior) {
        return Ok(Outcome::Undone);
    }
    if let Some(seen) = seen.filter(|seen| !same_value(&current, seen)) {
        return Ok(Outcome::Foreign(format!(
            "{} reads {:?}, neither the {:?} it was set to nor the {:?} it had before: somebody else changed it",
            path.display(),
            selected_value(&current),
            selected_value(seen),
            selected_value(prior)
        )));
    }
    root.write_checked(path, selected_value(prior), |_, found| same_value(found, prior))?;
    Ok(Outcome::Undone)
}

fn undo_cgroup(root: &SysRoot, nonce: &str, path: &Path) -> Result<Outcome, HostError> {
    if !is_own_cgroup(path, nonce) {
        named_ours(path, nonce, "remove cgroup")?;
    }
    if !root.exists(path) {
        return Ok(Outcome::Gone);
    }
    kill_tree(root, path)?;
    remove_tree(root, path).map(|()| Outcome::Undone)
}

fn undo_subtree_control(root: &SysRoot, path: &Path, controllers: &[String]) -> Result<Outcome, HostError> {
    let file = path.join("cgroup.subtree_control");
    let Some(enabled) = root.read_optional(&file)? else { return Ok(Outcome::Gone) };
    let foreign = root.folder_names(path).into_iter().find(|name| !name.starts_with("run-bench-"));
    if let Some(foreign) = foreign {
        return Ok(Outcome::Foreign(format!(
            "{} is there now and may use the controllers, which stay enabled",
            path.join(foreign).display()
        )));
    }
    let mut changed = false;
    for controller in controllers.iter().filter(|c| enabled.split_ascii_whitespace().any(|e| e == c.as_str()))
    {
        root.write(&file, &format!("-{controller}"))?;
        changed = true;
    }
    done(changed)
}

fn undo_mount(root: &SysRoot, nonce: &str, target: &Path, filesystem: &str) -> Result<Outcome, HostError> {
    named_ours(target, nonce, "unmount")?;
    for _ in 0..UNMOUNT_TRIES {
        let mounted = mounts(root)?.iter().any(|m| m.target == target && m.filesystem == filesystem);
        if !mounted {
            return Ok(Outcome::Gone);
        }
        match root.unmount(target) {
            Ok(()) => return Ok(Outcome::Undone),
            Err(error) if error.is_busy() => root.sleep(TRY_PAUSE),
            Err(error) => return Err(error),
        }
    }
    Err(HostError::Busy {
        subject: target.display().to_string(),
        tries: UNMOUNT_TRIES,
        why: "a process still has a file open there; `fuser -vm` names it".to_owned(),
    })
}

fn undo_zram(root: &SysRoot, id: u32, identity: DeviceIdentity) -> Result<Outcome, HostError> {
    if !root.exists(format!("/sys/block/zram{id}")) {
        return Ok(Outcome::Gone);
    }
    if !DeviceIdentity::of(root, &format!("zram{id}"))?.is_same(identity) {
        return Ok(Outcome::Foreign(format!("zram{id} is another device of the same name")));
    }
    ramdisk::remove_zram(root, id).map(|()| Outcome::Undone)
}

fn device_name(device: &Path) -> String {
    device.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn undo_blank(root: &SysRoot, device: &Path, identity: DeviceIdentity) -> Result<Outcome, HostError> {
    let name = device_name(device);
    if !root.exists(format!("/sys/block/{name}")) {
        return Ok(Outcome::Gone);
    }
    if !DeviceIdentity::of(root, &name)?.is_same(identity) {
        return Ok(Outcome::Foreign(format!("{name} is another device of the same name")));
    }
    ramdisk::blank(root, device).map(|()| Outcome::Undone)
}

fn undo_swap(root: &SysRoot, device: &Path, identity: DeviceIdentity) -> Result<Outcome, HostError> {
    if !swaps(root)?.iter().any(|swap| swap.is_device(device)) {
        return Ok(Outcome::Gone);
    }
    if !DeviceIdentity::of(root, &device_name(device))?.is_same(identity) {
        return Ok(Outcome::Foreign(format!("{} is another device of the same name", device.display())));
    }
    // The kernel may pick the process in swapoff as the one to kill for its memory.
    let guard = Path::new("/proc/self/oom_score_adj");
    let prior = root.value(guard);
    if prior.is_some() {
        let _ = root.write(guard, "-1000");
    }
    let result = root.swapoff(device, SWAPOFF_DEADLINE);
    if let Some(prior) = prior {
        let _ = root.write(guard, &prior);
    }
    result?;
    if swaps(root)?.iter().any(|swap| swap.is_device(device)) {
        return Err(HostError::Busy {
            subject: device.display().to_string(),
            tries: 1,
            why: "swapoff reported success and /proc/swaps still lists it".to_owned(),
        });
    }
    Ok(Outcome::Undone)
}

fn undo_process(root: &SysRoot, pid: u32, start_time: u64) -> Result<Outcome, HostError> {
    let same =
        || process_stat(root, pid).is_ok_and(|stat| stat.start_time == start_time && stat.state != 'Z');
    if !same() {
        return Ok(Outcome::Gone);
    }
    match root.kill(pid, &same) {
        Err(error) if same() => Err(error),
        _ => Ok(Outcome::Undone),
    }
}

/// The chosen word of a list like `always [madvise] never`, else the text itself.
pub(in super::super) fn selected_value(text: &str) -> &str {
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match chosen {
        Some((chosen, _)) => chosen,
        None => text.trim(),
    }
}

/// Whether two texts of one file mean the same value, however written.
pub(in super::super) fn same_value(left: &str, right: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        selected_value(text).split_ascii_whitespace().map(normal_word).collect()
    };
    words(left) == words(right)
}

fn normal_word(word: &str) -> String {
    let hexadecimal = word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    if let Some(number) = hexadecimal.or_else(|| word.parse().ok()) {
        return number.to_string();
    }
    match word {
        "Y" | "y" => "1".to_owned(),
        "N" | "n" => "0".to_owned(),
        other => other.to_owned(),
    }
}
