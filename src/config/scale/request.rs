//! What a user asks for, and the machine it is asked of.

use std::fmt;
use std::str::FromStr;

use crate::config::error::Problem;
use crate::units::Bytes;

/// Text form: `"1/64"` or `"auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleFactor {
    OneOver(u64),
    /// The largest that fits the machine.
    Auto,
}

impl fmt::Display for ScaleFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScaleFactor::OneOver(divisor) => write!(f, "1/{divisor}"),
            ScaleFactor::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for ScaleFactor {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        if text == "auto" {
            return Ok(ScaleFactor::Auto);
        }
        let divisor = text.strip_prefix("1/").and_then(|n| n.parse().ok()).filter(|n| *n > 0);
        divisor.map(ScaleFactor::OneOver).ok_or_else(|| {
            Problem::new("--scale", format!("{text:?} is no scale; write \"1/64\" or \"auto\""))
        })
    }
}

/// The options of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScaleRequest {
    /// None for the experiment as written.
    pub scale: Option<ScaleFactor>,
    /// Cap the times.
    pub quick: bool,
}

/// The machine that trials run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    pub cpus: u32,
    /// MemAvailable.
    pub memory_available: Bytes,
    /// Room in the folder of results, where it is known.
    pub disk_available: Option<Bytes>,
}
