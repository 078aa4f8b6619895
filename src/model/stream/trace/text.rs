//! Plain text: an object a line, then maybe its operation. Empty lines and
//! those that start with `#` are passed over.

use super::{TraceError, TraceRecord, is_write, lines, object_number, quoted};

/// The requests of a text trace.
pub fn text(bytes: &[u8]) -> impl Iterator<Item = Result<TraceRecord, TraceError>> {
    let parse = |(line, text): (u64, &str)| {
        let mut words = text.split_whitespace();
        let object = words.next().filter(|word| !word.starts_with('#'))?;
        let write = match words.next().map_or(Ok(false), |word| is_write(word, line)) {
            Ok(write) => write,
            Err(error) => return Some(Err(error)),
        };
        if let Some(extra) = words.next() {
            let wanted = "the end of the line after an object and its operation";
            return Some(Err(TraceError::Field { line, seen: quoted(extra), wanted }));
        }
        Some(Ok(TraceRecord { write, ..TraceRecord::read(object_number(object)) }))
    };
    lines(bytes).filter_map(move |line| match line {
        Ok(line) => parse(line),
        Err(error) => Some(Err(error)),
    })
}
