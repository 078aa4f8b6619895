//! Files for workloads on files: written once, dropped from the cache before each run.
//!
//! The recipe is the same for every arm. The files are written by the trial's own
//! process, outside the limited cgroup, so that their first pages are charged to
//! nobody under test.

use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use rand::Rng;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::Advice;
use tokio_util::sync::CancellationToken;

use super::WorkloadError;
use crate::units::Bytes;

/// One file that a workload needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    pub(super) size: Bytes,
}

/// Writes the files that are not there in their size yet, and drops all from the
/// cache. Returns how many were written.
pub(super) async fn prepare(
    files: Vec<DataFile>,
    seed: u64,
    cancel: &CancellationToken,
) -> Result<usize, WorkloadError> {
    let cancel = cancel.clone();
    let work = tokio::task::spawn_blocking(move || {
        let mut written = 0;
        for (file, number) in files.iter().zip(0u64..) {
            if !has_size(file) {
                write(file, seed ^ number, &cancel)?;
                written += 1;
            }
        }
        for file in &files {
            drop_from_cache(&file.path).map_err(|source| WorkloadError::Io {
                what: "drop from the cache",
                path: file.path.clone(),
                source,
            })?;
        }
        Ok(written)
    });
    work.await.expect("the writer does not panic")
}

fn has_size(file: &DataFile) -> bool {
    std::fs::metadata(&file.path).is_ok_and(|m| m.is_file() && m.len() == file.size.0)
}

/// Fills a file with bytes that no device can compress, and puts them on the device.
fn write(file: &DataFile, seed: u64, cancel: &CancellationToken) -> Result<(), WorkloadError> {
    let error = |source| WorkloadError::Io { what: "write", path: file.path.clone(), source };
    // Under another name, so that a file cut short is never taken for a whole one.
    let part = file.path.with_extension("part");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut chunk = vec![0; 1 << 20];
    let mut out = File::create(&part).map_err(error)?;
    let mut left = file.size.0;
    while left > 0 {
        if cancel.is_cancelled() {
            let _ = std::fs::remove_file(&part);
            return Err(WorkloadError::Cancelled);
        }
        rng.fill_bytes(&mut chunk);
        let length = left.min(chunk.len() as u64) as usize;
        if let Err(source) = out.write_all(&chunk[..length]) {
            let _ = std::fs::remove_file(&part);
            return Err(error(source));
        }
        left -= length as u64;
    }
    out.sync_all().map_err(error)?;
    std::fs::rename(&part, &file.path).map_err(error)
}

/// Writes back and drops a file's pages; those that are mapped or in use stay.
pub(super) fn drop_from_cache(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    Ok(rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_are_written_once_and_again_when_their_size_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, size| DataFile { path: folder.path().join(name), size: Bytes(size) };
        let files = vec![file("a.0", 3 << 20), file("a.1", 5000)];
        let cancel = CancellationToken::new();
        assert_eq!(prepare(files.clone(), 1, &cancel).await.unwrap(), 2);
        let first = std::fs::read(&files[1].path).unwrap();
        assert_eq!(prepare(files.clone(), 1, &cancel).await.unwrap(), 0);
        std::fs::write(&files[1].path, b"cut short").unwrap();
        assert_eq!(prepare(files.clone(), 1, &cancel).await.unwrap(), 1);
        assert_eq!(std::fs::read(&files[1].path).unwrap(), first, "the seed decides the bytes");
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }

    #[tokio::test]
    async fn a_cancelled_write_leaves_no_half_file() {
        let folder = tempfile::tempdir().unwrap();
        let files = vec![DataFile { path: folder.path().join("x"), size: Bytes::mib(1) }];
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert!(matches!(prepare(files, 1, &cancel).await, Err(WorkloadError::Cancelled)));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
