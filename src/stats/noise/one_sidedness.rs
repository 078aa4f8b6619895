//! The one-sidedness alarm: findings that all point one way are more likely
//! the tool's doing than the kernel's.

use serde::{Deserialize, Serialize};

use crate::stats::error::{StatsError, check_finite};
use crate::stats::quantile::binomial_cdf;

/// p below this raises the alarm: eight of eight do.
const ALARM: f64 = 0.01;

/// How the latest findings divide by sign.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneSidedness {
    pub better: usize,
    pub worse: usize,
    /// Chance of a division at least this uneven when both signs are alike.
    pub p: f64,
}

impl OneSidedness {
    /// From the estimates of the latest findings, plus being better; zeros do not count.
    pub fn new(findings: &[f64]) -> Result<Self, StatsError> {
        check_finite(findings)?;
        let better = findings.iter().filter(|f| **f > 0.0).count();
        let worse = findings.iter().filter(|f| **f < 0.0).count();
        let p = (2.0 * binomial_cdf(better.min(worse), better + worse, 0.5)).min(1.0);
        Ok(OneSidedness { better, worse, p })
    }

    pub fn is_alarming(&self) -> bool {
        self.p < ALARM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_of_eight_raise_the_alarm_and_seven_do_not() {
        let eight = OneSidedness::new(&[0.01; 8]).expect("findings");
        assert!((eight.p - 1.0 / 128.0).abs() < 1e-12 && eight.is_alarming());
        assert!(!OneSidedness::new(&[-0.01; 7]).expect("findings").is_alarming());
        let mixed = OneSidedness::new(&[0.1, -0.1, 0.1, 0.0, -0.2]).expect("findings");
        assert_eq!((mixed.better, mixed.worse, mixed.p), (2, 2, 1.0));
        assert!(OneSidedness::new(&[]).is_err());
    }
}
