//! A number as printed: its value and the half step of its last digit.

use serde::{Deserialize, Serialize};

/// The sign in front of a number, when one was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    Plus,
    Minus,
}

/// A number read from text. The true value lies within `half_step` of `value`
/// when the author rounded, so arithmetic on it gives a range, not a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    pub value: f64,
    /// Half a unit of the last printed digit.
    pub half_step: f64,
    /// Digits after the decimal point; of the mantissa when an exponent follows.
    pub decimals: u8,
    pub sign: Option<Sign>,
}

impl Printed {
    /// Reads an unsigned number; thousands separators and an exponent are allowed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let plain: String = text.chars().filter(|c| *c != ',').collect();
        let value: f64 = plain.parse().ok().filter(|v: &f64| v.is_finite())?;
        let (mantissa, exponent) = match plain.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (plain.as_str(), 0),
        };
        let decimals = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let decimals = u8::try_from(decimals).ok()?;
        let half_step = 0.5 * 10f64.powi(exponent - i32::from(decimals));
        Some(Printed { value, half_step, decimals, sign: None })
    }

    /// A value known exactly, such as a count.
    pub fn exact(value: f64) -> Self {
        Printed { value, half_step: 0.0, decimals: 0, sign: None }
    }

    /// With the sign that stood in front.
    pub(crate) fn with_sign(self, sign: Option<Sign>) -> Self {
        let value = if sign == Some(Sign::Minus) { -self.value } else { self.value };
        Printed { value, sign, ..self }
    }

    pub(crate) fn plus(self, amount: f64) -> Self {
        Printed { value: self.value + amount, ..self }
    }

    /// In another unit: value and step times a factor.
    pub fn scaled(self, factor: f64) -> Self {
        Printed { value: self.value * factor, half_step: self.half_step * factor.abs(), ..self }
    }

    pub(crate) fn negated(self) -> Self {
        Printed { value: -self.value, ..self }
    }

    /// The text with as many decimals as were printed.
    pub fn show(&self) -> String {
        let decimals = usize::from(self.decimals);
        let size = self.value.abs();
        if self.half_step > 0.6 && (1e7..1e300).contains(&size) {
            // As many digits as were printed in front of the suffix or exponent.
            let digits = (size.log10().floor() - (2.0 * self.half_step).log10().round()).clamp(0.0, 15.0);
            let digits = digits as usize;
            return format!("{:.digits$e}", self.value);
        }
        if self.half_step > 0.6 && size < 1e7 {
            return format!("{:.0}", self.value);
        }
        if size >= 1e15 {
            return format!("{:.decimals$e}", self.value);
        }
        format!("{:.decimals$}", self.value)
    }

    /// As [`Printed::show`], always with a sign.
    pub fn show_signed(&self) -> String {
        let text = self.show();
        if text.starts_with('-') { text } else { format!("+{text}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_precision_of_the_text() {
        for (text, value, half_step) in [
            ("44017.78", 44017.78, 0.005),
            ("13479", 13479.0, 0.5),
            ("3.2e+05", 320_000.0, 5_000.0),
            ("1,234", 1234.0, 0.5),
            ("0.10", 0.1, 0.005),
        ] {
            let found = Printed::parse(text).expect(text);
            assert_eq!(found.value, value, "{text}");
            assert!((found.half_step - half_step).abs() < 1e-9 * half_step, "{text}");
        }
        assert_eq!(Printed::parse("1e999"), None);
        for (text, factor, shown) in [
            ("141", 1e3, "141000"),
            ("7.81", 1e6, "7810000"),
            ("41.2", 1e6, "4.12e7"),
            ("5.187e+08", 1.0, "5.187e8"),
        ] {
            assert_eq!(Printed::parse(text).expect(text).scaled(factor).show(), shown);
        }
        assert_eq!(Printed::parse("12.50").expect("a number").show_signed(), "+12.50");
    }
}
