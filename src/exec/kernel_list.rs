//! The kernel's list format for processors and NUMA nodes: `0-3,8`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// No machine numbers its processors higher; the kernel's mask ends here too.
const HIGHEST: u32 = 1023;

/// A set of processor or node numbers, as `/sys` and `cpuset` write it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelList(BTreeSet<u32>);

/// A text that is no such list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not a list of numbers; write numbers and ranges up to 1023 joined by commas, such as \"0-3,8\""
)]
pub struct KernelListError(pub String);

impl KernelList {
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<u32> for KernelList {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        KernelList(numbers.into_iter().collect())
    }
}

impl FromStr for KernelList {
    type Err = KernelListError;

    fn from_str(text: &str) -> Result<Self, KernelListError> {
        let bad = || KernelListError(text.to_owned());
        let mut numbers = BTreeSet::new();
        for part in text.trim().split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().map_err(|_| bad())?;
            let last: u32 = last.trim().parse().map_err(|_| bad())?;
            if first > last || last > HIGHEST {
                return Err(bad());
            }
            numbers.extend(first..=last);
        }
        Ok(KernelList(numbers))
    }
}

impl fmt::Display for KernelList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for number in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        let texts: Vec<String> = ranges
            .into_iter()
            .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
            .collect();
        f.write_str(&texts.join(","))
    }
}

impl Serialize for KernelList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KernelList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_ranges() {
        for (text, written) in [("0", "0"), ("0-3,8", "0-3,8"), ("5,1,2,3", "1-3,5"), (" 0-1 ", "0-1")] {
            let list: KernelList = text.parse().expect(text);
            assert_eq!(list.to_string(), written);
        }
    }

    #[test]
    fn refuses_what_is_no_list() {
        for text in ["", "a", "3-1", "0-4294967295", "1,,2", "-1", "1024"] {
            assert!(text.parse::<KernelList>().is_err(), "{text}");
        }
    }
}
