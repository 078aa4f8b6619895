//! The server's answers, read with as little work as their framing allows.

use super::keys::Operation;
use crate::config::workload::Protocol;

const BINARY_HEADER: usize = 24;
const BINARY_MAGIC: u8 = 0x81;
const KEY_NOT_FOUND: u16 = 1;
/// A line of the text protocol longer than this is no memcached's.
const LONGEST_LINE: usize = 2048;

/// How one request fared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Stored,
    Hit,
    Miss,
    /// The server refused; the text is its own, or the binary status.
    Refused(String),
}

/// What the next bytes of the stream hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// An answer of this many bytes, of which perhaps not all are here yet.
    Answer { answer: Answer, length: usize },
    /// More bytes are needed to tell.
    Incomplete,
    /// The stream is not the protocol's.
    Garbled(String),
}

/// Reads the answer at the start of `bytes` to a request of this kind.
pub(super) fn next_answer(protocol: Protocol, operation: Operation, bytes: &[u8]) -> Step {
    match protocol {
        Protocol::Binary => binary(operation, bytes),
        Protocol::Text => text(operation, bytes),
    }
}

#[inline]
fn binary(operation: Operation, bytes: &[u8]) -> Step {
    let Some(header) = bytes.first_chunk::<BINARY_HEADER>() else {
        return Step::Incomplete;
    };
    let opcode = match operation {
        Operation::Get => 0,
        Operation::Set => 1,
    };
    if header[0] != BINARY_MAGIC || header[1] != opcode {
        return Step::Garbled(format!("an answer begins with bytes {:02x?}", &header[..8]));
    }
    let body = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
    let length = BINARY_HEADER + body as usize;
    let status = u16::from_be_bytes([header[6], header[7]]);
    let answer = match (status, operation) {
        (0, Operation::Set) => Answer::Stored,
        (0, Operation::Get) => Answer::Hit,
        (KEY_NOT_FOUND, Operation::Get) => Answer::Miss,
        _ if bytes.len() < length && length < LONGEST_LINE => return Step::Incomplete,
        _ => {
            let text = String::from_utf8_lossy(bytes.get(BINARY_HEADER..length).unwrap_or_default());
            Answer::Refused(format!("status {status:#06x} {}", text.trim()))
        }
    };
    Step::Answer { answer, length }
}

fn text(operation: Operation, bytes: &[u8]) -> Step {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return if bytes.len() > LONGEST_LINE {
            Step::Garbled("a line does not end".to_owned())
        } else {
            Step::Incomplete
        };
    };
    let line = bytes[..end].trim_ascii_end();
    let whole = |answer| Step::Answer { answer, length: end + 1 };
    match (operation, line) {
        (Operation::Set, b"STORED") => whole(Answer::Stored),
        (Operation::Get, b"END") => whole(Answer::Miss),
        (Operation::Get, _) if line.starts_with(b"VALUE ") => {
            let size = line.split(|byte| *byte == b' ').nth(3).and_then(|word| str::from_utf8(word).ok());
            match size.and_then(|word| word.parse::<usize>().ok()) {
                // The value and its line end, then the line `END`.
                Some(size) => Step::Answer { answer: Answer::Hit, length: end + 1 + size + 2 + 5 },
                None => Step::Garbled(format!("{:?}", String::from_utf8_lossy(line))),
            }
        }
        _ => {
            let text = String::from_utf8_lossy(line).into_owned();
            let refused = ["SERVER_ERROR", "CLIENT_ERROR", "ERROR", "NOT_STORED"];
            if refused.iter().any(|word| text.starts_with(word)) {
                whole(Answer::Refused(text))
            } else {
                Step::Garbled(format!("{text:?}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(opcode: u8, status: u16, body: u32) -> Vec<u8> {
        let mut bytes = vec![0x81, opcode, 0, 0, 0, 0];
        bytes.extend(status.to_be_bytes());
        bytes.extend(body.to_be_bytes());
        bytes.extend([0; 12]);
        bytes
    }

    #[test]
    fn binary_answers() {
        let next = |operation, bytes: &[u8]| next_answer(Protocol::Binary, operation, bytes);
        let stored = header(1, 0, 0);
        assert_eq!(next(Operation::Set, &stored), Step::Answer { answer: Answer::Stored, length: 24 });
        assert_eq!(next(Operation::Set, &stored[..23]), Step::Incomplete);
        assert_eq!(
            next(Operation::Get, &header(0, 0, 1028)),
            Step::Answer { answer: Answer::Hit, length: 1052 }
        );
        assert_eq!(next(Operation::Get, &header(0, 1, 9)), Step::Answer { answer: Answer::Miss, length: 33 });
        let mut memory = header(1, 0x82, 4);
        assert_eq!(next(Operation::Set, &memory), Step::Incomplete);
        memory.extend(b"full");
        let answer = Answer::Refused("status 0x0082 full".to_owned());
        assert_eq!(next(Operation::Set, &memory), Step::Answer { answer, length: 28 });
        assert!(matches!(next(Operation::Get, &stored), Step::Garbled(_)));
        assert!(matches!(next(Operation::Set, b"ERROR\r\nERROR\r\nERROR\r\nERROR\r\n"), Step::Garbled(_)));
    }

    #[test]
    fn text_answers() {
        let next = |operation, bytes: &[u8]| next_answer(Protocol::Text, operation, bytes);
        assert_eq!(
            next(Operation::Set, b"STORED\r\nSTO"),
            Step::Answer { answer: Answer::Stored, length: 8 }
        );
        assert_eq!(next(Operation::Set, b"STORED\r"), Step::Incomplete);
        assert_eq!(next(Operation::Get, b"END\r\n"), Step::Answer { answer: Answer::Miss, length: 5 });
        let hit = b"VALUE k-1 0 4\r\nabcd\r\nEND\r\n";
        assert_eq!(next(Operation::Get, hit), Step::Answer { answer: Answer::Hit, length: hit.len() });
        let refusal = "SERVER_ERROR out of memory storing object";
        assert_eq!(
            next(Operation::Set, format!("{refusal}\r\n").as_bytes()),
            Step::Answer { answer: Answer::Refused(refusal.to_owned()), length: 43 }
        );
        assert!(matches!(next(Operation::Get, b"VALUE k 0\r\n"), Step::Garbled(_)));
        assert!(matches!(next(Operation::Set, b"-ERR unknown\r\n"), Step::Garbled(_)));
        assert!(matches!(next(Operation::Set, &[b'x'; 3000]), Step::Garbled(_)));
    }
}
