//! Files that others wrote: read up to a limit, within a time, and only where they
//! are files or pipes. What a stranger names may be a device without end, a pipe
//! that nobody writes to, or larger than the memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use thiserror::Error;

use crate::units::Bytes;

/// Results, manifests, specifications: what this program writes itself.
pub const RECORD: Bytes = Bytes::mib(64);
/// What a tool prints or writes.
pub const TOOL_OUTPUT: Bytes = Bytes::mib(256);
/// A file of the kernel's, or a kernel's configuration.
pub const KERNEL_FILE: Bytes = Bytes::mib(64);
/// Experiments, host profiles, tables of claims.
pub const SECTIONS: Bytes = Bytes::mib(1);

/// A pipe that is silent for longer is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a file is not read; the path stands in the error around it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InputFault {
    #[error("it is {kind}, which may have no end or no content; give a regular file or a pipe")]
    Kind { kind: &'static str },
    #[error("it is larger than {limit}, the most that is read of such a file; cut it or check the path")]
    TooLarge { limit: Bytes },
    #[error("it is a pipe to which nothing was written for {seconds} s; start its writer, or give a file")]
    Silent { seconds: u64 },
    #[error("byte {offset} is not UTF-8, so this is no text; check the path and its encoding")]
    NotText { offset: usize },
}

impl From<InputFault> for io::Error {
    fn from(fault: InputFault) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, fault)
    }
}

/// The whole content of a file or a pipe of at most `limit`.
pub fn read(path: &Path, limit: Bytes) -> io::Result<Vec<u8>> {
    read_within(path, limit, PATIENCE)
}

/// The same as text.
pub fn read_text(path: &Path, limit: Bytes) -> io::Result<String> {
    String::from_utf8(read(path, limit)?)
        .map_err(|error| InputFault::NotText { offset: error.utf8_error().valid_up_to() }.into())
}

/// Without waiting for a writer, and without becoming the controlling terminal's process.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

fn read_within(path: &Path, limit: Bytes, patience: Duration) -> io::Result<Vec<u8>> {
    // A device may act when it is opened, so its kind is asked for first, and again after.
    kind_of(&std::fs::metadata(path)?)?;
    let file = open(path)?;
    let meta = file.metadata()?;
    let is_pipe = kind_of(&meta)?;
    if meta.len() > limit.0 {
        return Err(InputFault::TooLarge { limit }.into());
    }
    let mut bytes = Vec::new();
    if is_pipe {
        drain(&file, &mut bytes, limit, patience)?;
    } else {
        (&file).take(limit.0.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > limit.0 {
        return Err(InputFault::TooLarge { limit }.into());
    }
    Ok(bytes)
}

/// Whether it is a pipe; what is neither that nor a file is refused.
fn kind_of(meta: &std::fs::Metadata) -> Result<bool, InputFault> {
    let kind = meta.file_type();
    let refused = |kind| Err(InputFault::Kind { kind });
    match () {
        () if kind.is_file() => Ok(false),
        () if kind.is_fifo() => Ok(true),
        () if kind.is_dir() => refused("a folder"),
        () if kind.is_socket() => refused("a socket"),
        () => refused("a device"),
    }
}

/// Reads a pipe to its end, or one byte beyond the limit.
fn drain(pipe: &File, bytes: &mut Vec<u8>, limit: Bytes, patience: Duration) -> io::Result<()> {
    let silent = InputFault::Silent { seconds: patience.as_secs() };
    let timeout = Timespec::try_from(patience).map_err(io::Error::other)?;
    let mut block = vec![0; 64 << 10];
    while bytes.len() as u64 <= limit.0 {
        if poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&timeout))? == 0 {
            return Err(silent.into());
        }
        match { pipe }.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(length) => bytes.extend_from_slice(&block[..length]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixListener;

    use super::*;

    const SHORT: Duration = Duration::from_millis(50);

    fn fault(path: &Path, limit: Bytes) -> InputFault {
        let error = read_within(path, limit, SHORT).expect_err("refused");
        error.get_ref().and_then(|e| e.downcast_ref::<InputFault>()).expect("a fault").clone()
    }

    fn fifo(path: &Path) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        std::fs::write(&path, "12345").expect("written");
        assert_eq!(read(&path, Bytes(5)).expect("read"), b"12345");
        assert_eq!(fault(&path, Bytes(4)), InputFault::TooLarge { limit: Bytes(4) });
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert_eq!(read_text(&link, Bytes(5)).expect("the user's own link"), "12345");
        std::fs::write(&path, [b'a', 0xff]).expect("written");
        assert!(read_text(&path, Bytes(5)).expect_err("no text").to_string().contains("byte 1"));
        // The kernel's files say that they are empty.
        assert!(!read(Path::new("/proc/self/status"), KERNEL_FILE).expect("read").is_empty());
        assert_eq!(fault(Path::new("/proc/self/status"), Bytes(9)), InputFault::TooLarge { limit: Bytes(9) });
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).expect("bound");
        for (path, kind) in
            [(Path::new("/dev/zero"), "a device"), (folder.path(), "a folder"), (&socket, "a socket")]
        {
            assert_eq!(fault(path, SECTIONS), InputFault::Kind { kind }, "{}", path.display());
        }
    }

    #[test]
    fn a_pipe_is_waited_for_with_patience() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        fifo(&path);
        assert!(matches!(fault(&path, SECTIONS), InputFault::Silent { .. }), "nobody writes");
        let target = path.clone();
        let writer = std::thread::spawn(move || {
            let mut pipe = OpenOptions::new().write(true).open(target).expect("a reader");
            pipe.write_all(&[b'x'; 300_000]).expect("written");
        });
        let long = Duration::from_secs(20);
        assert_eq!(read_within(&path, SECTIONS, long).expect("read").len(), 300_000);
        writer.join().expect("it wrote");
    }

    #[test]
    fn a_pipe_without_end_is_left_at_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        fifo(&path);
        let target = path.clone();
        let writer = std::thread::spawn(move || {
            let mut pipe = OpenOptions::new().write(true).open(target).expect("a reader");
            while pipe.write_all(&[b'x'; 4096]).is_ok() {}
        });
        let error = read_within(&path, Bytes::mib(1), Duration::from_secs(20)).expect_err("too large");
        assert!(error.to_string().contains("1MiB"), "{error}");
        writer.join().expect("it was left");
    }
}
