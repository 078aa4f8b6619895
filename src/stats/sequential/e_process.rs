//! An anytime-valid t test: may be looked at after every block, for ever.
//!
//! The standardised effect has a normal prior of variance g under the
//! alternative and the noise has the right-Haar prior, which gives a test
//! martingale under the null (Gaussian mixture, arXiv 2310.03722):
//!
//! ```text
//! ln E = -1/2 ln(1 + n g)
//!        + n/2 [ ln(1 + t^2/(n-1)) - ln(1 + t^2/((n-1)(1 + n g))) ]
//! ```
//!
//! By Ville's inequality E ever reaches 1/alpha with chance at most alpha.
//! Blocks before the seventh never cross: a bimodal metric can show a few
//! equal differences by chance.

use serde::{Deserialize, Serialize};

use crate::stats::differences::BlockDifferences;
use crate::stats::error::{StatsError, check_above_zero, check_share};
use crate::stats::interval::Interval;
use crate::stats::one_sample::OneSample;

/// The first block at which evidence counts.
const FIRST_BLOCK: usize = 7;

/// The test's settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EProcess {
    alpha: f64,
    prior_variance: f64,
}

/// The state after one block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EProcessPoint {
    pub blocks: usize,
    pub mean: f64,
    /// Natural log of the evidence against "no change".
    pub ln_e: f64,
    /// E has reached 1/alpha here or at an earlier block.
    pub crossed: bool,
    /// The confidence sequence: holds the truth at all blocks together.
    /// `None` where there are too few blocks for any bound.
    pub interval: Option<Interval>,
}

impl EProcess {
    /// With the unit prior on the standardised effect.
    pub fn new(alpha: f64) -> Result<Self, StatsError> {
        EProcess::with_prior(alpha, 1.0)
    }

    /// With another prior variance: smaller for smaller standardised effects.
    pub fn with_prior(alpha: f64, prior_variance: f64) -> Result<Self, StatsError> {
        check_share("alpha", alpha)?;
        check_above_zero("the prior variance", prior_variance)?;
        Ok(EProcess { alpha, prior_variance })
    }

    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn growth(&self, n: usize) -> f64 {
        1.0 + n as f64 * self.prior_variance
    }

    /// Natural log of the evidence against a true mean of zero.
    pub fn ln_e(&self, sample: &OneSample) -> f64 {
        let growth = self.growth(sample.n);
        let half = 0.5 * sample.n as f64;
        let gain = match sample.t() {
            Some(t) => (t * t / sample.df).ln_1p() - (t * t / (sample.df * growth)).ln_1p(),
            // The limit of infinite t.
            None => growth.ln(),
        };
        half * gain - 0.5 * growth.ln()
    }

    /// Whether this sample, looked at by itself, crosses.
    pub fn crosses(&self, sample: &OneSample) -> bool {
        sample.n >= FIRST_BLOCK && self.ln_e(sample) >= -self.alpha.ln()
    }

    /// All true means that the evidence does not reject, by solving the closed
    /// form for t. `None` before the first block that counts, and where so
    /// few blocks cannot reject any mean.
    pub fn confidence_sequence(&self, sample: &OneSample) -> Option<Interval> {
        if sample.n < FIRST_BLOCK {
            return None;
        }
        let growth = self.growth(sample.n);
        // (1 + u) / (1 + u / growth) = ratio, with u = t^2 / df.
        let ratio = ((2.0 * -self.alpha.ln() + growth.ln()) / sample.n as f64).exp();
        if ratio >= growth {
            return None;
        }
        let u = (ratio - 1.0) / (1.0 - ratio / growth);
        Some(sample.interval_with((sample.df * u).sqrt()))
    }

    /// The state after each block from the second on.
    pub fn path(&self, differences: &BlockDifferences) -> Result<Vec<EProcessPoint>, StatsError> {
        let values = differences.as_slice();
        let mut crossed = false;
        let mut path = Vec::new();
        for blocks in 2..=values.len() {
            let sample = OneSample::new(&values[..blocks])?;
            crossed |= self.crosses(&sample);
            path.push(EProcessPoint {
                blocks,
                mean: sample.mean,
                ln_e: self.ln_e(&sample),
                crossed,
                interval: self.confidence_sequence(&sample),
            });
        }
        Ok(path)
    }

