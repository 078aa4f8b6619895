//! Kernel versions that the model follows, and how far each was checked.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One behaviour of reclaim, named after the kernel it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// 6.1: the first MGLRU release.
    K61,
    /// 6.12: the reference.
    K612,
    /// The 6.14 rework as posted (v3 of the series).
    K614Posted,
    /// The 6.14 rework as merged (6.14 to 6.18).
    K614Merged,
    /// 7.2.
    K72,
}

/// Which page replacement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PolicyKind {
    /// Active and inactive lists (`lru_gen/enabled` = 0).
    Classic,
    /// Multi-generational LRU.
    Mglru,
}

/// Whether a policy of a version was compared with a running kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Validation {
    /// Compared, counter by counter; the text says with what.
    Checked(&'static str),
    /// Written from the source only.
    Unvalidated,
}

/// A name that is no version or no policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    #[error("{0:?} is not a modelled kernel; write one of 6.1, 6.12, 6.14-posted, 6.14-merged, 7.2")]
    Version(String),
    #[error("{0:?} is not a reclaim policy; write classic or mglru")]
    Policy(String),
}

impl Version {
    pub const ALL: [Version; 5] =
        [Version::K61, Version::K612, Version::K614Posted, Version::K614Merged, Version::K72];

    pub const fn name(self) -> &'static str {
        match self {
            Version::K61 => "6.1",
            Version::K612 => "6.12",
            Version::K614Posted => "6.14-posted",
            Version::K614Merged => "6.14-merged",
            Version::K72 => "7.2",
        }
    }

    /// How far `policy` of this version was checked. A version becomes checked
    /// only by a table of measured counters kept with the results. Aging by
    /// page-table walks (`walks`) was never compared: User-Mode Linux has none.
    ///
    /// Of MGLRU in 6.1, memory that is used again cannot be compared there: the look-around
    /// clears young bits of neighbours without a flush, and User-Mode Linux of 6.1
    /// (`arch/um/kernel/tlb.c`) changes the host's mapping in a flush only, so that
    /// their next use leaves no mark there, as it would on no other machine.
    pub const fn validation(self, policy: PolicyKind, walks: bool) -> Validation {
        match (self, policy, walks) {
            (Version::K612, PolicyKind::Classic, _) => Validation::Checked("User-Mode Linux 6.12.117"),
            (Version::K612, PolicyKind::Mglru, false) => Validation::Checked("User-Mode Linux 6.12.117"),
            (Version::K612, PolicyKind::Mglru, true) => {
                Validation::Checked("User-Mode Linux 6.12.117, page-table walks unvalidated")
            }
            _ => Validation::Unvalidated,
        }
    }
}

impl PolicyKind {
    pub const fn name(self) -> &'static str {
        match self {
            PolicyKind::Classic => "classic",
            PolicyKind::Mglru => "mglru",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Version {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let text = if text == "6.14" { "6.14-merged" } else { text };
        let found = Version::ALL.into_iter().find(|v| v.name() == text);
        found.ok_or_else(|| NameError::Version(text.to_owned()))
    }
}

impl FromStr for PolicyKind {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text {
            "classic" => Ok(PolicyKind::Classic),
            "mglru" => Ok(PolicyKind::Mglru),
            _ => Err(NameError::Policy(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for version in Version::ALL {
            assert_eq!(version.name().parse(), Ok(version));
        }
        assert_eq!("mglru".parse(), Ok(PolicyKind::Mglru));
        let text = "6.13".parse::<Version>().unwrap_err().to_string();
        assert!(text.contains("6.13") && text.contains("6.14-posted"), "{text}");
    }
}
