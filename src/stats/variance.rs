//! Components of variance: how much differs from boot to boot, and how much
//! from run to run of one boot.
//!
//! Nested analysis of variance by moments, boots within arms, unequal counts
//! allowed: sigma^2 is the mean square within boots, tau^2 the excess of the
//! mean square between boots over it, never below zero.

use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

use super::boots::BootNoise;
use super::error::{StatsError, check_finite};
use super::interval::Interval;
use super::quantile::chi_squared_quantile;
use super::summary::{mean, sum_of_squares};

/// Deviations by level, pooled over the arms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarianceComponents {
    /// tau: between boots of the same arm.
    pub boot: f64,
    /// sigma: between runs of the same boot.
    pub run: f64,
    pub boots: usize,
    pub runs: usize,
    /// tau^2 over tau^2 + sigma^2; zero where nothing varies.
    pub boot_share: f64,
    /// p of the F test that boots do not differ; `None` without any run noise.
    pub boot_p: Option<f64>,
}

impl VarianceComponents {
    /// `arms[arm][boot][run]`, on the log scale. Needs an arm with two boots
    /// and a boot with two runs.
    pub fn new(arms: &[Vec<Vec<f64>>]) -> Result<Self, StatsError> {
        let totals = Totals::of(arms)?;
        let within_df = totals.runs - totals.boots;
        let between_df = totals.boots - totals.arms;
        if between_df == 0 {
            return Err(StatsError::TooFew { what: "boots of one arm", have: 1, need: 2 });
        }
        if within_df == 0 {
            return Err(StatsError::TooFew { what: "runs of one boot", have: 1, need: 2 });
        }
        let within = totals.within / within_df as f64;
        let between = totals.between / between_df as f64;
        // The mean square between boots expects sigma^2 + size tau^2.
        let size = totals.coefficient / between_df as f64;
        let boot_variance = ((between - within) / size).max(0.0);
        let all = boot_variance + within;
        Ok(VarianceComponents {
            boot: boot_variance.sqrt(),
            run: within.sqrt(),
            boots: totals.boots,
            runs: totals.runs,
            boot_share: if all > 0.0 { boot_variance / all } else { 0.0 },
            boot_p: (within > 0.0).then(|| f_upper(between / within, between_df as f64, within_df as f64)),
        })
    }

    /// For planning.
    pub fn noise(&self) -> BootNoise {
        BootNoise { boot: self.boot, run: self.run }
    }
}

/// Between which values the true deviation lies, estimated from `n` values as `deviation`
/// (chi-squared). `None` below two values and without noise.
pub fn deviation_interval(deviation: f64, n: usize, level: f64) -> Option<Interval> {
    if n < 2 || deviation <= 0.0 || !(0.0..1.0).contains(&level) {
        return None;
    }
    let df = (n - 1) as f64;
    let tail = 0.5 * (1.0 - level);
    let at = |share: f64| deviation * (df / chi_squared_quantile(share, df)).sqrt();
    Some(Interval { low: at(1.0 - tail), high: at(tail) })
}

/// P(F >= f).
fn f_upper(f: f64, between_df: f64, within_df: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    beta_reg(0.5 * within_df, 0.5 * between_df, within_df / (within_df + between_df * f))
}

/// Sums of squares and counts over all arms.
#[derive(Default)]
struct Totals {
    arms: usize,
    boots: usize,
    runs: usize,
    within: f64,
    between: f64,
    /// Sum over arms of N - (sum of n_i^2) / N.
    coefficient: f64,
}

