//! Seeded damage that knows what texts are made of: bytes, words, numbers, lines,
//! brackets, and parts of other inputs of the same kind.

use std::ops::Range;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// No damaged input is longer.
const LONGEST: usize = 64 << 10;

/// Numbers at the edges of what can be counted.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "127",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18014398509481984",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "0.1",
    "1e-308",
    "1e308",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "0x10",
    "00",
    "1_000",
    "٣",
];

/// What texts of every kind stumble over.
const SPLINTERS: &[&str] = &[
    "{", "}", "[", "]", "\"", "'", "\"\"\"", "\\", "\\u0000", "\\ud800", ",", ":", ";", "=", ".", "#", " ",
    "\t", "\n", "\n\n", "\r\n", "\0", "\u{feff}", "\u{202e}", "\x1b[2J", "é", "../", "/", "$(x)", "`x`",
    "%s", "-", "--", "null", "true", "(null)", "max",
];

/// Makes damaged inputs from good ones, always the same from one seed.
pub struct Mutator {
    corpus: Vec<Vec<u8>>,
    words: &'static [&'static str],
    random: Xoshiro256PlusPlus,
}

impl Mutator {
    /// `words` are those that mean something to the reader.
    pub fn new(corpus: Vec<Vec<u8>>, words: &'static [&'static str], seed: u64) -> Self {
        assert!(!corpus.is_empty(), "there is something to damage");
        Mutator { corpus, words, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.random_range(0..end.max(1))
    }

    fn piece(&mut self) -> &'static [u8] {
        let pick = self.below(3);
        let list = match pick {
            0 => NUMBERS,
            1 => SPLINTERS,
            _ if self.words.is_empty() => SPLINTERS,
            _ => self.words,
        };
        list[self.below(list.len())].as_bytes()
    }

    /// The next input: one to six changes of a good one.
    pub fn next(&mut self) -> Vec<u8> {
        let pick = self.below(self.corpus.len());
        let mut bytes = self.corpus[pick].clone();
        for _ in 0..=self.below(6) {
            self.change(&mut bytes);
            bytes.truncate(LONGEST);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        match self.below(13) {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = self.random.next_u64() as u8;
                }
            }
            1 => drop(bytes.splice(at..at, self.piece().iter().copied())),
            2 => drop(bytes.splice(word_at(bytes, at), self.piece().iter().copied())),
            3 => {
                if let Some(number) = number_after(bytes, at) {
                    let other = NUMBERS[self.below(NUMBERS.len())];
                    drop(bytes.splice(number, other.bytes()));
                }
            }
            4 => bytes.truncate(at),
            5 => {
                let end = (at + self.below(200)).min(bytes.len());
                drop(bytes.drain(at..end));
            }
            6 => {
                let end = (at + self.below(300)).min(bytes.len());
                let part = bytes[at..end].repeat(1 + self.below(6));
                drop(bytes.splice(at..at, part));
            }
            7 => drop(bytes.splice(at..at, self.part_of_another())),
            8 => drop(bytes.drain(line_at(bytes, at))),
            9 => {
                let line = line_at(bytes, at);
                let to = self.below(bytes.len() + 1);
                let (text, to) = (bytes[line].to_vec(), line_at(bytes, to).start);
                drop(bytes.splice(to..to, text));
            }
            10 => {
                let (from, word) = (self.below(bytes.len() + 1), word_at(bytes, at));
                let other = bytes[word_at(bytes, from)].to_vec();
                drop(bytes.splice(word, other));
            }
            11 if self.below(40) == 0 => {
                let open = [&b"["[..], b"{\"a\":", b"(", b"a.", b"> "][self.below(5)];
                let times = 1 << self.below(12);
                drop(bytes.splice(at..at, open.repeat(times)));
            }
            11 => {
                if let Some(byte) = bytes.get_mut(at).filter(|byte| byte.is_ascii_digit()) {
                    *byte = b'0' + self.below(10) as u8;
                }
            }
            _ => {
                let end = (at + self.below(400)).min(bytes.len());
                let (from, to) = [(b'\n', b' '), (b' ', b'\n'), (b' ', b'\t'), (b'"', b'\'')][self.below(4)];
                bytes[at..end].iter_mut().filter(|byte| **byte == from).for_each(|byte| *byte = to);
            }
        }
    }

    fn part_of_another(&mut self) -> Vec<u8> {
        let pick = self.below(self.corpus.len());
        let length = self.corpus[pick].len();
        let start = self.below(length);
        let end = (start + self.below(600)).min(length);
        self.corpus[pick][start..end].to_vec()
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.+/%".contains(&byte) || !byte.is_ascii()
}

/// The word around a place; empty between words.
fn word_at(bytes: &[u8], at: usize) -> Range<usize> {
    let start = bytes[..at].iter().rposition(|b| !in_word(*b)).map_or(0, |before| before + 1);
    let end = bytes[at..].iter().position(|b| !in_word(*b)).map_or(bytes.len(), |after| at + after);
    start..end
}

/// The next number of decimal digits, with its sign and fraction.
fn number_after(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
    let rest = &bytes[start..];
    let length = rest.iter().position(|b| !b.is_ascii_digit() && *b != b'.').unwrap_or(rest.len());
    let signed = usize::from(start > 0 && bytes[start - 1] == b'-');
    Some(start - signed..start + length)
}

/// The line around a place, with its end.
fn line_at(bytes: &[u8], at: usize) -> Range<usize> {
    let start = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |before| before + 1);
    let end = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |after| at + after + 1);
    start..end
}
