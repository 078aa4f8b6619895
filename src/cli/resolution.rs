//! What planned blocks can resolve, by the noise of pilots or by assumed noise.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::analyze::{self, CampaignAnalysis, VarianceByLevel};
use crate::campaign::expected_block_time;
use crate::config::Plan;
use crate::stats::boots::{BootCost, BootNoise};
use crate::stats::power::PowerTarget;
use crate::stats::variance::deviation_interval;
use crate::stats::verdict::MINIMUM_BLOCKS;
use crate::store::{CampaignFolder, TrialRecord};
use crate::units::{Nanos, Percent};

/// Deviations of a block difference to show where no pilot tells the real one.
const ASSUMED_DEVIATIONS: [f64; 3] = [1.0, 2.0, 5.0];

/// The noise of one metric as a pilot showed it.
struct PilotNoise {
    metric: String,
    /// Deviation of a block difference, on the log scale.
    deviation: f64,
    blocks: usize,
    /// A block of the plan, at the time that the pilot's trials took.
    block_time: Nanos,
    boots: Option<(BootNoise, BootCost)>,
}

/// The paragraph of `plan` on what can be seen, in which time.
pub fn describe(plan: &Plan, effect: Option<Percent>, pilots: &[PathBuf]) -> anyhow::Result<String> {
    let analysis = plan.analysis();
    let target = PowerTarget { alpha: analysis.alpha, ..PowerTarget::default() };
    let asked = effect.or(analysis.effect).or(plan.experiment.claim).unwrap_or(analysis.margin);
    // A claim of no change is held against the margin.
    let asked = if asked.0.abs() < analysis.margin.0 { analysis.margin } else { asked };
    let blocks = plan.schedule().blocks as usize;
    let mut text = format!("\nwhat can be resolved (power 90%, alpha {})\n", analysis.alpha);
    if pilots.is_empty() {
        let each = expected_block_time(plan);
        for percent in ASSUMED_DEVIATIONS {
            let deviation = Percent(percent).to_log_ratio();
            text += &line(
                &format!("if blocks differ by {percent}%"),
                &needs(&target, deviation, blocks, asked)?,
                each,
            );
        }
        text += "  a pilot tells the real noise: --measure-pilot, or --pilot CAMPAIGN\n";
        return Ok(text);
    }
    let mut found: Vec<PilotNoise> = Vec::new();
    for pilot in pilots {
        found.extend(noise_of(pilot, trials_per_block(plan))?);
    }
    let mut timed = Vec::new();
    for noise in &found {
        let needs = needs(&target, noise.deviation, blocks, asked)?;
        text += &line(&source(noise), &needs, noise.block_time);
        text += &boots_line(noise, &target, asked)?;
        timed.push((time(noise.block_time, needs.needed), noise));
    }
    text += &in_words(plan, &timed, asked);
    Ok(text)
}

/// What so many blocks see, and how many the asked change needs.
struct Needs {
    planned: usize,
    seen: Percent,
    asked: Percent,
    needed: usize,
}

fn needs(target: &PowerTarget, deviation: f64, planned: usize, asked: Percent) -> anyhow::Result<Needs> {
    let seen = Percent::from_log_ratio(target.detectable_by_blocks(deviation, planned)?);
    let needed = target.blocks(asked.to_log_ratio().abs(), deviation)?.max(MINIMUM_BLOCKS);
    Ok(Needs { planned, seen, asked, needed })
}

fn line(source: &str, needs: &Needs, block_time: Nanos) -> String {
    format!(
        "  {source}: {} blocks see {:.1}% or more; {:.1}% needs {} blocks, about {}\n",
        needs.planned,
        needs.seen.0,
        needs.asked.0.abs(),
        needs.needed,
        time(block_time, needs.needed)
    )
}

fn time(block_time: Nanos, blocks: usize) -> Nanos {
    Nanos(block_time.0.saturating_mul(blocks as u64))
}

/// The pilot's deviation with its own uncertainty: few blocks tell it badly.
fn source(noise: &PilotNoise) -> String {
    let percent = |log: f64| Percent::from_log_ratio(log).0;
    let around = deviation_interval(noise.deviation, noise.blocks, 0.9)
        .map_or(String::new(), |i| format!(" ({:.1}% to {:.1}%)", percent(i.low), percent(i.high)));
    format!(
        "{}, blocks of the pilot differ by {:.1}%{around}, {} of them",
        noise.metric,
        percent(noise.deviation),
        noise.blocks
    )
}

