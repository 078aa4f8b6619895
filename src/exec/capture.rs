//! Bounded capture: the first and the last part of a stream are kept.

use std::collections::VecDeque;

/// What was kept of an output stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Half of the bound: the size of each part.
    half: usize,
    total: u64,
}

impl Captured {
    pub(super) fn with_limit(limit: u64) -> Self {
        Captured { half: usize::try_from(limit / 2).unwrap_or(usize::MAX), ..Captured::default() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let to_head = bytes.len().min(self.half - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        let rest = &bytes[to_head..];
        let kept = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(self.half);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(kept);
    }

    /// Bytes that the program wrote, kept or not.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes between the two kept parts that were dropped.
    pub fn dropped(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// The kept bytes; when some were dropped, a line in their place says how many.
    pub fn bytes(&self) -> Vec<u8> {
        let mut all = self.head.clone();
        if self.dropped() > 0 {
            all.extend_from_slice(format!("\n[… {} bytes left out …]\n", self.dropped()).as_bytes());
        }
        all.extend(&self.tail);
        all
    }

    /// The kept bytes as text, with replacement characters where they are not UTF-8.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

/// Cuts a stream into lines at `\n` and `\r`, with a bound on a line's length.
#[derive(Debug, Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
}

/// A longer line is no progress line; it is cut.
const LONGEST_LINE: usize = 4096;

impl Lines {
    pub(super) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for &byte in bytes {
            if byte == b'\n' || byte == b'\r' {
                each(&String::from_utf8_lossy(&self.partial));
                self.partial.clear();
            } else if self.partial.len() < LONGEST_LINE {
                self.partial.push(byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_stream_is_kept_whole() {
        let mut captured = Captured::with_limit(16);
        captured.push(b"hello ");
        captured.push(b"world");
        assert_eq!((captured.text().as_str(), captured.dropped()), ("hello world", 0));
    }

    #[test]
    fn a_gap_is_named() {
        let mut captured = Captured::with_limit(4);
        captured.push(b"abcdefgh");
        assert_eq!(captured.text(), "ab\n[… 4 bytes left out …]\ngh");
    }

    proptest! {
        #[test]
        fn head_and_tail_are_the_ends_of_the_stream(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..20),
            limit in 0u64..64,
        ) {
            let mut captured = Captured::with_limit(limit);
            for chunk in &chunks {
                captured.push(chunk);
            }
            let all = chunks.concat();
            let half = (limit / 2) as usize;
            prop_assert_eq!(captured.total() as usize, all.len());
            prop_assert_eq!(&captured.head, &all[..half.min(all.len())]);
            let tail: Vec<u8> = captured.tail.iter().copied().collect();
            let start = all.len().saturating_sub(half).max(captured.head.len());
            prop_assert_eq!(&tail[..], &all[start..]);
        }

        #[test]
        fn lines_do_not_depend_on_the_chunks(text in "[ab\n\r]{0,60}", cut in 0usize..60) {
            let cut = cut.min(text.len());
            let split = |parts: &[&str]| {
                let (mut lines, mut seen) = (Lines::default(), Vec::new());
                for part in parts {
                    lines.push(part.as_bytes(), |l| seen.push(l.to_owned()));
                }
                (seen, lines.partial)
            };
            prop_assert_eq!(split(&[&text]), split(&[&text[..cut], &text[cut..]]));
        }
    }
}
