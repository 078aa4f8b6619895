//! Requests rendered once and patched in place.
//!
//! A slot holds one request: the head (fixed bytes, then the key's digits, then
//! fixed bytes) ends where the value begins, so that the value never moves and
//! only the digits change while their count stays the same.

use std::io::IoSlice;

use super::keys::Operation;
use crate::config::workload::Protocol;

const BINARY_HEADER: usize = 24;
const SET_EXTRAS: usize = 8;
const OPCODE_GET: u8 = 0;
const OPCODE_SET: u8 = 1;
/// Most digits of a key's number.
const DIGITS: usize = 20;

/// The fixed parts of a request.
#[derive(Debug, Clone)]
struct Frame {
    before_key: Vec<u8>,
    after_key: Vec<u8>,
    /// Where the binary header's lengths stand; none in the text protocol.
    binary: bool,
    /// Bytes of extras and value that the binary header counts beside the key.
    counted: usize,
    prefix_length: usize,
}

impl Frame {
    fn new(protocol: Protocol, operation: Operation, prefix: &str, value: usize) -> Self {
        let (mut before_key, mut after_key, mut counted) = (Vec::new(), Vec::new(), 0);
        match (protocol, operation) {
            (Protocol::Binary, Operation::Set) => {
                before_key.resize(BINARY_HEADER + SET_EXTRAS, 0);
                before_key[0] = 0x80;
                before_key[1] = OPCODE_SET;
                before_key[4] = SET_EXTRAS as u8;
                counted = SET_EXTRAS + value;
            }
            (Protocol::Binary, Operation::Get) => {
                before_key.resize(BINARY_HEADER, 0);
                before_key[0] = 0x80;
                before_key[1] = OPCODE_GET;
            }
            (Protocol::Text, Operation::Set) => {
                before_key.extend_from_slice(b"set ");
                after_key.extend_from_slice(format!(" 0 0 {value}\r\n").as_bytes());
            }
            (Protocol::Text, Operation::Get) => {
                before_key.extend_from_slice(b"get ");
                after_key.extend_from_slice(b"\r\n");
            }
        }
        before_key.extend_from_slice(prefix.as_bytes());
        let binary = protocol == Protocol::Binary;
        Frame { before_key, after_key, binary, counted, prefix_length: prefix.len() }
    }

    fn longest_head(&self) -> usize {
        self.before_key.len() + DIGITS + self.after_key.len()
    }
}

/// One request's place in memory.
#[derive(Debug)]
struct Slot {
    bytes: Vec<u8>,
    /// Where the request begins, and where its value does.
    start: usize,
    value_at: usize,
    /// Digits of the key that is rendered; 0 before the first one.
    digits: usize,
}

impl Slot {
    fn new(frame: &Frame, value: &[u8], after_value: &[u8]) -> Self {
        let value_at = frame.longest_head();
        let mut bytes = vec![0; value_at];
        bytes.extend_from_slice(value);
        bytes.extend_from_slice(after_value);
        Slot { bytes, start: value_at, value_at, digits: 0 }
    }

    fn render(&mut self, frame: &Frame, key: u64) {
        let mut text = [0; DIGITS];
        let digits = write_digits(key, &mut text);
        let digits_end = self.value_at - frame.after_key.len();
        self.bytes[digits_end - digits..digits_end].copy_from_slice(&text[DIGITS - digits..]);
        if digits == self.digits {
            return;
        }
        self.digits = digits;
        self.bytes[digits_end..self.value_at].copy_from_slice(&frame.after_key);
        self.start = digits_end - digits - frame.before_key.len();
        let head = &mut self.bytes[self.start..digits_end - digits];
        head.copy_from_slice(&frame.before_key);
        if frame.binary {
            let key_length = frame.prefix_length + digits;
            head[2..4].copy_from_slice(&(key_length as u16).to_be_bytes());
            head[8..12].copy_from_slice(&((frame.counted + key_length) as u32).to_be_bytes());
        }
    }

    fn request(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Writes the decimal digits of `number` to the end of `text`; returns how many.
fn write_digits(mut number: u64, text: &mut [u8; DIGITS]) -> usize {
    let mut at = DIGITS;
    loop {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return DIGITS - at;
        }
    }
}

/// The requests of one connection that wait to be sent.
#[derive(Debug)]
pub(super) struct Requests {
    set: Frame,
    get: Frame,
    sets: Vec<Slot>,
    gets: Vec<Slot>,
    /// What is rendered, in order: which kind each slot number holds.
    queue: Vec<Operation>,
    /// The first request that is not sent whole, and how many of its bytes are.
    sent: usize,
    sent_bytes: usize,
}

/// Most pieces that one system call takes.
pub(super) const PIECES: usize = 64;

impl Requests {
    pub(super) fn new(protocol: Protocol, prefix: &str, value: &[u8], pipeline: usize) -> Self {
        let set = Frame::new(protocol, Operation::Set, prefix, value.len());
        let get = Frame::new(protocol, Operation::Get, prefix, 0);
        let after_value: &[u8] = if protocol == Protocol::Text { b"\r\n" } else { b"" };
        let sets = (0..pipeline).map(|_| Slot::new(&set, value, after_value)).collect();
        let gets = (0..pipeline).map(|_| Slot::new(&get, b"", b"")).collect();
        Requests { set, get, sets, gets, queue: Vec::with_capacity(pipeline), sent: 0, sent_bytes: 0 }
    }

