//! `/proc/self/mountinfo`.

use std::path::PathBuf;

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::{ParseError, read_with};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The folder of the file system that is mounted, `/` for all of it.
    pub root: String,
    pub target: PathBuf,
    pub options: Vec<String>,
    pub filesystem: String,
    pub source: String,
    pub super_options: Vec<String>,
}

impl Mount {
    /// Whether the file system was mounted with `option`.
    pub fn has_super_option(&self, option: &str) -> bool {
        self.super_options.iter().any(|o| o == option)
    }

    pub fn is_read_only(&self) -> bool {
        self.options.iter().any(|o| o == "ro") || self.has_super_option("ro")
    }
}

/// All mounts of this process's namespace, in the kernel's order.
pub fn mounts(root: &SysRoot) -> Result<Vec<Mount>, HostError> {
    read_with(root, "/proc/self/mountinfo", parse)
}

pub(super) fn parse(text: &str) -> Result<Vec<Mount>, ParseError> {
    text.lines().enumerate().map(|(index, line)| parse_line(index + 1, line)).collect()
}

fn parse_line(number: usize, line: &str) -> Result<Mount, ParseError> {
    let bad = |what| ParseError::new(number, what, line);
    let (before, after) = line.split_once(" - ").ok_or_else(|| bad("expected ` - `"))?;
    let before: Vec<&str> = before.split(' ').collect();
    let after: Vec<&str> = after.split(' ').collect();
    let ([_, _, _, root, target, options, ..], [filesystem, source, super_options, ..]) =
        (before.as_slice(), after.as_slice())
    else {
        return Err(bad("expected six fields before ` - ` and three after"));
    };
    Ok(Mount {
        root: unescape(root),
        target: PathBuf::from(unescape(target)),
        options: split_options(options),
        filesystem: (*filesystem).to_owned(),
        source: unescape(source),
        super_options: split_options(super_options),
    })
}

fn split_options(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

/// The kernel writes blanks and backslashes as three octal digits.
pub(super) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|digits| digits.iter().all(|d| (b'0'..=b'7').contains(d)));
        match octal {
            Some(digits) if first == b'\\' => {
                let value = digits.iter().fold(0u32, |sum, d| sum * 8 + u32::from(d - b'0'));
                bytes.push(value.to_le_bytes()[0]);
                rest = &tail[3..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
