//! How often no change is called a change, under what disturbs a campaign.

use crate::stats::dunnett::Dunnett;
use crate::stats::error::StatsError;
use crate::stats::one_sample::OneSample;
use crate::stats::quantile::t_critical;
use crate::stats::random::Chance;
use crate::stats::sign_flip::SignFlip;
use crate::stats::welch::{Side, Welch};

use super::design::{Campaign, FixedTest};
use super::run_noise::RunNoise;
use super::{SelfTest, SelfTestRow};

/// At most 5.5% of nulls may be rejected.
const BOUNDS: (f64, f64) = (0.0, 0.055);
/// Four deviations from the first of sixteen runs to the last.
const DRIFT: f64 = 4.0 / 15.0;

pub(super) fn rows(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let mut rows = Vec::new();
    for blocks in [6, 18] {
        for (name, campaign) in disturbed(blocks) {
            let mut chance = Chance::stream(test.seed, 200 + rows.len() as u64);
            let rejected = rejections(&campaign, test.simulations, &mut chance)?;
            let name = format!("null rejection, {blocks} blocks, {name}");
            rows.push(SelfTestRow::rate(name, rejected, test.simulations, BOUNDS));
        }
    }
    rows.extend(sign_flips(test)?);
    rows.push(known_limit(test)?);
    rows.extend(contrasts(test)?);
    rows.extend(families(test)?);
    Ok(rows)
}

/// Candidates of a campaign that share its baseline.
const CANDIDATES: usize = 3;

/// Whether any of several candidates, all equal to the baseline, is called changed.
fn families(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let mut rows = Vec::new();
    for blocks in [6, 18] {
        let df = (blocks - 1) as f64;
        let corrected = Dunnett::new(CANDIDATES, blocks)?.critical(0.05)?;
        for (name, critical, bounds) in [
            ("any of 3 candidates called changed (Dunnett)", corrected, BOUNDS),
            ("contrast: any of 3 candidates, uncorrected", t_critical(0.05, df), (0.1, 0.14)),
        ] {
            let mut chance = Chance::stream(test.seed, 450 + rows.len() as u64);
            let hits = family_hits(blocks, critical, test.simulations, &mut chance)?;
            rows.push(SelfTestRow::rate(format!("{name}, {blocks} blocks"), hits, test.simulations, bounds));
        }
    }
    Ok(rows)
}

/// Blocks of every arm twice, the baseline's mean taken from each candidate's.
fn family_hits(
    blocks: usize,
    critical: f64,
    simulations: usize,
    chance: &mut Chance,
) -> Result<usize, StatsError> {
    let mut hits = 0;
    for _ in 0..simulations {
        let mut differences = vec![Vec::new(); CANDIDATES];
        for _ in 0..blocks {
            let baseline = chance.normal() + chance.normal();
            for of_one in &mut differences {
                of_one.push(0.5 * (chance.normal() + chance.normal() - baseline));
            }
        }
        let mut any = false;
        for of_one in &differences {
            any |= OneSample::new(of_one)?.t().is_some_and(|t| t.abs() > critical);
        }
        hits += usize::from(any);
    }
    Ok(hits)
}

/// Campaigns without effect, each disturbed in one way.
fn disturbed(blocks: usize) -> Vec<(&'static str, Campaign)> {
    let quiet = Campaign::new(blocks, RunNoise::Normal);
    let mut all = vec![
        ("undisturbed", quiet),
        ("drift of 4 deviations in 16 runs", Campaign { drift: DRIFT, ..quiet }),
        ("first run off by 2 deviations", Campaign { first_run: 2.0, ..quiet }),
        ("boots as noisy as runs", Campaign { boot: 1.0, ..quiet }),
        ("boots of 3 runs, twice as noisy", Campaign { boot: 2.0, runs_per_boot: 3, ..quiet }),
    ];
    for (noise, name) in &RunNoise::NAMES[1..] {
        all.push((name, Campaign::new(blocks, *noise)));
    }
    all
}

