//! Traces of others as streams: plain text, CSV, and libCacheSim's
//! oracleGeneral records. Parsers take bytes; reading and decompressing files
//! is the caller's affair.

mod csv;
mod oracle;
mod text;

use std::collections::HashMap;

use thiserror::Error;

use crate::model::access::{Access, AccessKind, Recorded, Region, RegionKind};
use crate::units::PAGE_SIZE;

pub use csv::{CsvLayout, csv};
pub use oracle::{RECORD_BYTES, oracle_general};
pub use text::text;

/// Accesses that are kept; each takes 8 bytes.
const MOST_ACCESSES: usize = 1 << 28;
/// No object's name or operation is longer, and a message quotes no more of it.
const LONGEST_QUOTE: usize = 80;

/// A trace that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TraceError {
    #[error(
        "line {line}: {seen:?} is not {wanted}; the access cannot be told; correct the line or give the format"
    )]
    Field { line: u64, seen: String, wanted: &'static str },
    #[error(
        "line {line} has {fields} fields, but field {wanted} is asked for; check the delimiter and the column numbers"
    )]
    MissingField { line: u64, fields: usize, wanted: usize },
    #[error(
        "line {line} is not UTF-8, so this is no text trace; use the oracleGeneral format for binary traces"
    )]
    NotText { line: u64 },
    #[error(
        "{bytes} bytes are not a whole number of {RECORD_BYTES}-byte records; the trace is cut off at byte {offset} \
         or is not oracleGeneral"
    )]
    CutOff { bytes: u64, offset: u64 },
    #[error(
        "the record at byte {offset} says its next access is number {next}, not after itself ({own}); \
         this is not an oracleGeneral trace"
    )]
    NextAccess { offset: u64, own: u64, next: i64 },
    #[error("the trace starts as {format} compressed data; decompress it first, such as with `{command}`")]
    Compressed { format: &'static str, command: &'static str },
    #[error(
        "the trace holds more than 4294967294 distinct pages, which 32 bits cannot number; sample its objects"
    )]
    TooManyPages,
    #[error("the trace makes more than {MOST_ACCESSES} accesses, which would take more than 2 GiB; cut it")]
    TooManyAccesses,
}

/// One request of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    pub time: Option<u64>,
    pub object: u64,
    pub size: Option<u32>,
    pub write: bool,
    /// Number of the request that asks for the object next; `None` if the
    /// format does not say or there is none.
    pub next_access: Option<u64>,
}

impl TraceRecord {
    /// A plain read of an object.
    pub const fn read(object: u64) -> Self {
        TraceRecord { time: None, object, size: None, write: false, next_access: None }
    }
}

/// What an object is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Paging {
    /// One page, whatever its size: as cache simulators count.
    #[default]
    ObjectIsPage,
    /// As many pages as its size at first sight needs, at least one.
    BySize,
}

/// Numbers the pages of a trace in order of first appearance, so that a trace
/// becomes a stream over one region of this kind. An anonymous page must be
/// written before it costs memory, so its first request is made a write.
pub fn record(
    records: impl Iterator<Item = Result<TraceRecord, TraceError>>,
    kind: RegionKind,
    paging: Paging,
) -> Result<Recorded, TraceError> {
    let mut ids: HashMap<u64, (u32, u32)> = HashMap::new();
    let (mut accesses, mut pages) = (Vec::new(), 0u32);
    for record in records {
        let record = record?;
        let wanted = match paging {
            Paging::ObjectIsPage => 1,
            Paging::BySize => u64::from(record.size.unwrap_or(1)).div_ceil(PAGE_SIZE).max(1) as u32,
        };
        let (first, count, write) = match ids.get(&record.object) {
            Some(&(first, count)) => (first, count, record.write),
            None => {
                let first = pages;
                pages =
                    pages.checked_add(wanted).filter(|&p| p < u32::MAX).ok_or(TraceError::TooManyPages)?;
                ids.insert(record.object, (first, wanted));
                (first, wanted, record.write || kind == RegionKind::Anon)
            }
        };
        let access = match (kind, write) {
            (RegionKind::File, false) => AccessKind::FileRead,
            (RegionKind::File, true) => AccessKind::FileWrite,
            (_, false) => AccessKind::MapRead,
            (_, true) => AccessKind::MapWrite,
        };
        if accesses.len() + count as usize > MOST_ACCESSES {
            return Err(TraceError::TooManyAccesses);
        }
        accesses.extend((first..first + count).map(|page| Access::new(page, access)));
    }
    let regions = if pages == 0 { Vec::new() } else { vec![Region::new(0, pages, kind)] };
    Ok(Recorded::new(regions, accesses))
}

/// An object's number: itself if it is one, else a hash of its name (FNV-1a).
fn object_number(text: &str) -> u64 {
    let hex = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let number = hex.map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16));
    number.unwrap_or_else(|_| {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    })
}

/// The start of what was seen, for a message.
fn quoted(text: &str) -> String {
    text.chars().take(LONGEST_QUOTE).collect()
}

/// Whether an operation's name is a write.
fn is_write(text: &str, line: u64) -> Result<bool, TraceError> {
    match text.to_ascii_lowercase().as_str() {
        "r" | "read" | "get" | "gets" => Ok(false),
        "w" | "write" | "set" | "add" | "replace" | "cas" | "append" | "prepend" => Ok(true),
        _ => Err(TraceError::Field {
            line,
            seen: quoted(text),
            wanted: "a read or write, such as r, w, get, set",
        }),
    }
}

/// Refuses bytes that open as compressed data.
fn not_compressed(bytes: &[u8]) -> Result<(), TraceError> {
    let known: [(&[u8], &str, &str); 3] = [
        (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", "zstd -d"),
        (&[0x1f, 0x8b], "gzip", "gzip -d"),
        (&[0xfd, b'7', b'z', b'X', b'Z'], "xz", "xz -d"),
    ];
    match known.into_iter().find(|(magic, _, _)| bytes.starts_with(magic)) {
        Some((_, format, command)) => Err(TraceError::Compressed { format, command }),
        None => Ok(()),
    }
}

/// Lines with their numbers from 1, without their ends; a failed check comes
/// as the only item.
fn lines(bytes: &[u8]) -> impl Iterator<Item = Result<(u64, &str), TraceError>> {
    let refused = not_compressed(bytes).err();
    let readable = if refused.is_some() { &[][..] } else { bytes };
    let numbered =
        (1u64..).zip(readable.split_inclusive(|&b| b == b'\n')).map(|(line, bytes)| decode(line, bytes));
    refused.into_iter().map(Err).chain(numbered)
}

fn decode(line: u64, bytes: &[u8]) -> Result<(u64, &str), TraceError> {
    let text = std::str::from_utf8(bytes).map_err(|_| TraceError::NotText { line })?;
    Ok((line, text.trim_end_matches(['\n', '\r'])))
}

#[cfg(test)]
mod tests;
