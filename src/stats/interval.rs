//! A closed interval of finite numbers.

use serde::{Deserialize, Serialize};

/// From `low` to `high`, both included. An unbounded interval is `None` of
/// `Option<Interval>`, never an infinite end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// `centre` plus and minus `half_width`.
    pub fn around(centre: f64, half_width: f64) -> Self {
        Interval { low: centre - half_width, high: centre + half_width }
    }

    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether any value is in both.
    pub fn overlaps(&self, other: &Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether every value of it lies strictly between `-margin` and `margin`.
    pub fn within(&self, margin: f64) -> bool {
        -margin < self.low && self.high < margin
    }

    pub fn half_width(&self) -> f64 {
        0.5 * (self.high - self.low)
    }

    /// The same interval seen from the other direction.
    pub fn negated(&self) -> Self {
        Interval { low: -self.high, high: -self.low }
    }

    /// Each end mapped by a function that grows, such as a change of unit.
    pub fn map(&self, grows: impl Fn(f64) -> f64) -> Self {
        Interval { low: grows(self.low), high: grows(self.high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_count_as_inside_but_the_margin_does_not() {
        let interval = Interval::around(1.0, 0.5);
        assert!(interval.contains(0.5) && interval.contains(1.5) && !interval.contains(1.6));
        assert!(interval.within(1.6) && !interval.within(1.5));
        assert_eq!(interval.negated(), Interval { low: -1.5, high: -0.5 });
        assert!(interval.overlaps(&Interval { low: 1.5, high: 2.0 }));
        assert!(!interval.overlaps(&Interval { low: 1.6, high: 2.0 }));
        assert_eq!(interval.map(|x| 2.0 * x).half_width(), 1.0);
    }
}
