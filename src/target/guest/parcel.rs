//! The parcel: a header block and a cpio archive, in a file or on a raw disk.
//!
//! The header is written last, so that a parcel is whole or absent; its nonce
//! tells it from one of another boot.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::target::cpio;
use crate::target::cpio::{Entry, Node};
use crate::units::hex;

/// Bytes of the header block.
const BLOCK: u64 = 4096;
const MAGIC: &str = "run-bench-parcel";
/// A trial's output is far smaller; more would be a fault.
const LARGEST: u64 = 1 << 30;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    magic: String,
    nonce: String,
    length: u64,
    sha256: String,
}

/// Why there is no parcel to open.
#[derive(Debug, Error)]
pub enum ParcelError {
    #[error("failed to {what} {path}", path = path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{path} holds no parcel: the guest delivered nothing", path = path.display())]
    Absent { path: PathBuf },
    #[error("{path} holds the parcel of another boot (nonce {found}, expected {expected})", path = path.display())]
    Stale { path: PathBuf, found: String, expected: String },
    #[error("{path} holds a damaged parcel: {what}", path = path.display())]
    Damaged { path: PathBuf, what: &'static str },
}

impl ParcelError {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ParcelError {
        let path = path.to_owned();
        move |source| ParcelError::Io { what, path, source }
    }
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Collects the files of a parcel.
#[derive(Debug, Default)]
pub struct Packer {
    writer: cpio::Writer,
}

impl Packer {
    pub fn file(&mut self, name: &str, bytes: Vec<u8>) {
        self.writer.push(&Entry { name: name.to_owned(), mode: 0o644, node: Node::File(bytes) });
    }

    /// A folder and the plain files below it; links and devices are left out.
    pub fn folder(&mut self, name: &str, path: &Path) -> io::Result<()> {
        self.writer.push(&Entry { name: name.to_owned(), mode: 0o755, node: Node::Folder });
        let mut entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let Ok(own) = entry.file_name().into_string() else { continue };
            let below = format!("{name}/{own}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.folder(&below, &entry.path())?;
            } else if kind.is_file() {
                self.file(&below, std::fs::read(entry.path())?);
            }
        }
        Ok(())
    }

    /// Writes the parcel to a file or a block device.
    pub fn deliver(self, nonce: &str, to: &Path) -> io::Result<()> {
        let archive = self.writer.finish();
        let header = Header {
            magic: MAGIC.to_owned(),
            nonce: nonce.to_owned(),
            length: archive.len() as u64,
            sha256: hash(&archive),
        };
        let mut block = serde_json::to_vec(&header).map_err(io::Error::other)?;
        block.resize(usize::try_from(BLOCK).expect("a small constant"), 0);
        let mut file = File::options().write(true).create(true).truncate(false).open(to)?;
        file.seek(SeekFrom::Start(BLOCK))?;
        file.write_all(&archive)?;
        file.sync_all()?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&block)?;
        file.sync_all()
    }
}

/// Reads the parcel of the boot `nonce` from a file or a disk image.
pub fn open(path: &Path, nonce: &str) -> Result<Vec<Entry>, ParcelError> {
    let absent = || ParcelError::Absent { path: path.to_owned() };
    let damaged = |what| ParcelError::Damaged { path: path.to_owned(), what };
    let mut file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(absent()),
        other => other.map_err(ParcelError::io("open", path))?,
    };
    let mut block = Vec::new();
    (&mut file).take(BLOCK).read_to_end(&mut block).map_err(ParcelError::io("read", path))?;
    let text = block.split(|b| *b == 0).next().unwrap_or_default();
    if text.is_empty() {
        return Err(absent());
    }
    let header: Header = serde_json::from_slice(text).map_err(|_| damaged("its header cannot be read"))?;
    if header.magic != MAGIC {
        return Err(damaged("its header is not ours"));
    }
    if header.nonce != nonce {
        let (found, expected) = (header.nonce, nonce.to_owned());
        return Err(ParcelError::Stale { path: path.to_owned(), found, expected });
    }
    if header.length > LARGEST {
        return Err(damaged("it claims to be larger than 1 GiB"));
    }
    let mut archive = Vec::new();
    file.take(header.length).read_to_end(&mut archive).map_err(ParcelError::io("read", path))?;
    if archive.len() as u64 != header.length || hash(&archive) != header.sha256 {
        return Err(damaged("its content does not match its checksum"));
    }
    cpio::read(&archive).ok_or_else(|| damaged("its archive cannot be read"))
}

/// Writes the files below `prefix` of a parcel into the folder `to`.
pub fn unpack(entries: &[Entry], prefix: &str, to: &Path) -> Result<(), ParcelError> {
    for entry in entries {
        let Some(name) = entry.name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')) else {
            continue;
        };
        let path = to.join(name);
        match &entry.node {
            Node::Folder => std::fs::create_dir_all(&path).map_err(ParcelError::io("create", &path))?,
            Node::File(bytes) => std::fs::write(&path, bytes).map_err(ParcelError::io("write", &path))?,
            // We never pack these, so the guest has no business sending them.
            Node::Link(_) | Node::Device { .. } => {}
        }
    }
    Ok(())
}

/// The bytes of one file of a parcel.
pub fn file<'a>(entries: &'a [Entry], name: &str) -> Option<&'a [u8]> {
    entries.iter().find_map(|entry| match &entry.node {
        Node::File(bytes) if entry.name == name => Some(bytes.as_slice()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(folder: &Path) -> PathBuf {
        let out = folder.join("work");
        std::fs::create_dir_all(out.join("raw")).unwrap();
        std::fs::write(out.join("record.json"), "{}").unwrap();
        std::fs::write(out.join("raw/console.txt"), "hello").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", out.join("raw/link")).unwrap();
        let mut packer = Packer::default();
        packer.file("end.json", b"end".to_vec());
        packer.folder("out", &out).unwrap();
        let to = folder.join("parcel");
        packer.deliver("feed", &to).unwrap();
        to
    }

    #[test]
    fn a_parcel_arrives() {
        let folder = tempfile::tempdir().unwrap();
        let entries = open(&delivered(folder.path()), "feed").unwrap();
        assert_eq!(file(&entries, "end.json"), Some(&b"end"[..]));
        let to = folder.path().join("here");
        std::fs::create_dir(&to).unwrap();
        unpack(&entries, "out", &to).unwrap();
        assert_eq!(std::fs::read_to_string(to.join("raw/console.txt")).unwrap(), "hello");
        assert!(!to.join("raw/link").exists() && !to.join("end.json").exists());
    }

    #[test]
    fn a_parcel_of_another_boot_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let error = open(&delivered(folder.path()), "other").unwrap_err();
        assert!(matches!(error, ParcelError::Stale { .. }), "{error}");
    }

    #[test]
    fn an_empty_disk_and_no_file_are_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        assert!(matches!(open(&path, "x"), Err(ParcelError::Absent { .. })));
        std::fs::write(&path, vec![0; 8192]).unwrap();
        assert!(matches!(open(&path, "x"), Err(ParcelError::Absent { .. })));
    }

    #[test]
    fn damage_anywhere_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = delivered(folder.path());
        let whole = std::fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(97) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            std::fs::write(&path, &bytes).unwrap();
            // The header block is padded with zeros that mean nothing.
            let in_padding = whole[at] == 0 && at < 4096;
            assert!(in_padding || open(&path, "feed").is_err(), "byte {at}");
        }
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(matches!(open(&path, "feed"), Err(ParcelError::Damaged { .. })));
    }
}
