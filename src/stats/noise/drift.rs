//! Drift: whether values move with time, whatever the arm.
//!
//! Least squares with one slope and a level of its own for each arm. ABBA
//! blocks cancel a linear drift, so that it costs no bias; it still says that
//! the host was not in a steady state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stats::error::{StatsError, check_finite};
use crate::stats::quantile::t_two_sided_p;
use crate::stats::summary::mean;

/// p below this is reported as drift.
const NOTABLE: f64 = 0.01;

/// One trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftPoint {
    /// Any unit: the place in the campaign, or hours.
    pub time: f64,
    pub arm: usize,
    /// The log of the metric.
    pub log: f64,
}

/// The common slope of all arms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    pub n: usize,
    /// Log ratio per unit of time.
    pub slope: f64,
    pub standard_error: f64,
    pub df: f64,
    pub p: f64,
    /// Log ratio from the first to the last trial.
    pub total: f64,
}

impl Drift {
    /// Needs two trials more than there are arms, at different times.
    pub fn new(points: &[DriftPoint]) -> Result<Self, StatsError> {
        check_finite(&points.iter().flat_map(|p| [p.time, p.log]).collect::<Vec<f64>>())?;
        let mut arms: BTreeMap<usize, Vec<&DriftPoint>> = BTreeMap::new();
        for point in points {
            arms.entry(point.arm).or_default().push(point);
        }
        let need = arms.len() + 2;
        if points.len() < need {
            return Err(StatsError::TooFew { what: "trials over time", have: points.len(), need });
        }
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for arm in arms.values() {
            let time = mean(&arm.iter().map(|p| p.time).collect::<Vec<f64>>());
            let level = mean(&arm.iter().map(|p| p.log).collect::<Vec<f64>>());
            for point in arm {
                let (x, y) = (point.time - time, point.log - level);
                xx += x * x;
                xy += x * y;
                yy += y * y;
            }
        }
        if xx == 0.0 {
            return Err(StatsError::NotAboveZero { what: "the time between trials of one arm", value: 0.0 });
        }
        let slope = xy / xx;
        let df = (points.len() - arms.len() - 1) as f64;
        let standard_error = ((yy - slope * xy).max(0.0) / df / xx).sqrt();
        let p = match (standard_error == 0.0, slope == 0.0) {
            (false, _) => t_two_sided_p(slope / standard_error, df),
            (true, still) => f64::from(u8::from(still)),
        };
        let first = points.iter().map(|p| p.time).fold(f64::INFINITY, f64::min);
        let last = points.iter().map(|p| p.time).fold(f64::NEG_INFINITY, f64::max);
        Ok(Drift { n: points.len(), slope, standard_error, df, p, total: slope * (last - first) })
    }

    /// The slope is more than chance shows once in a hundred.
    pub fn is_notable(&self) -> bool {
        self.p < NOTABLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Chance;

    fn abba(seed: u64, runs: usize, slope: f64, effect: f64) -> Vec<DriftPoint> {
        let mut chance = Chance::new(seed);
        let point = |i: usize| {
            let arm = [0, 1, 1, 0][i % 4];
            let time = i as f64;
            DriftPoint { time, arm, log: slope * time + effect * arm as f64 + 0.01 * chance.normal() }
        };
        (0..runs).map(point).collect()
    }

    #[test]
    fn a_slope_is_found_and_the_effect_of_an_arm_is_not_taken_for_one() {
        let drift = Drift::new(&abba(1, 48, 0.002, 0.5)).expect("trials");
        assert!((drift.slope - 0.002).abs() < 4.0 * drift.standard_error && drift.is_notable());
        assert!((drift.total - 47.0 * drift.slope).abs() < 1e-12);
        assert_eq!((drift.n, drift.df), (48, 45.0));
    }

    #[test]
    fn no_slope_is_notable_once_in_a_hundred() {
        let notable = (0..1_000).filter(|seed| {
            let drift = Drift::new(&abba(*seed, 24, 0.0, 0.3)).expect("trials");
            drift.is_notable()
        });
        assert!((1..=20).contains(&notable.count()));
    }

    #[test]
    fn slope_of_a_line_without_noise() {
        let line: Vec<DriftPoint> =
            (0..5).map(|i| DriftPoint { time: f64::from(i), arm: 0, log: 0.5 * f64::from(i) }).collect();
        let drift = Drift::new(&line).expect("trials");
        assert_eq!((drift.slope, drift.p, drift.total), (0.5, 0.0, 2.0));
        let flat: Vec<DriftPoint> = line.iter().map(|p| DriftPoint { log: 1.0, ..*p }).collect();
        assert_eq!(Drift::new(&flat).expect("trials").p, 1.0);
    }

    #[test]
    fn one_time_or_too_few_trials_are_refused() {
        assert!(Drift::new(&abba(1, 3, 0.0, 0.0)).is_err());
        let at_once: Vec<DriftPoint> =
            abba(1, 8, 0.0, 0.0).into_iter().map(|p| DriftPoint { time: 1.0, ..p }).collect();
        assert!(Drift::new(&at_once).is_err());
        assert_eq!(Drift::new(&[]), Err(StatsError::Empty));
    }
}
