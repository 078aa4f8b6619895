//! `/proc/meminfo`, in bytes.

use std::collections::BTreeMap;

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::{ParseError, read_with};
use crate::units::Bytes;

/// The sizes of `/proc/meminfo` by the kernel's names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meminfo(BTreeMap<String, Bytes>);

impl Meminfo {
    pub fn read(root: &SysRoot) -> Result<Self, HostError> {
        read_with(root, "/proc/meminfo", Meminfo::parse)
    }

    /// `None` where this kernel lacks the line.
    pub fn get(&self, name: &str) -> Option<Bytes> {
        self.0.get(name).copied()
    }

    /// From a text of the same form; `None` where it is not.
    pub(in super::super) fn from_text(text: &str) -> Option<Self> {
        Meminfo::parse(text).ok()
    }

    pub(super) fn parse(text: &str) -> Result<Self, ParseError> {
        let mut sizes = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let bad = |what| ParseError::new(index + 1, what, line);
            let (name, rest) = line.split_once(':').ok_or_else(|| bad("expected `Name: size`"))?;
            let words: Vec<&str> = rest.split_ascii_whitespace().collect();
            let number = words.first().and_then(|word| word.parse::<u64>().ok());
            let number = number.ok_or_else(|| bad("expected a whole number"))?;
            match words.get(1) {
                Some(&"kB") => {
                    let bytes = number.checked_mul(1024).ok_or_else(|| bad("the size is out of range"))?;
                    sizes.insert(name.to_owned(), Bytes(bytes));
                }
                // HugePages_* are counts, not sizes.
                None => {}
                Some(_) => return Err(bad("expected the unit kB")),
            }
        }
        Ok(Meminfo(sizes))
    }
}
