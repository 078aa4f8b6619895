//! PSI: `/proc/pressure/*` and a cgroup's `*.pressure`.

use std::path::Path;

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::{ParseError, read_with};

/// One line of a pressure file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PressureLine {
    /// Percent of the time.
    pub avg10: f64,
    pub avg60: f64,
    pub avg300: f64,
    /// Microseconds.
    pub total: u64,
}

/// A pressure file; `full` is absent for some resources and kernels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pressure {
    pub some: Option<PressureLine>,
    pub full: Option<PressureLine>,
}

impl Pressure {
    pub fn read(root: &SysRoot, path: impl AsRef<Path>) -> Result<Self, HostError> {
        read_with(root, path, Pressure::parse)
    }

    pub(super) fn parse(text: &str) -> Result<Self, ParseError> {
        let mut pressure = Pressure::default();
        for (index, line) in text.lines().enumerate() {
            let parsed = parse_line(index + 1, line)?;
            match line.split(' ').next() {
                Some("some") => pressure.some = Some(parsed),
                Some("full") => pressure.full = Some(parsed),
                _ => return Err(ParseError::new(index + 1, "expected `some` or `full`", line)),
            }
        }
        Ok(pressure)
    }
}

fn parse_line(number: usize, line: &str) -> Result<PressureLine, ParseError> {
    let bad = |what| ParseError::new(number, what, line);
    let field = |name: &str| {
        let value = line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value.ok_or_else(|| bad("expected avg10, avg60, avg300 and total"))
    };
    let percent = |name: &str| match field(name)?.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(bad("expected a percentage")),
    };
    Ok(PressureLine {
        avg10: percent("avg10")?,
        avg60: percent("avg60")?,
        avg300: percent("avg300")?,
        total: field("total")?.parse().map_err(|_| bad("expected microseconds"))?,
    })
}
