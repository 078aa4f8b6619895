//! How often the 95% interval of block differences holds the true effect.

use crate::stats::error::StatsError;
use crate::stats::one_sample::OneSample;
use crate::stats::random::Chance;

use super::design::{Campaign, FixedTest};
use super::run_noise::RunNoise;
use super::{SelfTest, SelfTestRow};

const EFFECT: f64 = 0.7;
/// Blocks with the bounds of coverage: heavy tails make few blocks conservative.
const BLOCKS: [(usize, (f64, f64)); 2] = [(6, (0.94, 0.985)), (18, (0.94, 0.96))];
const CONTINUOUS: usize = 5;

pub(super) fn rows(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let mut rows = Vec::new();
    for (blocks, bounds) in BLOCKS {
        for (noise, name) in &RunNoise::NAMES[..CONTINUOUS] {
            let mut chance = Chance::stream(test.seed, 100 + rows.len() as u64);
            let campaign = Campaign { effect: EFFECT, ..Campaign::new(blocks, *noise) };
            let decide = FixedTest::new(blocks - 1);
            let covered = campaign.count(test.simulations, &mut chance, |d| {
                Ok(decide.covers(&OneSample::new(d.as_slice())?, EFFECT))
            })?;
            let name = format!("interval coverage, {blocks} blocks, {name} runs");
            rows.push(SelfTestRow::rate(name, covered, test.simulations, bounds));
        }
    }
    Ok(rows)
}
