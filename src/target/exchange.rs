//! A folder to exchange files with a guest, and the request in it.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::error::TargetError;
use super::guest;
use super::guest::{Carrier, Job, Module, Request};
use crate::units::{Nanos, hex};

/// Host variables that the guest's job gets too.
const PASSED_ON: [&str; 3] = ["PATH", crate::exec::FOLDERS_VARIABLE, "RUST_BACKTRACE"];

const PREFIX: &str = "run-bench-guest-";
/// A younger folder may not be locked yet.
const LEAST_AGE: Duration = Duration::from_secs(60);

/// A private folder of one boot, removed with it.
#[derive(Debug)]
pub(super) struct Exchange {
    folder: tempfile::TempDir,
    nonce: String,
    /// Locked while we live, which tells the folder from one that was left behind.
    _held: File,
}

impl Exchange {
    /// A folder whose path can stand on a kernel command line.
    pub(super) fn create() -> Result<Self, TargetError> {
        let base = std::env::temp_dir();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-_.".contains(&b);
        if !base.is_absolute() || !base.as_os_str().as_encoded_bytes().iter().all(|b| plain(*b)) {
            return Err(TargetError::ExchangePath { path: base });
        }
        sweep(&base, SystemTime::now());
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir_in(&base)
            .map_err(TargetError::io("create a folder in", &base))?;
        let held = File::open(folder.path()).and_then(|file| {
            file.try_lock()?;
            Ok(file)
        });
        let held = held.map_err(TargetError::io("lock", folder.path()))?;
        let mut random = [0; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
            .map_err(|e| TargetError::io("draw random bytes for", folder.path())(e.into()))?;
        let nonce = hex(&random);
        Ok(Exchange { folder, nonce, _held: held })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Removes the folder, with what a dying guest dropped in it.
    pub(super) fn remove(self) -> Result<(), TargetError> {
        let path = self.path().to_owned();
        self.folder.close().map_err(TargetError::io("remove", &path))
    }

    /// The request for a guest, as JSON; `scratch` is the guest's folder for temporary files.
    pub(super) fn request(
        &self,
        job: &Job,
        deadline: Duration,
        carrier: Carrier,
        modules: Vec<Module>,
        scratch: Option<&str>,
    ) -> Vec<u8> {
        let mut environment: BTreeMap<String, String> = PASSED_ON
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect();
        environment.insert("HOME".to_owned(), "/tmp".to_owned());
        environment.extend(scratch.map(|folder| ("TMPDIR".to_owned(), folder.to_owned())));
        environment.insert("LC_ALL".to_owned(), "C".to_owned());
        let request = Request {
            schema: guest::SCHEMA,
            nonce: self.nonce.clone(),
            job: job.clone(),
            deadline: Nanos::from(deadline),
            carrier,
            modules,
            environment,
        };
        serde_json::to_vec_pretty(&request).expect("maps of strings and plain structures")
    }
}

/// Removes folders whose process was killed before it could.
fn sweep(base: &Path, now: SystemTime) {
    let Ok(entries) = std::fs::read_dir(base) else { return };
    let ours = rustix::process::getuid().as_raw();
    for entry in entries.flatten() {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        // Of the entry itself: a link is no folder.
        let Ok(meta) = entry.metadata() else { continue };
        let age = meta.modified().ok().and_then(|at| now.duration_since(at).ok()).unwrap_or_default();
        if !named || !meta.is_dir() || meta.uid() != ours || age < LEAST_AGE {
            continue;
        }
        if File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            // What cannot be removed now is tried again by the next guest.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_killed_process_left_is_swept() {
        let base = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let path = base.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("disk"), "x").unwrap();
            path
        };
        let (left, held, other) = (place("run-bench-guest-a"), place("run-bench-guest-b"), place("other"));
        let lock = File::open(&held).unwrap();
        lock.try_lock().unwrap();
        sweep(base.path(), SystemTime::now());
        assert!(left.exists(), "too young to be told from one that is being made");
        let later = SystemTime::now() + 2 * LEAST_AGE;
        sweep(base.path(), later);
        assert_eq!((left.exists(), held.exists(), other.exists()), (false, true, true));
        // A clock that was set back makes everything young.
        let earlier = SystemTime::now() - 2 * LEAST_AGE;
        drop(lock);
        sweep(base.path(), earlier);
        assert!(held.exists());
    }
}
