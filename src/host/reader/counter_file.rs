//! The sampler's fast path: a file kept open, read at offset 0 into a buffer
//! that is used again, parsed into numbers under names that are kept.
//!
//! Once the names are known a sample allocates nothing: each line's name is
//! compared with the one expected there. A changed set of lines is learned anew.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::ParseError;

/// How the file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterFormat {
    /// `name value` lines.
    Keyed,
    /// One number, under the name of the file.
    Single,
    /// PSI lines: `some_total` and `full_total` in microseconds.
    Pressure,
}

/// An open counter file.
#[derive(Debug)]
pub struct CounterFile {
    path: PathBuf,
    file: File,
    format: CounterFormat,
    buffer: Vec<u8>,
    names: Vec<String>,
    values: Vec<u64>,
}

impl CounterFile {
    pub fn open(root: &SysRoot, path: impl AsRef<Path>, format: CounterFormat) -> Result<Self, HostError> {
        let path = root.path(path);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(source) => return Err(HostError::Read { path, source }),
        };
        let buffer = vec![0; 16 << 10];
        Ok(CounterFile { path, file, format, buffer, names: Vec::new(), values: Vec::new() })
    }

    /// The names of the last sample's values, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file once. The values stand under [`CounterFile::names`].
    pub fn sample(&mut self) -> Result<&[u64], HostError> {
        let length = self.fill()?;
        let text = std::str::from_utf8(&self.buffer[..length]).map_err(|error| HostError::Parse {
            path: self.path.clone(),
            what: format!("not UTF-8: {error}"),
        })?;
        let mut into = Columns { names: &mut self.names, values: &mut self.values, used: 0 };
        let parsed = match self.format {
            CounterFormat::Keyed => parse_keyed(text, &mut into),
            CounterFormat::Pressure => parse_pressure(text, &mut into),
            CounterFormat::Single => {
                let name = self.path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
                parse_number(1, text).map(|value| into.push(&name, value))
            }
        };
        let used = into.used;
        self.names.truncate(used);
        self.values.truncate(used);
        match parsed {
            Ok(()) => Ok(&self.values),
            Err(error) => Err(HostError::Parse { path: self.path.clone(), what: error.to_string() }),
        }
    }

    /// The last sample as pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names.iter().map(String::as_str).zip(self.values.iter().copied())
    }

    fn fill(&mut self) -> Result<usize, HostError> {
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(length * 2, 0);
            }
            match self.file.read_at(&mut self.buffer[length..], length as u64) {
                Ok(0) => return Ok(length),
                Ok(read) => length += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(HostError::Read { path: self.path.clone(), source }),
            }
        }
    }
}

struct Columns<'a> {
    names: &'a mut Vec<String>,
    values: &'a mut Vec<u64>,
    used: usize,
}

impl Columns<'_> {
    fn push(&mut self, name: &str, value: u64) {
        match self.names.get_mut(self.used) {
            Some(known) if known == name => {}
            Some(other) => name.clone_into(other),
            None => self.names.push(name.to_owned()),
        }
        match self.values.get_mut(self.used) {
            Some(slot) => *slot = value,
            None => self.values.push(value),
        }
        self.used += 1;
    }
}

fn parse_number(line: usize, text: &str) -> Result<u64, ParseError> {
    text.trim_ascii().parse().map_err(|_| ParseError::new(line, "expected a whole number", text))
}

fn parse_keyed(text: &str, into: &mut Columns<'_>) -> Result<(), ParseError> {
    for (index, line) in text.lines().enumerate() {
        let (name, value) =
            line.split_once(' ').ok_or_else(|| ParseError::new(index + 1, "expected `name value`", line))?;
        into.push(name, parse_number(index + 1, value)?);
    }
    Ok(())
}

fn parse_pressure(text: &str, into: &mut Columns<'_>) -> Result<(), ParseError> {
    for (index, line) in text.lines().enumerate() {
        let name = if line.starts_with("some ") { "some_total" } else { "full_total" };
        let (_, total) = line
            .rsplit_once("total=")
            .ok_or_else(|| ParseError::new(index + 1, "expected `total=`", line))?;
        into.push(name, parse_number(index + 1, total)?);
    }
    Ok(())
}
