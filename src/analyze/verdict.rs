//! The verdict on one comparison.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the data say. Not resolved is not "no change".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Changed for the better, beyond the margin.
    Better,
    /// Changed for the worse, beyond the margin.
    Worse,
    /// Inside the margin, shown by two one-sided tests.
    Equivalent,
    /// The data cannot tell.
    Unresolved,
    /// The data mean nothing: too few valid blocks, or a confounder.
    Invalid,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Equivalent => "equivalent",
            Verdict::Unresolved => "unresolved",
            Verdict::Invalid => "invalid",
        })
    }
}
