//! Lines appended so that each is whole and on disk, or not there at all; and
//! the room for them, which tests take away at a chosen write.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many more writes a disk has room for. Unlimited but in tests and in
/// `selftest faults`.
#[derive(Debug, Clone, Default)]
pub struct DiskRoom {
    full_from: Option<u64>,
    writes: Arc<AtomicU64>,
}

impl DiskRoom {
    /// A disk that is full from write `write` on, counted from 0.
    pub fn full_from(write: u64) -> Self {
        DiskRoom { full_from: Some(write), writes: Arc::default() }
    }

    /// Whether any write met a full disk.
    pub fn was_full(&self) -> bool {
        self.full_from.is_some_and(|full_from| self.writes.load(Ordering::SeqCst) > full_from)
    }

    /// Called before each write.
    pub fn take(&self) -> io::Result<()> {
        let Some(full_from) = self.full_from else { return Ok(()) };
        if self.writes.fetch_add(1, Ordering::SeqCst) < full_from {
            return Ok(());
        }
        Err(io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error()))
    }

    /// Appends a line at the end of `file` and syncs it. On error nothing is
    /// left of it: half a line would hide every later one.
    pub fn append_line(&self, file: &mut File, line: &[u8]) -> io::Result<()> {
        let before = file.metadata()?.len();
        let written = match self.take() {
            Ok(()) => file.write_all(line).and_then(|()| file.sync_data()),
            // A full disk takes a part of the line.
            Err(full) => file.write_all(&line[..line.len() / 2]).and(Err(full)),
        };
        if written.is_err() {
            let _ = file.set_len(before).and_then(|()| file.seek(SeekFrom::End(0)));
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_on_a_full_disk_is_taken_back() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let disk = DiskRoom::full_from(1);
        disk.append_line(file.as_file_mut(), b"first\n").expect("there is room");
        let error = disk.append_line(file.as_file_mut(), b"second\n").expect_err("full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(disk.was_full());
        DiskRoom::default().append_line(file.as_file_mut(), b"third\n").expect("room again");
        assert_eq!(std::fs::read_to_string(file.path()).expect("there"), "first\nthird\n");
    }
}
