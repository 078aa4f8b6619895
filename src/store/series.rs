//! Counter samples of a trial, one JSON line each.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::ownership::create_file;
use crate::input;
use crate::units::Bytes;
use crate::units::Nanos;

/// A day at ten samples a second takes less.
const LONGEST: Bytes = Bytes::gib(1);

/// All counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Since the start of the trial.
    pub at: Nanos,
    /// `source.name` to value.
    pub values: BTreeMap<String, u64>,
}

/// Writes samples; buffered, flushed at the end.
#[derive(Debug)]
pub struct SeriesWriter {
    path: PathBuf,
    out: BufWriter<File>,
}

impl SeriesWriter {
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let file = create_file(path).map_err(StoreError::io("create", path))?;
        Ok(SeriesWriter { path: path.to_owned(), out: BufWriter::with_capacity(1 << 18, file) })
    }

    pub fn write(&mut self, sample: &Sample) -> Result<(), StoreError> {
        serde_json::to_writer(&mut self.out, sample).map_err(|source| StoreError::Json {
            what: "sample",
            path: self.path.clone(),
            source,
        })?;
        self.out.write_all(b"\n").map_err(StoreError::io("write", &self.path))
    }

    pub fn finish(mut self) -> Result<(), StoreError> {
        self.out.flush().map_err(StoreError::io("write", &self.path))
    }
}

/// Reads samples back; a torn last line is passed over.
#[derive(Debug)]
pub struct SeriesReader;

impl SeriesReader {
    pub fn read(path: &Path) -> Result<Vec<Sample>, StoreError> {
        let bytes = input::read(path, LONGEST).map_err(StoreError::io("read", path))?;
        let mut samples = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(sample) => samples.push(sample),
                Err(_) => break,
            }
        }
        Ok(samples)
    }
}