fn rejections(campaign: &Campaign, simulations: usize, chance: &mut Chance) -> Result<usize, StatsError> {
    let decide = FixedTest::new(campaign.blocks - 1);
    campaign.count(simulations, chance, |d| Ok(decide.rejects(&OneSample::new(d.as_slice())?)))
}

/// A first run far off makes block differences bimodal, and six blocks are too
/// few for the t test to be exact then: hence the discarded trial of each block.
fn known_limit(test: &SelfTest) -> Result<SelfTestRow, StatsError> {
    let campaign = Campaign { first_run: 4.0, ..Campaign::new(6, RunNoise::Normal) };
    let rejected = rejections(&campaign, test.simulations, &mut Chance::stream(test.seed, 350))?;
    let name = "known limit: null rejection, 6 blocks, first run off by 4 deviations";
    Ok(SelfTestRow::rate(name, rejected, test.simulations, (0.055, 0.065)))
}

fn sign_flips(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let mut rows = Vec::new();
    for (noise, name) in
        [(RunNoise::StudentThree, "t3"), (RunNoise::RareMode, "bimodal 90/10"), (RunNoise::Rounded, "ties")]
    {
        let mut chance = Chance::stream(test.seed, 300 + rows.len() as u64);
        // Twelve blocks are 4,096 assignments, enough for levels close to 5%.
        let campaign = Campaign::new(12, noise);
        let simulations = test.simulations.div_ceil(4);
        let rejected =
            campaign.count(simulations, &mut chance, |d| Ok(SignFlip::new(d, test.seed).p <= 0.05))?;
        let name = format!("null rejection of the sign flip, 12 blocks, {name} runs");
        rows.push(SelfTestRow::rate(name, rejected, simulations, (0.0, 0.05)));
    }
    Ok(rows)
}

/// What the usual shortcuts do under the same null.
fn contrasts(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let chance = |stream: u64| Chance::stream(test.seed, 400 + stream);
    let n = test.simulations;
    let fixed_order = Campaign { first_run: 2.0, coin: false, ..Campaign::new(6, RunNoise::Normal) };
    let fixed_rejected = rejections(&fixed_order, n, &mut chance(0))?;
    let drift = unpaired(n, 8, &mut chance(1), |place, chance| DRIFT * place as f64 + chance.normal())?;
    let mut boots = chance(2);
    let mut level = 0.0;
    let nested = unpaired(n, 10, &mut boots, |place, chance| {
        if place.is_multiple_of(10) {
            level = chance.normal();
        }
        level + chance.normal()
    })?;
    Ok(vec![
        SelfTestRow::rate("contrast: ABBA always, first run off by 2", fixed_rejected, n, (0.3, 1.0)),
        SelfTestRow::rate("contrast: all A then all B, drift of 4", drift, n, (0.93, 0.95)),
        SelfTestRow::rate("contrast: one boot per arm, 10 runs each", nested, n, (0.53, 0.55)),
    ])
}

/// Rejections of a pooled t test of runs laid out as all of one arm, then all
/// of the other.
fn unpaired(
    simulations: usize,
    runs: usize,
    chance: &mut Chance,
    mut run: impl FnMut(usize, &mut Chance) -> f64,
) -> Result<usize, StatsError> {
    let mut rejected = 0;
    let critical = t_critical(0.05, 2.0 * (runs - 1) as f64);
    for _ in 0..simulations {
        let values: Vec<f64> = (0..2 * runs).map(|place| run(place, chance)).collect();
        let (before, after) = (Side::new(&values[..runs])?, Side::new(&values[runs..])?);
        // With equal counts Welch's t is the pooled t.
        let t = Welch::from_sides(&before, &after, 0.95)?.t;
        rejected += usize::from(t.is_none_or(|t| t.abs() > critical));
    }
    Ok(rejected)
}
