//! How many runs or blocks resolve an effect, and what a given number resolves.
//!
//! Effects and deviations are log ratios: `ln(1.018)` for +1.8%, and
//! [`log_deviation`] of a coefficient of variation. Tests are two-sided t tests
//! whose power is exact for normal noise.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_above_zero, check_share};
use super::noncentral::{mean_over_spread, two_sided_power};
use super::quantile::{normal_cdf, t_critical};

/// Sizes beyond this are no plan.
const MOST: usize = 1_000_000;
/// Halvings of the bracket around a detectable effect.
const HALVINGS: u32 = 60;

/// The chances a plan accepts: of a false alarm, and of seeing a true effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerTarget {
    pub alpha: f64,
    pub power: f64,
}

impl Default for PowerTarget {
    fn default() -> Self {
        PowerTarget { alpha: 0.05, power: 0.9 }
    }
}

impl PowerTarget {
    /// Runs per arm of an unpaired comparison; `deviation` is that of one run.
    pub fn runs_per_arm(&self, effect: f64, deviation: f64) -> Result<usize, StatsError> {
        self.smallest("runs per arm", effect, |n| two_sample_power(effect, deviation, n, self.alpha))
    }

    /// Blocks of a paired comparison; `deviation` is that of one block difference.
    pub fn blocks(&self, effect: f64, deviation: f64) -> Result<usize, StatsError> {
        self.smallest("blocks", effect, |n| paired_power(effect, deviation, n, self.alpha))
    }

    /// The smallest effect that this many runs per arm see.
    pub fn detectable_by_runs(&self, deviation: f64, runs: usize) -> Result<f64, StatsError> {
        self.detectable(deviation, |effect| two_sample_power(effect, deviation, runs, self.alpha))
    }

    /// The smallest effect that this many blocks see.
    pub fn detectable_by_blocks(&self, deviation: f64, blocks: usize) -> Result<f64, StatsError> {
        self.detectable(deviation, |effect| paired_power(effect, deviation, blocks, self.alpha))
    }

    /// Runs per arm that show a true zero to be within the margin.
    pub fn equivalence_runs_per_arm(&self, margin: f64, deviation: f64) -> Result<usize, StatsError> {
        self.smallest("runs per arm", margin, |n| {
            equivalence_power(margin, deviation * (2.0 / n as f64).sqrt(), 2.0 * (n - 1) as f64, self.alpha)
        })
    }

    /// Blocks that show a true zero to be within the margin.
    pub fn equivalence_blocks(&self, margin: f64, deviation: f64) -> Result<usize, StatsError> {
        self.smallest("blocks", margin, |n| {
            equivalence_power(margin, deviation / (n as f64).sqrt(), (n - 1) as f64, self.alpha)
        })
    }

    fn check(&self) -> Result<(), StatsError> {
        check_share("alpha", self.alpha)?;
        check_share("the power", self.power)
    }

