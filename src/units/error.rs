//! Why a text is not a quantity.

use thiserror::Error;

/// A text that should have been a quantity with a unit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnitError {
    /// A size was expected.
    #[error(
        "{text:?} is not a size; write a whole or decimal number with a unit, such as \"64MiB\", \"4GiB\" or \"1KiB\""
    )]
    Bytes { text: String },
    /// A size has the ambiguous single-letter unit.
    #[error(
        "{text:?} is ambiguous; write \"{number}{letter}iB\" (1024-based) or \"{number}{letter}B\" (1000-based)"
    )]
    AmbiguousBytes { text: String, number: String, letter: char },
    /// A duration was expected.
    #[error(
        "{text:?} is not a duration; write a number with a unit, such as \"500ms\", \"30s\", \"5min\" or \"2h\""
    )]
    Nanos { text: String },
    /// A percentage was expected.
    #[error("{text:?} is not a percentage; write a number with a percent sign, such as \"1%\" or \"+1.8%\"")]
    Percent { text: String },
    /// A list of processors was expected.
    #[error("{text:?} is not a list of processors; write numbers and ranges, such as \"0-3,8\"")]
    CpuSet { text: String },
    /// The number does not fit.
    #[error("{text:?} is out of range for {what}")]
    Range { text: String, what: &'static str },
}
