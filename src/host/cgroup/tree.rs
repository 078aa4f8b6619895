//! Killing, emptying and removing cgroup folders of ours.

use std::path::Path;
use std::time::Duration;

use super::super::error::HostError;
use super::super::root::SysRoot;

/// What every cgroup of ours begins with; the journal's mark follows.
pub(super) const NAME_PREFIX: &str = "run-bench-";
/// Big processes take a while to exit: up to ten seconds.
const TRIES: u32 = 400;
const TRY_PAUSE: Duration = Duration::from_millis(25);

/// Whether the last name of `path` is one that the journal with `nonce` made.
pub(in super::super) fn is_own_cgroup(path: &Path, nonce: &str) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    !nonce.is_empty() && name.starts_with(&format!("{NAME_PREFIX}{nonce}-"))
}

/// The processes in a cgroup, those of its children not counted.
pub(super) fn members(root: &SysRoot, dir: &Path) -> Result<Vec<u32>, HostError> {
    let file = dir.join("cgroup.procs");
    match root.read(&file) {
        Ok(text) => text
            .split_ascii_whitespace()
            .map(|word| {
                word.parse().map_err(|_| HostError::Parse {
                    path: root.path(&file),
                    what: format!("{word:?} is not a pid"),
                })
            })
            .collect(),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Ends everything in `dir` and below and waits until it is empty.
pub(in super::super) fn kill_tree(root: &SysRoot, dir: &Path) -> Result<(), HostError> {
    if !root.exists(dir) {
        return Ok(());
    }
    for child in root.folder_names(dir) {
        kill_tree(root, &dir.join(child))?;
    }
    let own = std::process::id();
    for attempt in 0..TRIES {
        let members = members(root, dir)?;
        if members.is_empty() {
            return Ok(());
        }
        if members.contains(&own) {
            return Err(HostError::Refused {
                action: "kill cgroup",
                subject: root.path(dir).display().to_string(),
                why: "the tool itself runs in it".to_owned(),
            });
        }
        kill_once(root, dir, &members)?;
        if attempt > 0 {
            root.sleep(TRY_PAUSE);
        }
    }
    Err(HostError::Busy {
        subject: root.path(dir).display().to_string(),
        tries: TRIES,
        why: format!("processes {:?} do not end; see their state in /proc/PID/stack", members(root, dir)?),
    })
}

/// By `cgroup.kill` where it exists; else frozen, so that nothing can fork
/// away, killed one by one, and thawed to die.
fn kill_once(root: &SysRoot, dir: &Path, members: &[u32]) -> Result<(), HostError> {
    let kill = dir.join("cgroup.kill");
    if root.exists(&kill) {
        return gone_is_fine(root.write(&kill, "1"));
    }
    let freeze = dir.join("cgroup.freeze");
    let can_freeze = root.exists(&freeze);
    if can_freeze {
        gone_is_fine(root.write(&freeze, "1"))?;
    }
    for pid in members {
        let listed = || self::members(root, dir).is_ok_and(|now| now.contains(pid));
        match root.kill(*pid, &listed) {
            Err(stop @ HostError::CrashPoint { .. }) => return Err(stop),
            // It may have ended by itself; the next look at the list decides.
            _ => continue,
        }
    }
    if can_freeze { gone_is_fine(root.write(&freeze, "0")) } else { Ok(()) }
}

fn gone_is_fine(result: Result<(), HostError>) -> Result<(), HostError> {
    match result {
        Err(error) if error.is_not_found() => Ok(()),
        other => other,
    }
}

/// Removes `dir` and what is below it; the kernel may need a moment after the
/// last process has ended.
pub(in super::super) fn remove_tree(root: &SysRoot, dir: &Path) -> Result<(), HostError> {
    for child in root.folder_names(dir) {
        remove_tree(root, &dir.join(child))?;
    }
    for _ in 0..TRIES {
        match root.remove_dir(dir) {
            Ok(()) => return Ok(()),
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) if error.is_busy() => root.sleep(TRY_PAUSE),
            Err(error) => return Err(error),
        }
    }
    Err(HostError::Busy {
        subject: root.path(dir).display().to_string(),
        tries: TRIES,
        why: format!("it still holds {:?}; the host is not as it was", members(root, dir)?),
    })
}

/// Moves every process of `leaf` back to where it came from.
pub(in super::super) fn move_back(root: &SysRoot, leaf: &Path, from: &Path) -> Result<(), HostError> {
    for pid in members(root, leaf)? {
        match root.write(from.join("cgroup.procs"), &pid.to_string()) {
            // ESRCH: it ended in the meantime.
            Err(error) if error.errno() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
            other => other?,
        }
    }
    Ok(())
}