    /// The smallest size from two on whose power reaches the target.
    pub(crate) fn smallest(
        &self,
        what: &'static str,
        effect: f64,
        power_of: impl Fn(usize) -> f64,
    ) -> Result<usize, StatsError> {
        self.check()?;
        check_above_zero("the effect", effect.abs())?;
        let mut enough = 2;
        while power_of(enough) < self.power {
            if enough >= MOST {
                return Err(StatsError::OutOfReach { what, limit: MOST });
            }
            enough *= 2;
        }
        let mut too_few = enough / 2;
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            if middle >= 2 && power_of(middle) >= self.power {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        Ok(enough)
    }

    /// The effect whose power just reaches the target.
    pub(crate) fn detectable(
        &self,
        deviation: f64,
        power_of: impl Fn(f64) -> f64,
    ) -> Result<f64, StatsError> {
        self.check()?;
        check_above_zero("the deviation", deviation)?;
        let (mut low, mut high) = (0.0, deviation);
        while power_of(high) < self.power {
            (low, high) = (high, 2.0 * high);
            check_above_zero("the detectable effect", high)?;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if power_of(middle) < self.power {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(high)
    }
}

/// The power of a two-sided t test of an estimate with this true standard error.
pub fn t_test_power(effect: f64, standard_error: f64, df: f64, alpha: f64) -> f64 {
    if df < 1.0 {
        return 0.0;
    }
    if standard_error == 0.0 {
        return if effect == 0.0 { alpha } else { 1.0 };
    }
    two_sided_power(t_critical(alpha, df), df, effect.abs() / standard_error)
}

/// The power of an unpaired comparison; `deviation` is that of one run.
pub fn two_sample_power(effect: f64, deviation: f64, runs_per_arm: usize, alpha: f64) -> f64 {
    let n = runs_per_arm as f64;
    t_test_power(effect, deviation * (2.0 / n).sqrt(), 2.0 * (n - 1.0), alpha)
}

/// The power of a paired comparison; `deviation` is that of one block difference.
pub fn paired_power(effect: f64, deviation: f64, blocks: usize, alpha: f64) -> f64 {
    let n = blocks as f64;
    t_test_power(effect, deviation / n.sqrt(), n - 1.0, alpha)
}

/// The chance that both one-sided tests reject when the true effect is zero.
pub fn equivalence_power(margin: f64, standard_error: f64, df: f64, alpha: f64) -> f64 {
    if df < 1.0 {
        return 0.0;
    }
    if standard_error == 0.0 {
        return 1.0;
    }
    let critical = t_critical(2.0 * alpha, df);
    let room = margin / standard_error;
    // With an estimated spread s, the estimate must stay within room - critical s.
    mean_over_spread(df, &[room / critical], |s| (2.0 * normal_cdf(room - critical * s) - 1.0).max(0.0))
}

/// The deviation of logs of a positive metric with this coefficient of variation.
pub fn log_deviation(coefficient_of_variation: f64) -> f64 {
    (coefficient_of_variation * coefficient_of_variation).ln_1p().sqrt()
}

/// The deviation of a block difference: `runs_per_arm` runs of each arm, of
/// which the share `correlation` of the variance is common to the block.
pub fn block_deviation(run_deviation: f64, correlation: f64, runs_per_arm: usize) -> f64 {
    run_deviation * (2.0 * (1.0 - correlation) / runs_per_arm as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: f64 = 0.017839918128331016; // ln(1.018)

    fn target(alpha: f64, power: f64) -> PowerTarget {
        PowerTarget { alpha, power }
    }

    #[test]
    fn runs_per_arm_for_a_change_of_1_8_percent() {
        let table = [
            // Integration by another library agrees on 4: power .829 at 3, .998 at 4.
            (0.0025, [2, 2, 3, 4]),
            (0.005, [3, 4, 5, 6]),
            (0.0075, [5, 5, 8, 9]),
            (0.01, [7, 8, 12, 15]),
            (0.015, [13, 16, 23, 29]),
            (0.02, [21, 28, 40, 49]),
            (0.03, [46, 61, 86, 108]),
            (0.05, [125, 166, 236, 294]),
            (0.07, [243, 324, 459, 572]),
        ];
        let targets = [target(0.05, 0.8), target(0.05, 0.9), target(0.01, 0.9), target(0.0025, 0.9)];
        for (variation, expected) in table {
            let deviation = log_deviation(variation);
            let got = targets.map(|t| t.runs_per_arm(CLAIM, deviation).expect("within reach"));
            assert_eq!(got, expected, "at a coefficient of variation of {variation}");
        }
    }

    #[test]
    fn pairs_for_a_change_of_1_8_percent() {
        let table = [
            (0.01, [9, 6, 4, 3]),
            (0.02, [29, 16, 8, 5]),
            (0.03, [62, 32, 14, 9]),
            (0.05, [167, 85, 35, 19]),
        ];
        for (variation, expected) in table {
            let got = [0.0, 0.5, 0.8, 0.9].map(|correlation| {
                let deviation = block_deviation(log_deviation(variation), correlation, 1);
                PowerTarget::default().blocks(CLAIM, deviation).expect("within reach")
            });
            assert_eq!(got, expected, "at a coefficient of variation of {variation}");
        }
    }

    #[test]
    fn smallest_detectable_change() {
        // In percent, from another library's integration of the same power.
        let table = [
            (0.01, [2.3757, 1.5455, 1.1186, 0.8548]),
            (0.02, [4.8074, 3.1146, 2.2495, 1.7167]),
            (0.05, [12.4484, 7.9650, 5.7158, 4.3449]),
        ];
        for (variation, expected) in table {
            for (runs, percent) in [5, 10, 18, 30].into_iter().zip(expected) {
                let effect = PowerTarget::default().detectable_by_runs(log_deviation(variation), runs);
                let got = 100.0 * effect.expect("within reach").exp_m1();
                assert!((got - percent).abs() < 1e-4, "{runs} runs at {variation}: {got} for {percent}");
            }
        }
    }

    #[test]
    fn runs_per_arm_for_equivalence_within_one_percent() {
        let margin = 0.01_f64.ln_1p();
        // Power from another library's integration and from simulation: .880 at 6 and .937 at 7.
        assert!(
            (equivalence_power(margin, 0.005 * (2.0_f64 / 6.0).sqrt(), 10.0, 0.05) - 0.8803).abs() < 1e-4
        );
        for (variation, expected) in [(0.005, 7), (0.01, 23), (0.02, 89), (0.03, 198)] {
            let runs = PowerTarget::default().equivalence_runs_per_arm(margin, variation);
            assert_eq!(runs, Ok(expected), "at a coefficient of variation of {variation}");
        }
    }

    #[test]
    fn power_grows_and_its_edges_are_defined() {
        assert!(paired_power(0.01, 0.02, 12, 0.05) > paired_power(0.01, 0.02, 6, 0.05));
        assert_eq!(paired_power(0.01, 0.02, 1, 0.05), 0.0);
        assert_eq!(paired_power(0.01, 0.0, 6, 0.05), 1.0);
        let blocks = PowerTarget::default().detectable_by_blocks(0.02, 6).expect("within reach");
        assert!((paired_power(blocks, 0.02, 6, 0.05) - 0.9).abs() < 1e-6);
        let unseen = PowerTarget::default().blocks(1e-9, 0.05);
        assert_eq!(unseen, Err(StatsError::OutOfReach { what: "blocks", limit: MOST }));
        assert!(PowerTarget::default().blocks(0.0, 0.05).is_err());
        assert_eq!(PowerTarget::default().blocks(0.018, 0.0), Ok(2));
    }
}
