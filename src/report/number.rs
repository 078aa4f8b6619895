//! Numbers for readers: one unit and one precision for a whole column or axis.
//!
//! Records hold base units. What is shown is scaled once, by the largest value
//! of a column, so that numbers below each other can be compared at a glance.

use crate::metric::Unit;

/// How all values of one column or axis are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Stored values are divided by this.
    divisor: f64,
    symbol: String,
    decimals: usize,
}

const DECIMAL: [(f64, &str); 4] = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const BINARY: [(f64, &str); 4] =
    [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];
const TIME: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];

impl Quantity {
    /// The scale that suits the largest of these values.
    pub fn of(unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let largest = values.into_iter().filter(|v| v.is_finite()).fold(0.0, |a: f64, v| a.max(v.abs()));
        let (divisor, symbol) = match unit {
            Unit::Count => prefixed(&DECIMAL, largest, ""),
            Unit::PerSecond => prefixed(&DECIMAL, largest, "/s"),
            Unit::Pages => prefixed(&DECIMAL, largest, " pages"),
            Unit::Bytes => prefixed(&BINARY, largest, ""),
            Unit::BytesPerSecond => prefixed(&BINARY, largest, "/s"),
            Unit::Nanoseconds => prefixed(&TIME, largest, ""),
            Unit::NanosecondsPerPage => prefixed(&TIME, largest, "/page"),
            Unit::NanosecondsPerOperation => prefixed(&TIME, largest, "/op"),
            Unit::Seconds => {
                let (divisor, symbol) = prefixed(&TIME, largest * 1e9, "");
                (divisor / 1e9, symbol)
            }
            Unit::Percent => (1.0, "%".to_owned()),
            Unit::Ratio => (1.0, String::new()),
        };
        Quantity { divisor, symbol: symbol.trim_start().to_owned(), decimals: decimals(largest / divisor) }
    }

    /// As many decimals as tell values apart that differ by `step`.
    pub fn resolving(mut self, step: f64) -> Self {
        let shown = step.abs() / self.divisor;
        self.decimals = if shown > 0.0 && shown.is_finite() {
            // A step of 0.5 needs one decimal; rounding errors must not add another.
            (-(shown.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize
        } else {
            self.decimals
        };
        self
    }

    /// What stored values are divided by.
    pub fn divisor(&self) -> f64 {
        self.divisor
    }

    /// The unit with its prefix, such as `MiB/s`; empty for plain numbers.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// The number alone.
    pub fn number(&self, value: f64) -> String {
        let shown = value / self.divisor;
        let text = format!("{shown:.*}", self.decimals);
        // A value that rounds to zero has no sign.
        if text.starts_with('-') && text.bytes().all(|b| b"-0.".contains(&b)) {
            text[1..].to_owned()
        } else {
            text
        }
    }

    /// The number with its unit.
    pub fn with_unit(&self, value: f64) -> String {
        match self.symbol.as_str() {
            "" => self.number(value),
            "%" => format!("{}%", self.number(value)),
            symbol => format!("{} {symbol}", self.number(value)),
        }
    }
}

/// One value by itself, with its unit.
pub fn value(unit: Unit, value: f64) -> String {
    Quantity::of(unit, [value]).with_unit(value)
}

/// A p-value: two digits that count, never a bare zero.
pub fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "<0.0001".to_owned()
    } else if p < 0.01 {
        format!("{p:.4}")
    } else if p < 0.1 {
        format!("{p:.3}")
    } else {
        format!("{p:.2}")
    }
}

/// A share of one as a percentage without sign, such as a coefficient of variation.
pub fn share(share: f64) -> String {
    let percent = 100.0 * share;
    if percent != 0.0 && percent.abs() < 1.0 { format!("{percent:.2}%") } else { format!("{percent:.1}%") }
}

fn prefixed(table: &[(f64, &str)], largest: f64, suffix: &str) -> (f64, String) {
    // The last row of a table is the base unit.
    let fits = |row: &&(f64, &str)| largest >= row.0;
    let (divisor, prefix) = table.iter().find(fits).copied().unwrap_or(table[table.len() - 1]);
    let gap = if prefix.is_empty() || !suffix.starts_with(' ') { "" } else { " " };
    (divisor, format!("{prefix}{gap}{}", suffix.trim_start()))
}

/// Four digits that count.
fn decimals(largest: f64) -> usize {
    if largest == 0.0 {
        return 0;
    }
    (3 - largest.log10().floor() as i32).clamp(0, 6) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_scaled_once() {
        for (unit, number, text) in [
            (Unit::PerSecond, 44_017.78, "44.02 k/s"),
            (Unit::PerSecond, 612.5, "612.5 /s"),
            (Unit::BytesPerSecond, 612.25 * 1_048_576.0, "612.2 MiB/s"),
            (Unit::Bytes, 4096.0, "4.000 KiB"),
            (Unit::Nanoseconds, 1_234.0, "1.234 us"),
            (Unit::Nanoseconds, 250.0, "250.0 ns"),
            (Unit::NanosecondsPerPage, 312.4, "312.4 ns/page"),
            (Unit::Seconds, 1456.8, "1457 s"),
            (Unit::Seconds, 0.0125, "12.50 ms"),
            (Unit::Pages, 12_300.0, "12.30 k pages"),
            (Unit::Percent, 12.5, "12.50%"),
            (Unit::Ratio, 0.97, "0.9700"),
            (Unit::Count, 0.0, "0"),
        ] {
            assert_eq!(value(unit, number), text, "{unit:?}");
        }
    }

    #[test]
    fn an_axis_shows_what_its_steps_need() {
        let axis = Quantity::of(Unit::PerSecond, [44_000.0]).resolving(500.0);
        assert_eq!([43_500.0, 44_000.0].map(|v| axis.number(v)), ["43.5", "44.0"]);
        let steps = Quantity::of(Unit::Ratio, [1.0]).resolving(0.1);
        assert_eq!(steps.number(-0.0), "0.0");
        assert_eq!(steps.number(0.3), "0.3");
    }

    #[test]
    fn p_values_are_never_zero() {
        assert_eq!([0.0, 0.004, 0.031, 0.25].map(p_value), ["<0.0001", "0.0040", "0.031", "0.25"]);
        assert_eq!([0.0042, 0.051].map(share), ["0.42%", "5.1%"]);
    }
}
