//! Just enough of ELF-64 to know what a file is: machine, interpreter,
//! sections and notes. Every offset is checked; a short or foreign file is
//! `None`, never a panic.

use crate::host::build_id_in_notes;

/// A parsed header over the file's bytes.
#[derive(Debug)]
pub struct Elf<'a> {
    bytes: &'a [u8],
    machine: u16,
    segments: Vec<Segment>,
    sections: Vec<Section>,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    kind: u32,
    offset: usize,
    length: usize,
}

#[derive(Debug, Clone, Copy)]
struct Section {
    name: usize,
    kind: u32,
    offset: usize,
    length: usize,
}

pub const MACHINE_X86_64: u16 = 62;
const SEGMENT_INTERPRETER: u32 = 3;
const SEGMENT_NOTE: u32 = 4;
const SECTION_NOTE: u32 = 7;

/// The `N` bytes at `offset`.
fn array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}

fn half(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(array(bytes, offset)?))
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(array(bytes, offset)?))
}

fn long(bytes: &[u8], offset: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(array(bytes, offset)?)).ok()
}

impl<'a> Elf<'a> {
    /// Reads the headers of a little-endian ELF-64 file.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let is_elf64_little = bytes.get(..6)? == b"\x7fELF\x02\x01";
        if !is_elf64_little {
            return None;
        }
        let mut elf = Elf { bytes, machine: half(bytes, 18)?, segments: Vec::new(), sections: Vec::new() };
        let (table, size, count) = (long(bytes, 32)?, half(bytes, 54)?, half(bytes, 56)?);
        for i in 0..usize::from(count) {
            let at = table.checked_add(i * usize::from(size))?;
            elf.segments.push(Segment {
                kind: word(bytes, at)?,
                offset: long(bytes, at + 8)?,
                length: long(bytes, at + 32)?,
            });
        }
        let (table, size, count) = (long(bytes, 40)?, half(bytes, 58)?, half(bytes, 60)?);
        for i in 0..usize::from(count) {
            let at = table.checked_add(i * usize::from(size))?;
            elf.sections.push(Section {
                name: word(bytes, at)? as usize,
                kind: word(bytes, at + 4)?,
                offset: long(bytes, at + 24)?,
                length: long(bytes, at + 32)?,
            });
        }
        Some(elf)
    }

    pub fn machine(&self) -> u16 {
        self.machine
    }

    fn slice(&self, offset: usize, length: usize) -> Option<&'a [u8]> {
        self.bytes.get(offset..offset.checked_add(length)?)
    }

    /// The program that loads this one; none for a static program.
    pub fn interpreter(&self) -> Option<String> {
        let segment = self.segments.iter().find(|s| s.kind == SEGMENT_INTERPRETER)?;
        let text = self.slice(segment.offset, segment.length)?;
        let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
        String::from_utf8(text[..end].to_vec()).ok()
    }

    /// The bytes of the section called `name`.
    pub fn section(&self, name: &str) -> Option<&'a [u8]> {
        let names_at = usize::from(half(self.bytes, 62)?);
        let names = self.sections.get(names_at)?;
        let names = self.slice(names.offset, names.length)?;
        let wanted = [name.as_bytes(), b"\0"].concat();
        let found =
            self.sections.iter().find(|s| names.get(s.name..).is_some_and(|n| n.starts_with(&wanted)))?;
        self.slice(found.offset, found.length)
    }

    /// The GNU build id, in hex.
    pub fn build_id(&self) -> Option<String> {
        let segments = self.segments.iter().filter(|s| s.kind == SEGMENT_NOTE).map(|s| (s.offset, s.length));
        let sections = self.sections.iter().filter(|s| s.kind == SECTION_NOTE).map(|s| (s.offset, s.length));
        segments.chain(sections).find_map(|(offset, length)| build_id_in_notes(self.slice(offset, length)?))
    }
}

/// The bytes of a section of an ELF file.
pub fn elf_section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    Elf::parse(bytes)?.section(name)
}

/// The loader of an ELF program; none for a static one and for what is no ELF file.
pub fn elf_interpreter(bytes: &[u8]) -> Option<String> {
    Elf::parse(bytes)?.interpreter()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn this_program_is_understood() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let elf = Elf::parse(&bytes).expect("a 64-bit program");
        assert!(elf.interpreter().is_some_and(|i| i.starts_with('/')));
        assert!(elf.section(".text").is_some_and(|text| text.len() > 1000));
        assert_eq!(elf.section(".no-such-section"), None);
    }

    proptest! {
        #[test]
        fn damaged_headers_do_not_panic(edits in proptest::collection::vec((0usize..200, any::<u8>()), 0..20)) {
            let mut bytes = vec![0u8; 200];
            bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
            for (at, byte) in edits {
                bytes[at] = byte;
            }
            if let Some(elf) = Elf::parse(&bytes) {
                let _ = (elf.build_id(), elf.interpreter(), elf.section(".modinfo"));
            }
        }
    }
}
