//! The `newc` cpio format: what the kernel unpacks as its initramfs, and what a
//! guest hands its results back in.

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Folder,
    File(Vec<u8>),
    Link(String),
    /// A character device.
    Device {
        major: u32,
        minor: u32,
    },
}

/// One entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Without a leading slash.
    pub name: String,
    /// Permission bits.
    pub mode: u32,
    pub node: Node,
}

const MAGIC: &[u8] = b"070701";
const HEADER: usize = 110;
const TRAILER: &str = "TRAILER!!!";
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const DEVICE: u32 = 0o020_000;
const KIND: u32 = 0o170_000;

/// Builds an archive in memory.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    count: u32,
}

impl Writer {
    pub fn push(&mut self, entry: &Entry) {
        let (kind, data, device) = match &entry.node {
            Node::Folder => (FOLDER, &b""[..], (0, 0)),
            Node::File(data) => (FILE, data.as_slice(), (0, 0)),
            Node::Link(target) => (LINK, target.as_bytes(), (0, 0)),
            Node::Device { major, minor } => (DEVICE, &b""[..], (*major, *minor)),
        };
        self.header(&entry.name, kind | (entry.mode & 0o7777), data.len(), device);
        self.bytes.extend_from_slice(data);
        self.pad();
    }

    /// The finished archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.header(TRAILER, 0, 0, (0, 0));
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self.bytes
    }

    fn header(&mut self, name: &str, mode: u32, length: usize, device: (u32, u32)) {
        self.count += 1;
        let length = u32::try_from(length).expect("files of 4 GiB and more are refused before");
        let name_length = u32::try_from(name.len() + 1).expect("a path is short");
        self.bytes.extend_from_slice(MAGIC);
        // Inode, mode, owner, group, links, time, size, device, device node, name, checksum.
        let fields = [self.count, mode, 0, 0, 1, 0, length, 0, 0, device.0, device.1, name_length, 0];
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// Reads an archive up to its trailer. `None` when it is torn, foreign, or
/// names a path that would leave the folder it is unpacked in.
pub fn read(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut at = 0;
    loop {
        let header = bytes.get(at..at + HEADER)?;
        if &header[..6] != MAGIC {
            return None;
        }
        let field = |i: usize| {
            let text = std::str::from_utf8(&header[6 + 8 * i..14 + 8 * i]).ok()?;
            u32::from_str_radix(text, 16).ok()
        };
        let (mode, length, name_length) = (field(1)?, field(6)? as usize, field(11)? as usize);
        let name_at = at + HEADER;
        let name = bytes.get(name_at..(name_at + name_length).checked_sub(1)?)?;
        let name = String::from_utf8(name.to_vec()).ok()?;
        let data_at = (name_at + name_length).next_multiple_of(4);
        let data = bytes.get(data_at..data_at + length)?;
        at = (data_at + length).next_multiple_of(4);
        if name == TRAILER {
            return Some(entries);
        }
        let node = match mode & KIND {
            FOLDER => Node::Folder,
            FILE => Node::File(data.to_vec()),
            LINK => Node::Link(String::from_utf8(data.to_vec()).ok()?),
            DEVICE => Node::Device { major: field(9)?, minor: field(10)? },
            _ => return None,
        };
        if !stays_inside(&name) {
            return None;
        }
        entries.push(Entry { name, mode: mode & 0o7777, node });
    }
}

/// Whether a relative path names something below the folder it is taken from.
fn stays_inside(name: &str) -> bool {
    !name.is_empty() && !name.contains('\0') && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> Vec<Entry> {
        vec![
            Entry { name: "bin".to_owned(), mode: 0o755, node: Node::Folder },
            Entry { name: "bin/tool".to_owned(), mode: 0o755, node: Node::File(b"\x7fELF...".to_vec()) },
            Entry { name: "lib".to_owned(), mode: 0o777, node: Node::Link("bin".to_owned()) },
            Entry { name: "console".to_owned(), mode: 0o600, node: Node::Device { major: 5, minor: 1 } },
        ]
    }

    fn archive(entries: &[Entry]) -> Vec<u8> {
        let mut writer = Writer::default();
        for entry in entries {
            writer.push(entry);
        }
        writer.finish()
    }

    #[test]
    fn an_archive_reads_back() {
        assert_eq!(read(&archive(&sample())), Some(sample()));
    }

    #[test]
    fn the_header_is_the_documented_one() {
        let bytes = archive(&sample()[1..2]);
        let expected = "070701\
            00000001000081ed00000000000000000000000100000000\
            000000070000000000000000000000000000000000000009\
            00000000bin/tool\0";
        assert_eq!(String::from_utf8_lossy(&bytes[..expected.len()]), expected);
        assert_eq!(bytes.len() % 512, 0);
    }

    #[test]
    fn paths_that_leave_the_folder_are_refused() {
        for name in ["/etc/passwd", "../x", "a/../../x", "a//b", "."] {
            let entry = Entry { name: name.to_owned(), mode: 0o644, node: Node::File(Vec::new()) };
            assert_eq!(read(&archive(&[entry])), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_torn_archive_is_none_and_never_panics(cut in 0usize..700, flip in 0usize..700) {
            let mut bytes = archive(&sample());
            let whole = bytes.len();
            let trailer = bytes.windows(10).position(|w| w == b"TRAILER!!!").unwrap() + 11;
            if cut < trailer {
                prop_assert_eq!(read(&bytes[..cut]), None);
            }
            bytes[flip % whole] ^= 0x41;
            let _ = read(&bytes);
        }

        #[test]
        fn any_file_survives(data in proptest::collection::vec(any::<u8>(), 0..300)) {
            let entry = Entry { name: "x".to_owned(), mode: 0o600, node: Node::File(data) };
            prop_assert_eq!(read(&archive(std::slice::from_ref(&entry))), Some(vec![entry]));
        }
    }
}
