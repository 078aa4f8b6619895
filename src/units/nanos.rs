//! Durations in nanoseconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::UnitError;

/// A duration in nanoseconds. Text form: a number and a unit, `"30s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub u64);

const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl Nanos {
    pub const fn from_seconds(seconds: u64) -> Self {
        Nanos(seconds * 1_000_000_000)
    }

    pub const fn from_millis(millis: u64) -> Self {
        Nanos(millis * 1_000_000)
    }

    pub fn from_seconds_f64(seconds: f64) -> Self {
        Nanos((seconds.max(0.0) * 1e9).round() as u64)
    }

    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    pub const fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    pub const fn saturating_sub(self, other: Self) -> Self {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl From<Duration> for Nanos {
    /// Saturates after 584 years.
    fn from(duration: Duration) -> Self {
        Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.as_seconds();
        let text = match self.0 {
            0..1_000 => format!("{}ns", self.0),
            1_000..1_000_000 => format!("{:.1}us", seconds * 1e6),
            1_000_000..1_000_000_000 => format!("{:.1}ms", seconds * 1e3),
            1_000_000_000..60_000_000_000 => format!("{seconds:.1}s"),
            60_000_000_000..3_600_000_000_000 => {
                let whole = seconds.round() as u64;
                format!("{}min {:02}s", whole / 60, whole % 60)
            }
            _ => {
                let minutes = (seconds / 60.0).round() as u64;
                format!("{}h {:02}min", minutes / 60, minutes % 60)
            }
        };
        f.pad(&text)
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        let bad = || UnitError::Nanos { text: text.to_owned() };
        let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or_else(bad)?;
        let (number, unit) = (&trimmed[..split], trimmed[split..].trim());
        let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, f)| *f).ok_or_else(bad)?;
        let range = || UnitError::Range { text: text.to_owned(), what: "a duration" };
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(factor).map(Nanos).ok_or_else(range);
        }
        let value = number.parse::<f64>().map_err(|_| bad())? * factor as f64;
        if !value.is_finite() || value >= u64::MAX as f64 {
            Err(range())
        } else {
            Ok(Nanos(value.round() as u64))
        }
    }
}

impl Serialize for Nanos {
    /// An exact text in the largest unit that divides the duration.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let exact =
            UNITS.iter().rev().filter(|(name, _)| *name != "µs").find(|(_, factor)| {
                self.0.is_multiple_of(*factor) && (self.0 > 0 || *factor == 1_000_000_000)
            });
        let (name, factor) = exact.expect("every whole number is a multiple of one nanosecond");
        serializer.collect_str(&format_args!("{}{name}", self.0 / factor))
    }
}

impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_units_and_refuses_bare_numbers() {
        for (text, nanos) in [
            ("30s", 30_000_000_000),
            ("500ms", 500_000_000),
            ("5min", 300_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("7 us", 7_000),
        ] {
            assert_eq!(text.parse::<Nanos>(), Ok(Nanos(nanos)), "{text}");
        }
        for text in ["", "30", "s", "-1s", "30 sec", "1m"] {
            assert!(text.parse::<Nanos>().is_err(), "{text}");
        }
    }

    #[test]
    fn serialized_text_reads_back_exactly() {
        for nanos in [0, 1, 999, 1_500_000, 90_000_000_000, 3_600_000_000_000, u64::MAX] {
            let text = serde_json::to_string(&Nanos(nanos)).expect("a string");
            assert_eq!(serde_json::from_str::<Nanos>(&text).expect("reads back"), Nanos(nanos));
        }
    }

    #[test]
    fn display_picks_a_readable_unit() {
        assert_eq!(Nanos(1_234).to_string(), "1.2us");
        assert_eq!(Nanos::from_seconds(95).to_string(), "1min 35s");
        assert_eq!(Nanos::from_seconds(7_260).to_string(), "2h 01min");
    }
}
