//! Locks that say who holds them: one campaign with guests or reboots, one
//! kernel build at a time on a host.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::Write;
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
    let open = File::options().create(true).truncate(false).read(true).write(true).open(path);
    let mut file = open.map_err(Refused::Io)?;
    match file.try_lock() {
        Ok(()) => {
            let holder = format!("process {} ({what})\n", std::process::id());
            file.set_len(0).and_then(|()| file.write_all(holder.as_bytes())).map_err(Refused::Io)?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            Err(Refused::Held(std::fs::read_to_string(path).unwrap_or_default()))
        }
        Err(TryLockError::Error(error)) => Err(Refused::Io(error)),
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
        HostLock::take_at(&path, "second").unwrap();
    }
}
