//! Locks that say who holds them: one campaign with guests or reboots, one
//! kernel build at a time on a host.

use std::fmt;
use std::fs::{File, Permissions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::TargetError;

/// Who holds a lock, as far as it is known.
#[derive(Debug)]
pub(super) enum Refused {
    Held(String),
    Io(std::io::Error),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Held(holder) if holder.trim().is_empty() => f.write_str("another process"),
            Refused::Held(holder) => f.write_str(holder.trim()),
            Refused::Io(error) => write!(f, "nobody, but it cannot be taken: {error}"),
        }
    }
}

/// Takes the lock at `path` for `what`; it is released when the file is dropped.
pub(super) fn take(path: &Path, what: &str) -> Result<File, Refused> {
    let mut file = open(path).map_err(Refused::Io)?;
    match file.try_lock() {
        Ok(()) => {
            let holder = format!("process {} ({what})\n", std::process::id());
            file.set_len(0).and_then(|()| file.write_all(holder.as_bytes())).map_err(Refused::Io)?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            // Others could write there: a few plain words are shown, no more.
            let mut holder = String::new();
            let _ = file.take(300).read_to_string(&mut holder);
            Err(Refused::Held(holder.chars().filter(|c| !c.is_control()).collect()))
        }
        Err(TryLockError::Error(error)) => Err(Refused::Io(error)),
    }
}

/// Opens or makes the lock file. Its folder may be everybody's: no link is
/// followed, and what another user made is opened, not made anew (`fs.protected_regular`).
fn open(path: &Path) -> std::io::Result<File> {
    let no_links = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = File::options();
    options.read(true).write(true).custom_flags(no_links);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            match options.clone().create_new(true).open(path) {
                Ok(file) => {
                    // Whatever the umask: root and users exclude each other through it.
                    file.set_permissions(Permissions::from_mode(0o666))?;
                    Ok(file)
                }
                // Somebody else was faster.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => options.open(path),
                Err(error) => Err(error),
            }
        }
        other => other,
    }
}

/// This host, taken for one campaign: two at once would measure each other.
#[derive(Debug)]
pub struct HostLock {
    _file: File,
}

impl HostLock {
    /// Takes the host for the campaign called `campaign`.
    pub fn take(campaign: &str) -> Result<Self, TargetError> {
        let folders = ["/run/lock", "/var/lock", "/tmp"].map(PathBuf::from);
        let folder = folders.into_iter().find(|f| f.is_dir()).unwrap_or_else(std::env::temp_dir);
        HostLock::take_at(&folder.join("run-bench.lock"), campaign)
    }

    fn take_at(path: &Path, campaign: &str) -> Result<Self, TargetError> {
        match take(path, &format!("campaign {campaign}")) {
            Ok(file) => Ok(HostLock { _file: file }),
            Err(Refused::Held(holder)) => Err(TargetError::HostInUse {
                holder: Refused::Held(holder).to_string(),
                path: path.to_owned(),
            }),
            Err(Refused::Io(source)) => Err(TargetError::io("lock", path)(source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_campaign_is_told_who_holds_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = HostLock::take_at(&path, "first").unwrap();
        let error = HostLock::take_at(&path, "second").unwrap_err().to_string();
        assert!(error.contains(&format!("process {} (campaign first)", std::process::id())), "{error}");
        drop(held);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        HostLock::take_at(&link, "through a link").unwrap_err();
        HostLock::take_at(&path, "second").unwrap();
    }

    #[test]
    fn the_lock_of_another_process_names_it_until_it_dies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let holder = "process 7 (campaign of another)";
        let mut other = std::process::Command::new("flock");
        let mut other = other.arg("--no-fork").arg(&path).args(["sleep", "60"]).spawn().unwrap();
        let begun = std::time::Instant::now();
        let error = loop {
            std::fs::write(&path, holder).unwrap();
            match HostLock::take_at(&path, "second") {
                Err(error) => break error.to_string(),
                // The other has not started yet.
                Ok(held) => drop(held),
            }
            assert!(begun.elapsed().as_secs() < 20, "the other process never took it");
        };
        assert!(error.contains(holder), "{error}");
        other.kill().unwrap();
        other.wait().unwrap();
        HostLock::take_at(&path, "second").unwrap();
    }
}
