//! Power where runs are nested in boots: more runs of one boot do not help
//! against what differs from boot to boot.
//!
//! With B boots per arm, n runs per boot, boot deviation tau and run deviation
//! sigma, the difference of two arms has variance
//! `2 (tau^2 / B + sigma^2 / (B n))` on 2 (B - 1) degrees of freedom.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_above_zero};
use super::power::{PowerTarget, t_test_power};

/// Most runs per boot that a plan considers.
const MOST_RUNS: usize = 100;

/// Log deviations by level, as estimated from a pilot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootNoise {
    /// tau: between boots of the same kernel.
    pub boot: f64,
    /// sigma: between runs of the same boot.
    pub run: f64,
}

/// What a boot and a run take, in one unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootCost {
    pub boot: f64,
    pub run: f64,
}

/// A proposal for arms that are different booted kernels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootPlan {
    pub boots_per_arm: usize,
    pub runs_per_boot: usize,
    /// Both arms, in the unit of the costs.
    pub time: f64,
}

impl BootNoise {
    /// The standard error of the difference of two arms.
    pub fn standard_error(&self, boots: usize, runs: usize) -> f64 {
        (2.0 * self.boot_mean_variance(runs) / boots as f64).sqrt()
    }

    /// The deviation of one block difference with this many boots of each arm
    /// in the block (two in ABBA).
    pub fn block_deviation(&self, boots_per_arm: usize, runs: usize) -> f64 {
        self.standard_error(boots_per_arm, runs)
    }

    fn boot_mean_variance(&self, runs: usize) -> f64 {
        self.boot * self.boot + self.run * self.run / runs as f64
    }

    /// The power of a test on boot means.
    pub fn power(&self, effect: f64, boots: usize, runs: usize, alpha: f64) -> f64 {
        let df = 2.0 * (boots as f64 - 1.0);
        t_test_power(effect, self.standard_error(boots, runs), df, alpha)
    }

    pub fn boots_per_arm(&self, effect: f64, runs: usize, target: &PowerTarget) -> Result<usize, StatsError> {
        target.smallest("boots per arm", effect, |boots| self.power(effect, boots, runs, target.alpha))
    }

    /// The smallest effect that this many boots and runs see.
    pub fn detectable(&self, boots: usize, runs: usize, target: &PowerTarget) -> Result<f64, StatsError> {
        if boots < 2 {
            return Err(StatsError::TooFew { what: "boots per arm", have: boots, need: 2 });
        }
        let error = self.standard_error(boots, runs);
        target.detectable(error, |effect| self.power(effect, boots, runs, target.alpha))
    }

    /// The runs per boot that give the most precision for the time:
    /// `sqrt(cost of a boot / cost of a run x sigma^2 / tau^2)`, at least one.
    pub fn best_runs_per_boot(&self, cost: &BootCost) -> Result<usize, StatsError> {
        check_above_zero("the cost of a boot", cost.boot)?;
        check_above_zero("the cost of a run", cost.run)?;
        let best = (cost.boot / cost.run).sqrt() * self.run / self.boot;
        // No boot effect makes it infinite, and no noise at all undefined.
        if best.is_nan() {
            return Ok(1);
        }
        Ok(best.round().clamp(1.0, MOST_RUNS as f64) as usize)
    }

    /// Boots and runs for an effect, at the best number of runs per boot.
    pub fn plan(&self, effect: f64, target: &PowerTarget, cost: &BootCost) -> Result<BootPlan, StatsError> {
        let runs_per_boot = self.best_runs_per_boot(cost)?;
        let boots_per_arm = self.boots_per_arm(effect, runs_per_boot, target)?;
        let time = 2.0 * boots_per_arm as f64 * (cost.boot + runs_per_boot as f64 * cost.run);
        Ok(BootPlan { boots_per_arm, runs_per_boot, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: f64 = 0.017839918128331016; // ln(1.018)

    #[test]
    fn boots_per_arm_for_a_change_of_1_8_percent() {
        let table = [
            (0.0025, 0.01, [9, 4, 4, 3, 3]),
            (0.005, 0.01, [10, 6, 5, 4, 4]),
            (0.005, 0.02, [30, 12, 9, 6, 5]),
            (0.01, 0.01, [15, 10, 10, 9, 9]),
            (0.01, 0.02, [35, 17, 13, 11, 10]),
            (0.02, 0.01, [35, 30, 29, 29, 28]),
            (0.005, 0.05, [168, 58, 36, 20, 11]),
        ];
        for (boot, run, expected) in table {
            let noise = BootNoise { boot, run };
            let got = [1, 3, 5, 10, 20]
                .map(|runs| noise.boots_per_arm(CLAIM, runs, &PowerTarget::default()).expect("within reach"));
            assert_eq!(got, expected, "tau {boot}, sigma {run}");
        }
    }

    #[test]
    fn best_runs_per_boot_by_cost() {
        let best = |boot_cost, boot, run| {
            BootNoise { boot, run }.best_runs_per_boot(&BootCost { boot: boot_cost, run: 120.0 })
        };
        assert_eq!(best(300.0, 0.005, 0.01), Ok(3));
        assert_eq!(best(60.0, 0.005, 0.02), Ok(3));
        assert_eq!(best(300.0, 0.0025, 0.02), Ok(13));
        assert_eq!(best(300.0, 0.02, 0.001), Ok(1));
        assert_eq!(best(300.0, 0.0, 0.01), Ok(MOST_RUNS));
        assert_eq!(best(300.0, 0.0, 0.0), Ok(1));
        assert!(best(0.0, 0.01, 0.01).is_err());
    }

    #[test]
    fn a_plan_adds_up_its_time() {
        let noise = BootNoise { boot: 0.005, run: 0.01 };
        let cost = BootCost { boot: 300.0, run: 120.0 };
        let plan = noise.plan(CLAIM, &PowerTarget::default(), &cost).expect("within reach");
        assert_eq!(plan, BootPlan { boots_per_arm: 6, runs_per_boot: 3, time: 2.0 * 6.0 * 660.0 });
    }

    #[test]
    fn detectable_effect_is_where_power_meets_the_target() {
        let noise = BootNoise { boot: 0.01, run: 0.01 };
        let effect = noise.detectable(6, 3, &PowerTarget::default()).expect("within reach");
        assert!((noise.power(effect, 6, 3, 0.05) - 0.9).abs() < 1e-6);
        assert!(noise.detectable(1, 3, &PowerTarget::default()).is_err());
        assert!((noise.block_deviation(2, 1) - 0.02_f64 / 2.0_f64.sqrt()).abs() < 1e-12);
    }
}
