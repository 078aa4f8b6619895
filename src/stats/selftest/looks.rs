//! Looks before the end: the chance of any false alarm, and what looking costs.

use crate::stats::differences::BlockDifferences;
use crate::stats::error::StatsError;
use crate::stats::one_sample::OneSample;
use crate::stats::quantile::t_critical;
use crate::stats::random::Chance;
use crate::stats::sequential::{EProcess, GroupSequential};

use super::design::Campaign;
use super::run_noise::RunNoise;
use super::{SelfTest, SelfTestRow};

/// Blocks of an open-ended campaign.
const OPEN_ENDED: usize = 60;

pub(super) fn rows(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let mut rows = group_sequential(test)?;
    rows.extend(e_process(test)?);
    rows.extend(naive(test)?);
    Ok(rows)
}

pub(super) fn group_sequential(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let plan = GroupSequential::standard();
    let crosses = |d: &BlockDifferences| Ok(plan.evaluate(d)?.iter().any(|look| look.crossed));
    let mut rows = Vec::new();
    let bounds = |noise| if noise == RunNoise::Normal { (0.049, 0.051) } else { (0.0, 0.055) };
    for (noise, name) in RunNoise::NAMES {
        let mut chance = Chance::stream(test.seed, 500 + rows.len() as u64);
        let campaign = Campaign::new(plan.last_blocks(), noise);
        let crossed = campaign.count(test.simulations, &mut chance, crosses)?;
        let name = format!("group-sequential false alarm, {name} runs");
        rows.push(SelfTestRow::rate(name, crossed, test.simulations, bounds(noise)));
    }
    for (effect, bounds) in [(0.8, (0.88, 0.9)), (1.2, (0.994, 1.0))] {
        let mut chance = Chance::stream(test.seed, 500 + rows.len() as u64);
        let campaign = Campaign { effect, ..Campaign::new(plan.last_blocks(), RunNoise::Normal) };
        let crossed = campaign.count(test.simulations, &mut chance, crosses)?;
        let name = format!("group-sequential power at effect {effect}");
        rows.push(SelfTestRow::rate(name, crossed, test.simulations, bounds));
    }
    let mut chance = Chance::stream(test.seed, 500 + rows.len() as u64);
    let campaign = Campaign { effect: 0.5, ..Campaign::new(plan.last_blocks(), RunNoise::Normal) };
    let covered = campaign.count(test.simulations, &mut chance, |d| {
        let looks = plan.evaluate(d)?;
        Ok(looks.iter().all(|look| look.interval.is_none_or(|interval| interval.contains(0.5))))
    })?;
    let name = "repeated interval holds the effect at all looks made";
    rows.push(SelfTestRow::rate(name, covered, test.simulations, (0.95, 1.0)));
    Ok(rows)
}

pub(super) fn e_process(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let process = EProcess::new(0.05)?;
    let simulations = test.simulations.div_ceil(4);
    let mut rows = Vec::new();
    for (noise, name) in RunNoise::NAMES {
        let mut chance = Chance::stream(test.seed, 600 + rows.len() as u64);
        let campaign = Campaign::new(OPEN_ENDED, noise);
        let crossed = campaign.count(simulations, &mut chance, |d| Ok(process.crossing(d)?.is_some()))?;
        let name = format!("e-process crosses by block {OPEN_ENDED}, {name} runs");
        rows.push(SelfTestRow::rate(name, crossed, simulations, (0.0, process.alpha())));
    }
    for (spread, name) in [(0.0, "two values"), (0.1, "two narrow modes"), (0.3, "two modes")] {
        let mut chance = Chance::stream(test.seed, 600 + rows.len() as u64);
        let crossed = bimodal_differences(&process, spread, simulations, &mut chance)?;
        let name = format!("e-process crosses by block {OPEN_ENDED}, differences of {name}");
        rows.push(SelfTestRow::rate(name, crossed, simulations, (0.0, process.alpha())));
    }
    let mut chance = Chance::stream(test.seed, 600 + rows.len() as u64);
    let campaign = Campaign { effect: 0.8, ..Campaign::new(OPEN_ENDED, RunNoise::Normal) };
    let crossed =
        campaign.count(simulations, &mut chance, |d| Ok(process.crossing(&d.first(32)?)?.is_some()))?;
    rows.push(confidence_sequence(&process, simulations, &mut Chance::stream(test.seed, 650))?);
    let name = "e-process power by block 32 at effect 0.8";
    rows.push(SelfTestRow::rate(name, crossed, simulations, (0.89, 0.92)));
    Ok(rows)
}

fn confidence_sequence(
    process: &EProcess,
    simulations: usize,
    chance: &mut Chance,
) -> Result<SelfTestRow, StatsError> {
    let campaign = Campaign { effect: 0.5, ..Campaign::new(OPEN_ENDED, RunNoise::Normal) };
    let covered = campaign.count(simulations, chance, |d| {
        let path = process.path(d)?;
        Ok(path.iter().all(|point| point.interval.is_none_or(|interval| interval.contains(0.5))))
    })?;
    let name = format!("confidence sequence holds the effect to block {OPEN_ENDED}");
    Ok(SelfTestRow::rate(name, covered, simulations, (1.0 - process.alpha(), 1.0)))
}

/// Block differences of +1 or -1 with little else: the t test's worst null.
fn bimodal_differences(
    process: &EProcess,
    spread: f64,
    simulations: usize,
    chance: &mut Chance,
) -> Result<usize, StatsError> {
    let mut crossed = 0;
    for _ in 0..simulations {
        let difference = |chance: &mut Chance| {
            let mode = if chance.coin() { 1.0 } else { -1.0 };
            mode + spread * chance.normal()
        };
        let differences = BlockDifferences::new((0..OPEN_ENDED).map(|_| difference(chance)).collect())?;
        crossed += usize::from(process.crossing(&differences)?.is_some());
    }
    Ok(crossed)
}

/// Testing at 5% after each block from the fourth, and stopping at the first hit.
pub(super) fn naive(test: &SelfTest) -> Result<Vec<SelfTestRow>, StatsError> {
    let simulations = test.simulations.div_ceil(4);
    let critical: Vec<f64> = (4..=40).map(|n| t_critical(0.05, f64::from(n - 1))).collect();
    let mut chance = Chance::stream(test.seed, 700);
    let campaign = Campaign::new(40, RunNoise::Normal);
    let (mut by_ten, mut by_twenty) = (0, 0);
    let by_forty = campaign.count(simulations, &mut chance, |d| {
        let mut stopped = None;
        for (n, critical) in (4..=40).zip(&critical) {
            let sample = OneSample::new(&d.as_slice()[..n])?;
            if sample.t().is_none_or(|t| t.abs() > *critical) {
                stopped = Some(n);
                break;
            }
        }
        by_ten += usize::from(stopped.is_some_and(|n| n <= 10));
        by_twenty += usize::from(stopped.is_some_and(|n| n <= 20));
        Ok(stopped.is_some())
    })?;
    let row = |blocks, hits, bounds| {
        let name = format!("contrast: p below 5% at any of {blocks} blocks");
        SelfTestRow::rate(name, hits, simulations, bounds)
    };
    Ok(vec![row(10, by_ten, (0.13, 0.15)), row(20, by_twenty, (0.2, 0.22)), row(40, by_forty, (0.26, 0.28))])
}
