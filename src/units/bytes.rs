//! Sizes in bytes and counts of 4 KiB pages.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::UnitError;

/// The page size the tool and its model work with, in bytes.
pub const PAGE_SIZE: u64 = 4096;

/// A size in bytes. Text form: a number and a unit, `"4GiB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A number of 4 KiB pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pages(pub u64);

/// Unit names and factors, longest names first so that `KiB` wins over `B`.
const UNITS: [(&str, u64); 10] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

impl Bytes {
    pub const fn kib(n: u64) -> Self {
        Bytes(n << 10)
    }

    pub const fn mib(n: u64) -> Self {
        Bytes(n << 20)
    }

    pub const fn gib(n: u64) -> Self {
        Bytes(n << 30)
    }

    /// Whole pages that hold this many bytes, rounded up.
    pub const fn to_pages(self) -> Pages {
        Pages(self.0.div_ceil(PAGE_SIZE))
    }

    /// The nearest multiple of a page, at least one page.
    pub fn round_to_page(self) -> Self {
        Bytes(((self.0 + PAGE_SIZE / 2) / PAGE_SIZE).max(1) * PAGE_SIZE)
    }

    /// This size times a factor, rounded to a byte.
    pub fn scale(self, factor: f64) -> Self {
        Bytes((self.0 as f64 * factor).round() as u64)
    }
}

impl Pages {
    /// The bytes these pages hold.
    pub const fn to_bytes(self) -> Bytes {
        Bytes(self.0 * PAGE_SIZE)
    }
}

impl fmt::Display for Bytes {
    /// The largest binary unit that keeps the number exact, else two decimals
    /// of the unit that fits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        for (name, factor) in binary {
            if self.0 >= factor {
                if self.0.is_multiple_of(factor) {
                    return f.pad(&format!("{}{name}", self.0 / factor));
                }
                return f.pad(&format!("{:.2}{name}", self.0 as f64 / factor as f64));
            }
        }
        f.pad(&format!("{}B", self.0))
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        let bad = || UnitError::Bytes { text: text.to_owned() };
        let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).ok_or_else(bad)?;
        let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
        if let [letter @ (b'k' | b'K' | b'M' | b'G' | b'T')] = unit.as_bytes() {
            return Err(UnitError::AmbiguousBytes {
                text: text.to_owned(),
                number,
                letter: char::from(*letter).to_ascii_uppercase(),
            });
        }
        let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, f)| *f).ok_or_else(bad)?;
        let range = || UnitError::Range { text: text.to_owned(), what: "a size" };
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(factor).map(Bytes).ok_or_else(range);
        }
        let value = number.parse::<f64>().map_err(|_| bad())? * factor as f64;
        if !value.is_finite() || value >= u64::MAX as f64 {
            Err(range())
        } else {
            Ok(Bytes(value.round() as u64))
        }
    }
}

impl Serialize for Bytes {
    /// An exact text: the largest binary unit that divides the size.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let exact = [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
            .into_iter()
            .find(|(_, factor)| self.0 > 0 && self.0.is_multiple_of(*factor));
        match exact {
            Some((name, factor)) => serializer.collect_str(&format_args!("{}{name}", self.0 / factor)),
            None => serializer.collect_str(&format_args!("{}B", self.0)),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_binary_and_decimal_units() {
        for (text, bytes) in [
            ("64MiB", 64 << 20),
            ("4GiB", 4 << 30),
            ("1KiB", 1024),
            ("1.5 GiB", 3 << 29),
            ("2GB", 2_000_000_000),
            ("16_384MiB", 16 << 30),
            ("512B", 512),
            ("0B", 0),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_size() {
        for text in ["", "4", "4X", "GiB", "-4GiB", "4GiBs", "1e3MiB", "..GiB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        let ambiguous = "4G".parse::<Bytes>().expect_err("no unit family");
        assert!(ambiguous.to_string().contains("\"4GiB\""), "{ambiguous}");
        assert!(matches!("99999999TiB".parse::<Bytes>(), Err(UnitError::Range { .. })));
    }

    #[test]
    fn serialized_text_reads_back_exactly() {
        for bytes in [0, 1, 1023, 1024, 4097, 64 << 20, (1 << 40) + 1, u64::MAX] {
            let text = serde_json::to_string(&Bytes(bytes)).expect("a string");
            assert_eq!(serde_json::from_str::<Bytes>(&text).expect("reads back"), Bytes(bytes));
        }
    }

    #[test]
    fn display_rounds_and_pages_round_up() {
        assert_eq!(Bytes(4 << 30).to_string(), "4GiB");
        assert_eq!(Bytes(1_610_612_736).to_string(), "1.50GiB");
        assert_eq!(Bytes(4097).to_pages(), Pages(2));
        assert_eq!(Bytes(1).round_to_page(), Bytes(4096));
    }
}
