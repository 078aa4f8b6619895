//! Flat `name value` files: `memory.stat` of v1 and v2, `/proc/vmstat`,
//! `memory.events`, `cgroup.events`, `cgroup.stat`.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::{ParseError, read_with};

/// Values by the kernel's own names. What this kernel does not have is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters(BTreeMap<String, u64>);

impl Counters {
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut values = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let bad = |what| ParseError::new(index + 1, what, line);
            let mut words = line.split_ascii_whitespace();
            let (Some(name), Some(value), None) = (words.next(), words.next(), words.next()) else {
                return Err(bad("expected `name value`"));
            };
            let value = value.parse().map_err(|_| bad("expected a whole number"))?;
            values.insert(name.to_owned(), value);
        }
        Ok(Counters(values))
    }

    pub fn read(root: &SysRoot, path: impl AsRef<Path>) -> Result<Self, HostError> {
        read_with(root, path, Counters::parse)
    }

    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// In the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
