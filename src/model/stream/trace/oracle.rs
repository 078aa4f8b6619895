//! libCacheSim's oracleGeneral: little-endian records without padding of time
//! (u32), object (u64), size (u32) and the number of the object's next request
//! (i64; -1 or the largest number if there is none).

use super::{TraceError, TraceRecord, not_compressed};

/// Bytes of one record.
pub const RECORD_BYTES: usize = 24;

/// The requests of an oracleGeneral trace.
pub fn oracle_general(bytes: &[u8]) -> impl Iterator<Item = Result<TraceRecord, TraceError>> {
    let records = bytes.chunks_exact(RECORD_BYTES);
    let rest = records.remainder().len();
    let cut_off = TraceError::CutOff { bytes: bytes.len() as u64, offset: (bytes.len() - rest) as u64 };
    let refused = not_compressed(bytes).err();
    let records = if refused.is_some() { [].chunks_exact(RECORD_BYTES) } else { records };
    let end = if refused.is_none() && rest > 0 { Some(Err(cut_off)) } else { None };
    let parsed = (0u64..).zip(records).map(|(own, bytes)| parse(own, bytes));
    refused.into_iter().map(Err).chain(parsed).chain(end)
}

fn parse(own: u64, bytes: &[u8]) -> Result<TraceRecord, TraceError> {
    let u32_at = |at| u32::from_le_bytes(field(bytes, at));
    let next = i64::from_le_bytes(field(bytes, 16));
    let next_access = match next {
        -1 | i64::MAX => None,
        // Records of a filtered trace keep their old, larger numbers.
        next if u64::try_from(next).is_ok_and(|next| next > own) => Some(next as u64),
        next => return Err(TraceError::NextAccess { offset: own * RECORD_BYTES as u64, own, next }),
    };
    Ok(TraceRecord {
        time: Some(u64::from(u32_at(0))),
        object: u64::from_le_bytes(field(bytes, 4)),
        size: Some(u32_at(12)),
        write: false,
        next_access,
    })
}

/// The bytes of a field that lies inside a record.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}