impl Totals {
    fn of(arms: &[Vec<Vec<f64>>]) -> Result<Self, StatsError> {
        let mut totals = Totals::default();
        for boots in arms {
            let all: Vec<f64> = boots.concat();
            check_finite(&all)?;
            let centre = mean(&all);
            let runs = all.len() as f64;
            let mut squared_sizes = 0.0;
            for boot in boots.iter().filter(|b| !b.is_empty()) {
                let size = boot.len() as f64;
                totals.boots += 1;
                totals.within += sum_of_squares(boot);
                totals.between += size * (mean(boot) - centre).powi(2);
                squared_sizes += size * size;
            }
            totals.arms += 1;
            totals.runs += all.len();
            totals.coefficient += runs - squared_sizes / runs;
        }
        if totals.arms == 0 { Err(StatsError::Empty) } else { Ok(totals) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_tell_a_deviation_badly() {
        // chi-squared of 5 degrees at 5% and 95%: 1.1455, 11.0705.
        let six = deviation_interval(0.02, 6, 0.9).expect("noise");
        assert!((six.low - 0.02 * (5.0_f64 / 11.0705).sqrt()).abs() < 1e-6, "{six:?}");
        assert!((six.high - 0.02 * (5.0_f64 / 1.145476).sqrt()).abs() < 1e-6, "{six:?}");
        assert!(deviation_interval(0.02, 100, 0.9).expect("noise").half_width() < 0.003);
        assert_eq!(deviation_interval(0.02, 1, 0.9), None);
        assert_eq!(deviation_interval(0.0, 9, 0.9), None);
    }
    use crate::stats::random::Chance;

    #[test]
    fn a_small_table_by_hand() {
        // Boot means 1 and 5, within squares 2 + 2 over df 2, between 2 (4 + 4) over df 1.
        let arms = vec![vec![vec![0.0, 2.0], vec![4.0, 6.0]]];
        let parts = VarianceComponents::new(&arms).expect("two boots of two runs");
        assert_eq!((parts.run * parts.run).round(), 2.0);
        assert!((parts.boot * parts.boot - 7.0).abs() < 1e-12);
        assert!((parts.boot_share - 7.0 / 9.0).abs() < 1e-12);
        // F = 8 on 1 and 2 degrees of freedom: t = sqrt(8) on 2, two-sided.
        let p = crate::stats::quantile::t_two_sided_p(8.0_f64.sqrt(), 2.0);
        assert!((parts.boot_p.expect("run noise") - p).abs() < 1e-12);
    }

    #[test]
    fn known_components_are_found_whatever_the_arms_differ_by() {
        let mut chance = Chance::new(11);
        let mut arm = |shift: f64| -> Vec<Vec<f64>> {
            let boot = |chance: &mut Chance, runs: usize| {
                let level = shift + 0.02 * chance.normal();
                (0..runs).map(|_| level + 0.01 * chance.normal()).collect()
            };
            (0..300).map(|i| boot(&mut chance, 2 + i % 4)).collect()
        };
        let parts = VarianceComponents::new(&[arm(0.0), arm(1.0)]).expect("many boots");
        assert!((parts.boot - 0.02).abs() < 0.0015, "{parts:?}");
        assert!((parts.run - 0.01).abs() < 0.0005, "{parts:?}");
        assert!((parts.noise().boot - parts.boot).abs() < 1e-15);
    }

    #[test]
    fn no_excess_between_boots_is_zero_not_negative() {
        let arms = vec![vec![vec![0.0, 2.0], vec![0.0, 2.0], vec![0.1, 1.9]]];
        let parts = VarianceComponents::new(&arms).expect("three boots");
        assert_eq!((parts.boot, parts.boot_share), (0.0, 0.0));
        assert!(parts.boot_p.expect("run noise") > 0.99);
        let still = VarianceComponents::new(&[vec![vec![1.0, 1.0], vec![1.0, 1.0]]]).expect("two boots");
        assert_eq!((still.boot, still.run, still.boot_p), (0.0, 0.0, None));
    }

    #[test]
    fn one_boot_or_one_run_each_cannot_be_told_apart() {
        let one_boot = VarianceComponents::new(&[vec![vec![1.0, 2.0, 3.0]]]).expect_err("one boot");
        assert_eq!(one_boot, StatsError::TooFew { what: "boots of one arm", have: 1, need: 2 });
        let single_runs = VarianceComponents::new(&[vec![vec![1.0], vec![2.0]]]).expect_err("single runs");
        assert_eq!(single_runs, StatsError::TooFew { what: "runs of one boot", have: 1, need: 2 });
        assert_eq!(VarianceComponents::new(&[]), Err(StatsError::Empty));
        assert_eq!(VarianceComponents::new(&[vec![]]), Err(StatsError::Empty));
    }
}
