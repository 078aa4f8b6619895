//! Simulated campaigns: balanced blocks and what disturbs them.

use crate::stats::differences::BlockDifferences;
use crate::stats::error::StatsError;
use crate::stats::one_sample::OneSample;
use crate::stats::quantile::t_critical;
use crate::stats::random::Chance;

use super::run_noise::RunNoise;

/// A campaign of ABBA and BAAB blocks. All quantities are in deviations of one run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Campaign {
    pub blocks: usize,
    pub noise: RunNoise,
    /// The true log ratio of the second arm to the first.
    pub effect: f64,
    /// Added from one run to the next.
    pub drift: f64,
    /// Added to the first run of every block.
    pub first_run: f64,
    /// Every run is a boot of its own with this deviation, common to its `runs_per_boot` runs.
    pub boot: f64,
    pub runs_per_boot: usize,
    /// Which arm begins: a coin, or always the first.
    pub coin: bool,
}

impl Campaign {
    /// Without effect or disturbance.
    pub(super) fn new(blocks: usize, noise: RunNoise) -> Self {
        let (drift, first_run, boot) = (0.0, 0.0, 0.0);
        Campaign { blocks, noise, effect: 0.0, drift, first_run, boot, runs_per_boot: 1, coin: true }
    }

    /// One simulated campaign's block differences.
    pub(super) fn differences(&self, chance: &mut Chance) -> Vec<f64> {
        (0..self.blocks).map(|block| self.difference(block, chance)).collect()
    }

    fn difference(&self, block: usize, chance: &mut Chance) -> f64 {
        let swapped = self.coin && chance.coin();
        let signs = if swapped { [1.0, -1.0, -1.0, 1.0] } else { [-1.0, 1.0, 1.0, -1.0] };
        let place = |i: usize| {
            let first = if i == 0 { self.first_run } else { 0.0 };
            first + self.drift * (4 * block + i) as f64
        };
        let noise: f64 = signs.iter().enumerate().map(|(i, sign)| sign * (place(i) + self.run(chance))).sum();
        self.effect + 0.5 * noise
    }

    /// The mean log of one place in the block: a run, or a boot's runs.
    fn run(&self, chance: &mut Chance) -> f64 {
        let level = if self.boot > 0.0 { self.boot * chance.normal() } else { 0.0 };
        let runs = self.runs_per_boot;
        level + (0..runs).map(|_| self.noise.draw(chance)).sum::<f64>() / runs as f64
    }

    /// Of many simulated campaigns, those for which `hit` holds.
    pub(super) fn count(
        &self,
        simulations: usize,
        chance: &mut Chance,
        mut hit: impl FnMut(&BlockDifferences) -> Result<bool, StatsError>,
    ) -> Result<usize, StatsError> {
        let mut hits = 0;
        for _ in 0..simulations {
            let differences = BlockDifferences::new(self.differences(chance))?;
            hits += usize::from(hit(&differences)?);
        }
        Ok(hits)
    }
}

/// The 5% t test at a fixed number of values, its critical value computed once.
#[derive(Debug, Clone, Copy)]
pub(super) struct FixedTest {
    critical: f64,
}

impl FixedTest {
    pub(super) fn new(df: usize) -> Self {
        FixedTest { critical: t_critical(0.05, df as f64) }
    }

    pub(super) fn covers(&self, sample: &OneSample, truth: f64) -> bool {
        sample.interval_with(self.critical).contains(truth)
    }

    /// The decision of the paired analysis: t, and the sign-flip p where
    /// equal differences have none.
    pub(super) fn rejects(&self, sample: &OneSample) -> bool {
        match sample.t() {
            Some(t) => t.abs() > self.critical,
            None => 2.0 * 0.5_f64.powi(sample.n as i32) < 0.05,
        }
    }
}