fn boots_line(noise: &PilotNoise, target: &PowerTarget, asked: Percent) -> anyhow::Result<String> {
    let Some((boots, cost)) = &noise.boots else { return Ok(String::new()) };
    let best = boots.plan(asked.to_log_ratio().abs(), target, cost)?;
    let percent = |log: f64| Percent::from_log_ratio(log).0;
    Ok(format!(
        "    boots differ by {:.1}%, runs of one boot by {:.1}%: {} boots of each arm with {} runs each, about {} \
         (target.trials-per-boot = {})\n",
        percent(boots.boot),
        percent(boots.run),
        best.boots_per_arm,
        best.runs_per_boot,
        Nanos((best.time * 1e9) as u64),
        best.runs_per_boot
    ))
}

/// The sentence a reader remembers: what cannot be seen in which time, and by which metric it can.
fn in_words(plan: &Plan, timed: &[(Nanos, &PilotNoise)], asked: Percent) -> String {
    let budget = plan.schedule().budget;
    let primary = plan.analysis().primary.as_str();
    let Some((longest, own)) = timed.iter().find(|(_, noise)| noise.metric == primary) else {
        return String::new();
    };
    let mut text =
        format!("  {:.1}% of {} cannot be seen here in under {longest}", asked.0.abs(), own.metric);
    if let Some(budget) = budget.filter(|b| b.0 < longest.0) {
        text += &format!(", and the budget is {budget}");
    }
    let quicker = timed.iter().filter(|(time, n)| n.metric != own.metric && time.0 < longest.0);
    if let Some((shortest, other)) = quicker.min_by_key(|(time, _)| time.0) {
        text += &format!(
            "; {:.1}% of {} can, in {shortest} (another quantity: the share of it in the first is not measured)",
            asked.0.abs(),
            other.metric
        );
    }
    text.push('\n');
    text
}

fn noise_of(pilot: &Path, trials: u64) -> anyhow::Result<Vec<PilotNoise>> {
    let folder = CampaignFolder::open(pilot)?;
    let (analysis, records) = (analyze::analyze(&folder)?, folder.records()?);
    let mut found: Vec<PilotNoise> = Vec::new();
    for comparison in analysis.comparisons.iter().filter(|c| c.primary) {
        let metric = comparison.metric.id.to_string();
        let Some(result) = &comparison.result else { continue };
        if found.iter().any(|n| n.metric == metric) {
            continue;
        }
        let of_workload: Vec<&TrialRecord> =
            records.iter().filter(|r| r.spec.id.workload == comparison.workload).collect();
        found.push(PilotNoise {
            boots: boots(&analysis, &metric, &of_workload),
            metric,
            deviation: result.paired.standard_deviation,
            blocks: result.paired.n,
            block_time: block_time(&of_workload, trials),
        });
    }
    let none = || format!("{}: the pilot has no complete comparison of a primary metric", pilot.display());
    found.first().with_context(none)?;
    Ok(found)
}

/// The mean of the pilot's trials, for as many as a block of the plan has.
fn block_time(records: &[&TrialRecord], trials: u64) -> Nanos {
    let all: u64 = records.iter().map(|r| wall(r).0).sum();
    Nanos((all as f64 / records.len().max(1) as f64 * trials as f64) as u64)
}

fn wall(record: &TrialRecord) -> Nanos {
    Nanos::from(record.ended.duration_since(record.started).unsigned_abs())
}

/// The levels of the noise, where the pilot's trials took turns over boots with several trials each.
fn boots(
    analysis: &CampaignAnalysis,
    metric: &str,
    records: &[&TrialRecord],
) -> Option<(BootNoise, BootCost)> {
    let levels: &VarianceByLevel = analysis.variance.iter().find(|v| v.metric.as_str() == metric)?;
    let boots = levels.levels.iter().find(|l| l.level == "boots")?;
    let runs = levels.levels.iter().find(|l| l.level == "runs in a boot")?;
    let mut in_time: Vec<&&TrialRecord> = records.iter().collect();
    in_time.sort_by_key(|r| r.started);
    let gaps: Vec<f64> = in_time
        .windows(2)
        .filter(|pair| pair[0].kernel.boot_id != pair[1].kernel.boot_id)
        .map(|pair| pair[1].started.duration_since(pair[0].ended).as_secs_f64().max(0.001))
        .collect();
    let run: f64 = records.iter().map(|r| wall(r).as_seconds()).sum::<f64>() / records.len() as f64;
    let boot = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
    (boot > 0.0 && run > 0.0)
        .then_some((BootNoise { boot: boots.deviation, run: runs.deviation }, BootCost { boot, run }))
}

