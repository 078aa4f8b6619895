//! Relative changes, shown in percent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::UnitError;

/// A relative change in percent: `Percent(1.8)` is a ratio of 1.018.
/// Text form: `"1.8%"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Percent(pub f64);

impl Percent {
    /// From a natural-log ratio: `100 (exp(x) - 1)`.
    pub fn from_log_ratio(log_ratio: f64) -> Self {
        Percent(100.0 * log_ratio.exp_m1())
    }

    /// The natural-log ratio: `ln(1 + p/100)`. Not finite at or below -100%.
    pub fn to_log_ratio(self) -> f64 {
        (self.0 / 100.0).ln_1p()
    }

    /// From a ratio of two values: 1.018 is +1.8%.
    pub fn from_ratio(ratio: f64) -> Self {
        Percent(100.0 * (ratio - 1.0))
    }

    /// The percentage as a share: 1% is 0.01.
    pub fn as_share(self) -> f64 {
        self.0 / 100.0
    }
}

impl fmt::Display for Percent {
    /// Signed, two decimals unless the caller asks for another precision.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision().unwrap_or(2);
        let text = format!("{:+.precision$}%", self.0);
        match f.width() {
            Some(width) => write!(f, "{text:>width$}"),
            None => f.write_str(&text),
        }
    }
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bad = || UnitError::Percent { text: text.to_owned() };
        let number = text.trim().strip_suffix('%').ok_or_else(bad)?.trim_end();
        let value: f64 = number.parse().map_err(|_| bad())?;
        if value.is_finite() && number.bytes().all(|b| b.is_ascii_digit() || b"+-.".contains(&b)) {
            Ok(Percent(value))
        } else {
            Err(bad())
        }
    }
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}%", self.0))
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_signed_percentages_only() {
        assert_eq!("+1.8%".parse(), Ok(Percent(1.8)));
        assert_eq!("-5.7 %".parse(), Ok(Percent(-5.7)));
        for text in ["1.8", "%", "inf%", "nan%", "1e3%", "1.8%%"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }

    #[test]
    fn log_ratio_round_trip_and_display() {
        let change = Percent::from_ratio(1.018);
        assert!((Percent::from_log_ratio(change.to_log_ratio()).0 - 1.8).abs() < 1e-9);
        assert_eq!(change.to_string(), "+1.80%");
        assert_eq!(format!("{:.1}", Percent(-5.72)), "-5.7%");
    }
}