    /// The block at which the evidence first crossed.
    pub fn crossing(&self, differences: &BlockDifferences) -> Result<Option<usize>, StatsError> {
        Ok(self.path(differences)?.iter().find(|point| point.crossed).map(|point| point.blocks))
    }

    /// The anytime-valid p: one over the most evidence seen so far, at most 1.
    pub fn p(&self, differences: &BlockDifferences) -> Result<f64, StatsError> {
        let path = self.path(differences)?;
        let most = path.iter().filter(|point| point.blocks >= FIRST_BLOCK).map(|point| point.ln_e);
        Ok((-most.fold(0.0, f64::max)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Chance;

    fn noisy(seed: u64, shift: f64, blocks: usize) -> BlockDifferences {
        let mut chance = Chance::new(seed);
        BlockDifferences::new((0..blocks).map(|_| shift + chance.normal()).collect()).expect("finite")
    }

    /// E by its definition: the prior average of the likelihood ratio of t.
    fn ln_e_by_integration(t: f64, n: f64, prior_variance: f64) -> f64 {
        // Noncentral t density up to a factor free of delta, from its scale mixture.
        let density = |delta: f64| {
            let step = 1e-3;
            (1..12_000)
                .map(|i| {
                    let s = f64::from(i) * step;
                    s.powf(n - 1.0) * (-0.5 * (n - 1.0) * s * s - 0.5 * (t * s - delta).powi(2)).exp()
                })
                .sum::<f64>()
        };
        let deviation = (n * prior_variance).sqrt();
        let (mut total, mut weight) = (0.0, 0.0);
        for i in -60..=60 {
            let z = f64::from(i) / 10.0;
            let w = (-0.5 * z * z).exp();
            total += w * density(deviation * z);
            weight += w;
        }
        (total / weight / density(0.0)).ln()
    }

    #[test]
    fn closed_form_is_the_prior_average() {
        let values = noisy(5, 0.9, 9);
        let sample = OneSample::new(values.as_slice()).expect("nine");
        let closed = EProcess::new(0.05).expect("alpha").ln_e(&sample);
        let integrated = ln_e_by_integration(sample.t().expect("noise"), 9.0, 1.0);
        assert!((closed - integrated).abs() < 1e-3, "{closed} closed, {integrated} integrated");
    }

    #[test]
    fn sequence_is_the_inversion_of_the_evidence() {
        let process = EProcess::new(0.05).expect("alpha");
        for seed in 0..10 {
            let values = noisy(seed, 1.0, 7 + seed as usize * 3);
            let sample = OneSample::new(values.as_slice()).expect("blocks");
            let Some(interval) = process.confidence_sequence(&sample) else { continue };
            assert_eq!(interval.contains(0.0), !process.crosses(&sample));
            let moved: Vec<f64> = values.as_slice().iter().map(|d| d - interval.low).collect();
            let at_the_end = process.ln_e(&OneSample::new(&moved).expect("blocks"));
            assert!((at_the_end - 20.0_f64.ln()).abs() < 1e-9);
        }
    }

    #[test]
    fn nothing_crosses_before_block_seven() {
        let process = EProcess::new(0.05).expect("alpha");
        let equal = BlockDifferences::new(vec![0.25; 9]).expect("finite");
        assert_eq!(process.crossing(&equal), Ok(Some(7)));
        let path = process.path(&equal).expect("blocks");
        assert!(path.iter().all(|point| point.crossed == (point.blocks >= 7)));
        assert_eq!(path[4].interval, None);
        assert_eq!(path[5].interval, Some(Interval::around(0.25, 0.0)));
    }

    #[test]
    fn p_shrinks_with_evidence_and_never_grows_with_blocks() {
        let process = EProcess::new(0.05).expect("alpha");
        let values = noisy(8, 1.2, 30);
        let p_at: Vec<f64> =
            (2..=30).map(|n| process.p(&values.first(n).expect("blocks")).expect("blocks")).collect();
        assert!(p_at.windows(2).all(|pair| pair[1] <= pair[0]) && p_at[0] == 1.0 && p_at[28] < 0.05);
    }

    #[test]
    fn settings_are_checked() {
        assert!(EProcess::new(0.0).is_err());
        assert!(EProcess::with_prior(0.05, -1.0).is_err());
        assert_eq!(EProcess::new(0.1).map(|e| e.alpha()), Ok(0.1));
    }
}
