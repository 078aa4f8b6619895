//! The only way from values to pixels.
//!
//! plotters neither returns from an infinite range nor accepts an undefined
//! one, and draws nothing over a range of no width. So every range passes
//! through here: what is not finite is refused, what is flat is widened, and
//! the ticks get labels with one unit and one precision.

use super::error::ChartError;
use crate::metric::Unit;
use crate::report::number::Quantity;

/// A labelled place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

/// What an axis shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Axis {
    /// A metric in its base unit.
    Metric(Unit),
    /// Relative changes in percent, signed.
    Change,
    /// Whole numbers, such as blocks.
    Whole,
    /// Seconds since some start.
    Seconds,
}

/// A range with its ticks, mapped to pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
    pub ticks: Vec<Tick>,
    /// The unit of the labels; empty for plain numbers.
    pub unit: String,
}

/// Share of the range left free at both ends.
const PADDING: f64 = 0.06;
/// A range flatter than this share of its values shows rounding only.
const FLATTEST: f64 = 1e-9;
/// Smaller than this is drawn as zero.
const SMALLEST: f64 = 1e-290;

impl Scale {
    /// A linear scale over all values, between two pixels, with about `wanted` ticks.
    pub fn linear(
        axis: Axis,
        values: impl IntoIterator<Item = f64>,
        pixels: (f64, f64),
        wanted: usize,
    ) -> Result<Self, ChartError> {
        let (low, high) = extent(values)?;
        let (low, high) = widen(low, high, axis);
        let step = step(high - low, wanted, axis, low.abs().max(high.abs()));
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        let places: Vec<f64> = (first..=last).map(|i| i as f64 * step).collect();
        let (labels, unit) = labels(axis, &places, step);
        Ok(Scale {
            low,
            high,
            start: pixels.0,
            end: pixels.1,
            logarithmic: false,
            ticks: places.into_iter().zip(labels).map(|(value, label)| Tick { value, label }).collect(),
            unit,
        })
    }

    /// A logarithmic scale of positive values, with ticks at 1, 2 and 5; for bytes at powers of two.
    pub fn logarithmic(
        unit: Unit,
        values: impl IntoIterator<Item = f64>,
        pixels: (f64, f64),
    ) -> Result<Self, ChartError> {
        let (low, high) = extent(values)?;
        if low <= 0.0 {
            return Err(ChartError::NotPositive { value: low });
        }
        let pad = (high / low).powf(PADDING).max(1.15);
        let (low, high) = (low / pad, high * pad);
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let digits: &[f64] = if high / low > 2000.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let within = |v: &f64| low <= *v && *v <= high;
        let places: Vec<f64> = if unit == Unit::Bytes {
            doublings(low, high).filter(within).collect()
        } else {
            decades.flat_map(|d| digits.iter().map(move |m| m * 10f64.powi(d))).filter(within).collect()
        };
        let quantity = Quantity::of(unit, places.iter().copied().chain([low]));
        let quantity = quantity.resolving(places.first().copied().unwrap_or(low));
        let ticks = places.into_iter().map(|value| Tick { value, label: quantity.number(value) }).collect();
        let unit = quantity.symbol().to_owned();
        Ok(Scale { low, high, start: pixels.0, end: pixels.1, logarithmic: true, ticks, unit })
    }

    /// The pixel of a value; values outside the range are held at its ends.
    pub fn at(&self, value: f64) -> f64 {
        let held = value.clamp(self.low, self.high);
        let share = if self.logarithmic {
            (held / self.low).ln() / (self.high / self.low).ln()
        } else {
            (held - self.low) / (self.high - self.low)
        };
        self.start + share * (self.end - self.start)
    }

    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Powers of two, eight at most.
fn doublings(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let (first, last) = (low.log2().ceil() as i32, high.log2().floor() as i32);
    let stride = ((last - first + 8) / 8).max(1) as usize;
    (first..=last).step_by(stride).map(|power| 2f64.powi(power))
}

fn extent(values: impl IntoIterator<Item = f64>) -> Result<(f64, f64), ChartError> {
    let mut range: Option<(f64, f64)> = None;
    for value in values {
        // Beyond this the width of a range would overflow.
        if !value.is_finite() || value.abs() > 1e300 {
            return Err(ChartError::NotFinite { value });
        }
        range = Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
    }
    range.ok_or(ChartError::NoValues)
}

fn widen(low: f64, high: f64, axis: Axis) -> (f64, f64) {
    let largest = low.abs().max(high.abs());
    let mut span = high - low;
    if span <= largest * FLATTEST || span < SMALLEST {
        let room = match axis {
            Axis::Change | Axis::Whole => (0.05 * largest).max(1.0),
            _ if largest > SMALLEST => 0.05 * largest,
            _ => 1.0,
        };
        return (low - room, high + room);
    }
    if axis == Axis::Whole {
        span = 0.0;
    }
    // Amounts that start at zero stand on the axis.
    let below = if low == 0.0 { 0.0 } else { PADDING * span };
    (low - below, high + PADDING * span)
}

/// 1, 2 or 5 times a power of ten.
fn step(span: f64, wanted: usize, axis: Axis, largest: f64) -> f64 {
    // In the unit that is shown: half a MiB is a nice step, half a million bytes is not.
    let divisor = match axis {
        Axis::Metric(unit) => Quantity::of(unit, [largest]).divisor(),
        Axis::Change | Axis::Whole | Axis::Seconds => 1.0,
    };
    let rough = span / divisor / wanted.max(2) as f64;
    let magnitude = 10f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * magnitude >= rough * 0.999).unwrap_or(10.0);
    let step = nice * magnitude * divisor;
    if axis == Axis::Whole { step.max(1.0).round() } else { step }
}