fn trials_per_block(plan: &Plan) -> u64 {
    (2 * plan.arms.len() + usize::from(plan.schedule().discard_first)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::fixture::{EXPERIMENT, campaign, noisy};

    /// A pilot of the fixture's experiment: ten trials of a second to a block, in boots of two trials.
    fn pilot(results: &Path, name: &str, deviation: f64, boot: f64) -> PathBuf {
        let value = |block: u32, position: u32, _: &str| {
            let of_boot = noisy(1.0, 1.0, boot, (1000 + block, position / 2));
            Some(of_boot * noisy(1000.0, 1.0, deviation, (block, position)))
        };
        let folder = campaign(results, name, EXPERIMENT, &value);
        for trial in folder.trials().expect("listed") {
            let mut record = trial.record().expect("read");
            let id = record.spec.id.clone();
            let place = i64::from(id.block) * 6 + i64::from(id.position);
            record.started = jiff::Timestamp::from_second(100 + 30 * place).expect("in range");
            record.ended = jiff::Timestamp::from_second(110 + 30 * place).expect("in range");
            // Of six places, the middle two are of one arm and share a boot.
            record.kernel.boot_id =
                Some(format!("{}-{}", id.block, if id.position == 3 { 2 } else { id.position }));
            trial.write_record(&record).expect("written");
        }
        folder.path().to_owned()
    }

    fn plan_of(text: &str) -> Plan {
        Plan::new(crate::config::parse(Path::new("x.toml"), text).expect("valid"))
    }

    #[test]
    fn without_a_pilot_noise_is_assumed_and_said_to_be() {
        let text = describe(&plan_of(EXPERIMENT), None, &[]).expect("described");
        assert!(
            text.contains("if blocks differ by 5%: 8 blocks see") && text.contains("--measure-pilot"),
            "{text}"
        );
    }

    #[test]
    fn a_pilot_gives_its_noise_its_boots_and_the_time() {
        let results = tempfile::tempdir().expect("a folder");
        let pilot = pilot(results.path(), "pilot", 0.01, 0.02);
        let text = describe(&plan_of(EXPERIMENT), Some(Percent(1.8)), &[pilot]).expect("described");
        let needed = text.split("1.8% needs ").nth(1).and_then(|t| t.split(' ').next()).expect("a number");
        let needed: usize = needed.parse().expect("blocks");
        assert!(needed > 8, "{text}");
        // Seven trials to a block, the discarded one too, of ten seconds each.
        let time = Nanos::from_seconds(70 * needed as u64);
        assert!(text.contains(&format!("1.8% needs {needed} blocks, about {time}")), "{text}");
        assert!(text.contains("boots differ by") && text.contains("target.trials-per-boot = "), "{text}");
        assert!(
            text.contains(&format!("1.8% of file_read.ops_per_sec cannot be seen here in under {time}")),
            "{text}"
        );
    }

    #[test]
    fn a_sharper_instrument_is_named_beside_it() {
        let results = tempfile::tempdir().expect("a folder");
        let other = EXPERIMENT
            .replace(
                "[workload.file-read]\ntasks = 1\nsize = \"1MiB\"\nduration = \"1s\"",
                "[workload.usemem]\nprocesses = 1\nsize = \"1MiB\"",
            )
            .replace("file_read.ops_per_sec", "usemem.bytes_per_sec");
        let own = pilot(results.path(), "pilot", 0.05, 0.0);
        let value = |block, position, _: &str| Some(noisy(1e6, 1.0, 0.001, (block, position)));
        let sharp = campaign(results.path(), "sharp", &other, &value).path().to_owned();
        let text = describe(&plan_of(EXPERIMENT), Some(Percent(1.8)), &[own, sharp]).expect("described");
        assert!(text.contains("; 1.8% of usemem.bytes_per_sec can, in "), "{text}");
    }

    #[test]
    fn a_pilot_without_a_comparison_is_named() {
        let results = tempfile::tempdir().expect("a folder");
        let folder = campaign(results.path(), "none", EXPERIMENT, &|block, _, _| (block == 0).then_some(1.0));
        let error = describe(&plan_of(EXPERIMENT), None, &[folder.path().to_owned()]).expect_err("one block");
        assert!(error.to_string().contains("no complete comparison"), "{error}");
    }
}