    /// Whether all that was rendered is sent.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Renders one more request and returns its length. `value` replaces the slot's own.
    pub(super) fn push(&mut self, operation: Operation, key: u64, value: Option<&[u8]>) -> usize {
        let at = self.queue.len();
        self.queue.push(operation);
        let (slot, frame) = match operation {
            Operation::Set => (&mut self.sets[at], &self.set),
            Operation::Get => (&mut self.gets[at], &self.get),
        };
        slot.render(frame, key);
        if let Some(value) = value {
            slot.bytes[slot.value_at..slot.value_at + value.len()].copy_from_slice(value);
        }
        slot.request().len()
    }

    fn request(&self, at: usize) -> &[u8] {
        match self.queue[at] {
            Operation::Set => self.sets[at].request(),
            Operation::Get => self.gets[at].request(),
        }
    }

    /// Fills `pieces` with what is not sent yet; returns how many were filled.
    pub(super) fn pieces<'a>(&'a self, pieces: &mut [IoSlice<'a>; PIECES]) -> usize {
        let count = (self.queue.len() - self.sent).min(PIECES);
        for (offset, piece) in pieces.iter_mut().enumerate().take(count) {
            let whole = self.request(self.sent + offset);
            *piece = IoSlice::new(if offset == 0 { &whole[self.sent_bytes..] } else { whole });
        }
        count
    }

    /// Takes note that `length` more bytes are sent.
    pub(super) fn advance(&mut self, mut length: usize) {
        while self.sent < self.queue.len() {
            let rest = self.request(self.sent).len() - self.sent_bytes;
            if length < rest {
                self.sent_bytes += length;
                return;
            }
            length -= rest;
            self.sent += 1;
            self.sent_bytes = 0;
        }
        self.queue.clear();
        self.sent = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(requests: &Requests) -> Vec<u8> {
        (0..requests.queue.len()).flat_map(|at| requests.request(at).to_vec()).collect()
    }

    #[test]
    fn text_requests() {
        let mut requests = Requests::new(Protocol::Text, "item-", b"yyy", 4);
        requests.push(Operation::Set, 9, None);
        requests.push(Operation::Get, 18_446_744_073_709_551_615, None);
        requests.push(Operation::Set, 10, Some(b"zzz"));
        let text = String::from_utf8(all(&requests)).unwrap();
        assert_eq!(
            text,
            "set item-9 0 0 3\r\nyyy\r\nget item-18446744073709551615\r\nset item-10 0 0 3\r\nzzz\r\n"
        );
    }

    #[test]
    fn binary_requests() {
        let mut requests = Requests::new(Protocol::Binary, "k", b"vw", 2);
        requests.push(Operation::Set, 42, None);
        requests.push(Operation::Get, 0, None);
        let mut expected = vec![0x80, 1, 0, 3, 8, 0, 0, 0, 0, 0, 0, 13];
        expected.extend([0; 12 + 8]);
        expected.extend(b"k42vw");
        expected.extend([0x80, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2]);
        expected.extend([0; 12]);
        expected.extend(b"k0");
        assert_eq!(all(&requests), expected);
    }

    proptest! {
        #[test]
        fn patched_slots_equal_fresh_ones(keys in proptest::collection::vec(any::<u64>(), 1..12), shift in 0u32..64) {
            for protocol in [Protocol::Binary, Protocol::Text] {
                let mut reused = Requests::new(protocol, "p-", b"0123456789", 1);
                for (at, key) in keys.iter().enumerate() {
                    let operation = if at % 3 == 2 { Operation::Get } else { Operation::Set };
                    let key = key >> (shift * at as u32 % 64);
                    reused.push(operation, key, None);
                    let mut fresh = Requests::new(protocol, "p-", b"0123456789", 1);
                    fresh.push(operation, key, None);
                    prop_assert_eq!(all(&reused), all(&fresh));
                    let length = all(&reused).len();
                    reused.advance(length);
                    prop_assert!(reused.is_empty());
                }
            }
        }

        #[test]
        fn partial_sends_lose_nothing(steps in proptest::collection::vec(1usize..40, 1..60)) {
            let mut requests = Requests::new(Protocol::Text, "k", b"value", 5);
            (0..5).for_each(|key| { requests.push(Operation::Set, key * 7, None); });
            let (whole, mut got) = (all(&requests), Vec::new());
            for step in steps.into_iter().chain([1000]) {
                let mut pieces = [IoSlice::new(&[]); PIECES];
                let count = requests.pieces(&mut pieces);
                let rest: Vec<u8> = pieces[..count].iter().flat_map(|p| p.to_vec()).collect();
                let step = step.min(rest.len());
                got.extend_from_slice(&rest[..step]);
                requests.advance(step);
            }
            prop_assert_eq!(got, whole);
            prop_assert!(requests.is_empty());
        }
    }
}