fn labels(axis: Axis, places: &[f64], step: f64) -> (Vec<String>, String) {
    match axis {
        Axis::Metric(unit) => {
            let quantity = Quantity::of(unit, places.iter().copied()).resolving(step);
            (places.iter().map(|v| quantity.number(*v)).collect(), quantity.symbol().to_owned())
        }
        Axis::Seconds => {
            let quantity = Quantity::of(Unit::Seconds, [10.0]).resolving(step);
            (places.iter().map(|v| quantity.number(*v)).collect(), "s".to_owned())
        }
        Axis::Whole => (places.iter().map(|v| format!("{v:.0}")).collect(), String::new()),
        Axis::Change => {
            let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 6.0) as usize;
            let label = |v: &f64| {
                if v.abs() < step / 2.0 { "0%".to_owned() } else { format!("{v:+.decimals$}%") }
            };
            (places.iter().map(label).collect(), String::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tick_labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn bytes_are_marked_at_powers_of_two() {
        let mib = f64::from(1 << 20);
        let scale = Scale::logarithmic(Unit::Bytes, [mib, 60.0 * mib], (0.0, 100.0)).expect("a scale");
        let places: Vec<f64> = scale.ticks.iter().map(|tick| tick.value / mib).collect();
        assert_eq!(places, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let refused = Scale::linear(Axis::Change, [1.0, bad], (0.0, 100.0), 5);
            assert!(matches!(refused, Err(ChartError::NotFinite { .. })), "{bad}");
        }
        assert!(matches!(Scale::linear(Axis::Change, [], (0.0, 1.0), 5), Err(ChartError::NoValues)));
        let zero = Scale::logarithmic(Unit::Nanoseconds, [0.0, 1.0], (0.0, 1.0));
        assert!(matches!(zero, Err(ChartError::NotPositive { .. })));
    }

    #[test]
    fn flat_ranges_are_widened() {
        let flat = Scale::linear(Axis::Metric(Unit::PerSecond), [78.8; 3], (0.0, 100.0), 5).expect("widened");
        assert!((flat.at(78.8) - 50.0).abs() < 1e-9);
        assert!(flat.ticks.len() >= 2, "{:?}", flat.ticks);
        let zero = Scale::linear(Axis::Metric(Unit::Count), [0.0], (0.0, 100.0), 5).expect("widened");
        assert!(zero.contains(0.0) && zero.ticks.len() >= 2);
    }

    #[test]
    fn labels_have_one_unit_and_one_precision() {
        let change = Scale::linear(Axis::Change, [-1.2, 2.6], (0.0, 100.0), 5).expect("finite");
        assert_eq!(tick_labels(&change), ["-1%", "0%", "+1%", "+2%"]);
        let rate = Scale::linear(Axis::Metric(Unit::PerSecond), [43_100.0, 45_200.0], (0.0, 1.0), 5)
            .expect("finite");
        assert_eq!(
            (tick_labels(&rate), rate.unit.as_str()),
            (vec!["43.0", "43.5", "44.0", "44.5", "45.0"], "k/s")
        );
        let blocks = Scale::linear(Axis::Whole, [1.0, 3.0], (0.0, 1.0), 8).expect("finite");
        assert_eq!(tick_labels(&blocks), ["1", "2", "3"]);
        let latency =
            Scale::logarithmic(Unit::Nanoseconds, [90_000.0, 2_500_000.0], (0.0, 1.0)).expect("positive");
        assert_eq!(
            (tick_labels(&latency), latency.unit.as_str()),
            (vec!["0.1", "0.2", "0.5", "1.0", "2.0"], "ms")
        );
    }

    proptest! {
        #[test]
        fn every_finite_range_has_ticks_inside_it(a in -1e12f64..1e12, b in -1e12f64..1e12, wanted in 3usize..12) {
            let scale = Scale::linear(Axis::Metric(Unit::Count), [a, b], (10.0, 500.0), wanted).expect("finite");
            prop_assert!(!scale.ticks.is_empty() && scale.ticks.len() <= 2 * wanted + 2, "{:?}", scale.ticks.len());
            prop_assert!(scale.ticks.iter().all(|t| scale.contains(t.value)));
            prop_assert!((10.0..=500.0).contains(&scale.at(a)));
        }

        #[test]
        fn any_bits_end(bits in proptest::collection::vec(any::<u64>(), 0..6)) {
            let values: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            if let Ok(scale) = Scale::linear(Axis::Change, values.clone(), (0.0, 100.0), 6) {
                prop_assert!(scale.ticks.len() < 64);
                prop_assert!(values.iter().all(|v| scale.at(*v).is_finite()));
            }
        }
    }
}
