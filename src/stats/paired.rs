//! The primary analysis: block differences of logs, the t interval that
//! decides, and beside it the sign-flip p and the Hodges-Lehmann shift.

use serde::{Deserialize, Serialize};

use super::differences::BlockDifferences;
use super::error::{StatsError, check_share};
use super::hodges_lehmann::HodgesLehmann;
use super::interval::Interval;
use super::one_sample::OneSample;
use super::sign_flip::SignFlip;
use super::summary::quantile;

/// What the block differences of one metric say, on their own scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairedAnalysis {
    /// Blocks.
    pub n: usize,
    pub mean: f64,
    pub median: f64,
    pub standard_deviation: f64,
    pub standard_error: f64,
    pub df: f64,
    /// The fixed-n t interval. After looks, print that of `sequential` instead.
    pub interval: Interval,
    pub level: f64,
    /// `None` where all differences are equal and not zero.
    pub t: Option<f64>,
    /// Two-sided p of `t`; where there is no `t`, the sign-flip p, which needs no spread.
    pub p: f64,
    pub sign_flip_p: f64,
    /// How many sign assignments were drawn; `None` where all were counted.
    pub sign_flip_draws: Option<u32>,
    pub hodges_lehmann: f64,
    /// `None` below the blocks that can give the level: six at 95%.
    pub hodges_lehmann_interval: Option<Interval>,
}

impl PairedAnalysis {
    /// Needs two blocks. The seed matters beyond twenty blocks only, where sign
    /// assignments are drawn.
    pub fn new(differences: &BlockDifferences, level: f64, seed: u64) -> Result<Self, StatsError> {
        check_share("the level", level)?;
        let values = differences.as_slice();
        let sample = OneSample::new(values)?;
        let flip = SignFlip::new(differences, seed);
        let shift = HodgesLehmann::one_sample(values, level)?;
        Ok(PairedAnalysis {
            n: sample.n,
            mean: sample.mean,
            median: quantile(values, 0.5)?,
            standard_deviation: sample.standard_deviation,
            standard_error: sample.standard_error,
            df: sample.df,
            interval: sample.interval(level),
            level,
            t: sample.t(),
            p: sample.p().unwrap_or(flip.p),
            sign_flip_p: flip.p,
            sign_flip_draws: flip.draws,
            hodges_lehmann: shift.shift,
            hodges_lehmann_interval: shift.interval,
        })
    }

    /// All differences are equal: there is no noise to judge them by.
    pub fn is_constant(&self) -> bool {
        self.standard_deviation == 0.0
    }

    /// The mean and its error alone, for intervals at other levels.
    pub fn sample(&self) -> OneSample {
        OneSample {
            n: self.n,
            mean: self.mean,
            standard_deviation: self.standard_deviation,
            standard_error: self.standard_error,
            df: self.df,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn analyse(values: &[f64]) -> PairedAnalysis {
        let differences = BlockDifferences::new(values.to_vec()).expect("finite");
        PairedAnalysis::new(&differences, 0.95, 1).expect("at least two blocks")
    }

    #[test]
    fn six_clear_blocks() {
        let result = analyse(&[0.017, 0.019, 0.018, 0.021, 0.016, 0.020]);
        assert!(result.interval.low > 0.015 && result.interval.high < 0.022);
        assert_eq!((result.n, result.df, result.sign_flip_p), (6, 5.0, 0.03125));
        assert!(result.p < 1e-4 && result.t.expect("noise") > 20.0);
        assert_eq!(result.hodges_lehmann_interval, Some(Interval { low: 0.016, high: 0.021 }));
        assert_eq!(result.sample().interval(0.95), result.interval);
    }

    #[test]
    fn a_constant_metric_is_no_change_and_no_crash() {
        let still = analyse(&[0.0; 6]);
        assert_eq!((still.t, still.p, still.sign_flip_p), (Some(0.0), 1.0, 1.0));
        assert!(still.is_constant());
        let shifted = analyse(&[0.01; 6]);
        assert_eq!((shifted.t, shifted.p), (None, 0.03125));
        assert_eq!(shifted.interval, Interval { low: 0.01, high: 0.01 });
    }

    #[test]
    fn one_block_is_refused_with_the_reason() {
        let one = BlockDifferences::new(vec![0.1]).expect("finite");
        let refused = PairedAnalysis::new(&one, 0.95, 1).expect_err("one block");
        assert!(refused.to_string().starts_with("1 blocks where at least 2 are needed"));
        assert!(PairedAnalysis::new(&one, 95.0, 1).is_err());
    }

    #[test]
    fn serializes_without_nulls_for_infinities() {
        let json = serde_json::to_string(&analyse(&[0.01; 3])).expect("serializable");
        assert!(json.contains("\"t\":null") && json.contains("\"hodges_lehmann_interval\":null"));
        let back: PairedAnalysis = serde_json::from_str(&json).expect("readable");
        assert_eq!(back, analyse(&[0.01; 3]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn direction_turns_everything(values in prop::collection::vec(-0.1_f64..0.1, 2..12)) {
            let there = analyse(&values);
            let back = analyse(&values.iter().map(|d| -d).collect::<Vec<f64>>());
            prop_assert!((there.mean + back.mean).abs() < 1e-15);
            prop_assert!((there.p - back.p).abs() < 1e-12);
            prop_assert_eq!(there.sign_flip_p, back.sign_flip_p);
            prop_assert!((there.hodges_lehmann + back.hodges_lehmann).abs() < 1e-15);
            prop_assert!(there.interval.contains(there.mean));
        }
    }
}
