//! One process at a time changes the host, and whoever waits is told who holds it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::file::ensure_private_folder;
use super::owner::Owner;

const NAME: &str = "lock";

#[derive(Debug, Serialize, Deserialize)]
struct Holder {
    owner: Owner,
    purpose: String,
}

/// Held for as long as it lives; the kernel releases it when the process dies.
#[derive(Debug)]
pub struct HostLock {
    _file: File,
}

impl HostLock {
    /// Takes the lock in `folder`, or says who has it.
    pub fn acquire(root: &SysRoot, folder: &Path, purpose: &str) -> Result<Self, HostError> {
        let folder = root.path(folder);
        ensure_private_folder(&folder)?;
        let path = folder.join(NAME);
        let failed = |what: String| HostError::Journal { path: path.clone(), what };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)
            .map_err(|error| failed(format!("cannot open the lock: {error}")))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(HostError::Locked { holder: read_holder(&mut file) });
            }
            Err(error) => return Err(failed(format!("cannot lock: {error}"))),
        }
        let holder = Holder { owner: Owner::current(root)?, purpose: purpose.to_owned() };
        let text = serde_json::to_string(&holder).map_err(|error| failed(error.to_string()))?;
        let stored = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| file.flush());
        stored.map_err(|error| failed(format!("cannot name the holder: {error}")))?;
        Ok(HostLock { _file: file })
    }
}

fn read_holder(file: &mut File) -> String {
    let mut text = String::new();
    // The holder may be writing its name right now: an unreadable one is still a holder.
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    match read.ok().and_then(|_| serde_json::from_str::<Holder>(&text).ok()) {
        Some(holder) => format!("process {} ({})", holder.owner.pid, holder.purpose),
        None => "a process that has not written its name yet".to_owned(),
    }
}
