//! Counter samples of one block, both arms, as lines over time.

use std::collections::BTreeSet;

use crate::analyze::CampaignAnalysis;
use crate::metric::{CounterKind, Unit, counter_kind};
use crate::store::{CampaignFolder, Sample, SeriesReader, TrialRecord};
use crate::units::Nanos;

/// Panels at most.
const MOST_COUNTERS: usize = 6;
/// Points of one line at most; more are averaged.
const MOST_POINTS: usize = 110;
/// Shown where the counters that moved do not fill the panels.
const USUAL: [&str; 10] = [
    "memory_current.value",
    "memory_stat.pgscan",
    "memory_stat.pgsteal",
    "memory_stat.workingset_refault_anon",
    "memory_stat.workingset_refault_file",
    "memory_stat.pgmajfault",
    "memory_stat.pgfault",
    "vmstat.pswpout",
    "vmstat.pswpin",
    "vmstat.nr_free_pages",
];
/// The phase that is shown.
const MEASURED: &str = "measure";

/// One counter of one arm.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterLine {
    pub arm: String,
    /// Counted by the model, not measured.
    pub simulated: bool,
    /// Seconds since the measured phase began, and a level or a rate per second.
    pub points: Vec<(f64, f64)>,
}

/// One counter of both arms.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterPanel {
    pub counter: String,
    pub unit: Unit,
    pub kind: CounterKind,
    pub lines: Vec<CounterLine>,
}

/// The panels of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockSeries {
    pub block: u32,
    pub workload: String,
    pub panels: Vec<CounterPanel>,
}

/// The block whose difference is the middle one of the first deciding
/// comparison; `None` without samples.
pub fn middle_block(
    analysis: &CampaignAnalysis,
    folder: &CampaignFolder,
    records: &[TrialRecord],
) -> Option<BlockSeries> {
    let comparison = analysis.deciding().next()?;
    let mut blocks = comparison.blocks.clone();
    blocks.sort_by(|a, b| a.difference.total_cmp(&b.difference));
    let block = blocks.get(blocks.len().checked_sub(1)? / 2)?.block;
    let arms = [&comparison.baseline.arm, &comparison.candidate.arm];
    let mut samples = Vec::new();
    let mut simulated = Vec::new();
    for arm in arms {
        let first = records.iter().find(|r| {
            let id = &r.spec.id;
            r.counts() && id.block == block && id.workload == comparison.workload && id.arm == *arm
        })?;
        let path = folder.create_trial(&first.spec.id).ok()?.series_path();
        let found = measured(first, SeriesReader::read(&path).ok()?);
        if found.len() > 2 {
            let path = folder.simulated_path(&comparison.workload, arm);
            simulated
                .extend(SeriesReader::read(&path).ok().map(|made| (arm.clone(), stretched(made, &found))));
            samples.push((arm.clone(), found));
        }
    }
    let panel = |counter| panel(counter, &samples, &simulated);
    let panels: Vec<CounterPanel> = chosen(analysis, &samples).into_iter().map(panel).collect();
    (!panels.is_empty()).then(|| BlockSeries { block, workload: comparison.workload.clone(), panels })
}

/// Samples of the measured phase, counted from its start.
fn measured(record: &TrialRecord, mut samples: Vec<Sample>) -> Vec<Sample> {
    if let Some(phase) = record.phases.iter().find(|p| p.name == MEASURED) {
        samples.retain(|s| phase.start <= s.at && s.at <= phase.end);
        for sample in &mut samples {
            sample.at = Nanos(sample.at.0 - phase.start.0);
        }
    }
    samples
}

/// Simulated samples over the time that was measured: no clock runs in the model, so
/// its accesses are taken to be spread evenly.
fn stretched(mut simulated: Vec<Sample>, measured: &[Sample]) -> Vec<Sample> {
    let end = |samples: &[Sample]| samples.last().map_or(0, |sample| sample.at.0);
    let (from, to) = (end(&simulated).max(1), end(measured));
    for sample in &mut simulated {
        sample.at = Nanos((u128::from(sample.at.0) * u128::from(to) / u128::from(from)) as u64);
    }
    simulated
}

/// Counters that moved, then the usual ones; only those that are not always zero.
fn chosen(analysis: &CampaignAnalysis, samples: &[(String, Vec<Sample>)]) -> Vec<String> {
    let alive: BTreeSet<&String> = samples
        .iter()
        .flat_map(|(_, samples)| {
            let (first, last) = (samples.first(), samples.last());
            first.into_iter().zip(last).flat_map(|(first, last)| {
                last.values.iter().filter(|(name, value)| {
                    let level = counter_kind(bare(name)) == CounterKind::Level || is_size(name);
                    **value > 0 && (level || first.values.get(*name) != Some(value))
                })
            })
        })
        .map(|(name, _)| name)
        .collect();
    let moved = analysis.counters.iter().filter(|c| c.moved()).map(|c| c.counter.as_str());
    let mut chosen: Vec<String> = Vec::new();
    for name in moved.take(MOST_COUNTERS / 2).chain(USUAL) {
        let name = name.to_owned();
        if chosen.len() < MOST_COUNTERS && alive.contains(&name) && !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    chosen
}

fn panel(
    counter: String,
    measured: &[(String, Vec<Sample>)],
    simulated: &[(String, Vec<Sample>)],
) -> CounterPanel {
    let kind = if is_size(&counter) { CounterKind::Level } else { counter_kind(bare(&counter)) };
    let of = |(arm, samples): &(String, Vec<Sample>), simulated| CounterLine {
        arm: arm.clone(),
        simulated,
        points: thin(line(&counter, kind, samples)),
    };
    let lines = measured.iter().map(|line| of(line, false));
    let made = simulated.iter().map(|line| of(line, true)).filter(|line| line.points.len() > 1);
    let lines = lines.chain(made).collect();
    CounterPanel { unit: unit(&counter, kind), counter, kind, lines }
}

fn line(counter: &str, kind: CounterKind, samples: &[Sample]) -> Vec<(f64, f64)> {
    let values: Vec<(f64, f64)> =
        samples.iter().filter_map(|s| Some((s.at.as_seconds(), *s.values.get(counter)? as f64))).collect();
    match kind {
        CounterKind::Level => values,
        CounterKind::Cumulative => values
            .windows(2)
            .filter(|w| w[1].0 > w[0].0)
            .map(|w| (w[1].0, (w[1].1 - w[0].1).max(0.0) / (w[1].0 - w[0].0)))
            .collect(),
    }
}

/// Means of neighbours, so that a long trial does not become a black band.
fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let size = points.len().div_ceil(MOST_POINTS).max(1);
    points
        .chunks(size)
        .map(|chunk| {
            let n = chunk.len() as f64;
            (chunk.iter().map(|p| p.0).sum::<f64>() / n, chunk.iter().map(|p| p.1).sum::<f64>() / n)
        })
        .collect()
}

/// The kernel's name without the source.
pub fn bare(counter: &str) -> &str {
    counter.split_once('.').map_or(counter, |(_, name)| name)
}

/// Files of one number are the size of something.
fn is_size(counter: &str) -> bool {
    let source = counter.split('.').next().unwrap_or(counter);
    matches!(source, "memory_current" | "memory_swap_current")
}

fn unit(counter: &str, kind: CounterKind) -> Unit {
    match kind {
        CounterKind::Cumulative => Unit::PerSecond,
        CounterKind::Level if is_size(counter) || counter.starts_with("memory_stat.") => Unit::Bytes,
        CounterKind::Level if bare(counter).starts_with("nr_") => Unit::Pages,
        CounterKind::Level => Unit::Count,
    }
}

/// Writes paths of kernel counters as people say them.
pub fn counter_name(counter: &str) -> String {
    if is_size(counter) {
        return counter.split('.').next().unwrap_or(counter).replacen('_', ".", 1).replace("swap_", "swap.");
    }
    counter.replacen("memory_stat.", "memory.stat ", 1).replacen("vmstat.", "vmstat ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(times: &[u64], values: &[u64]) -> Vec<Sample> {
        let sample = |(at, value): (&u64, &u64)| Sample {
            at: Nanos(*at),
            values: [("memory_stat.pgscan".to_owned(), *value)].into(),
        };
        times.iter().zip(values).map(sample).collect()
    }

    #[test]
    fn simulated_lines_take_the_measured_time() {
        let second = 1_000_000_000;
        let measured = samples(&[0, second, 2 * second], &[0, 90, 210]);
        let made = stretched(samples(&[0, 500, 1000], &[0, 100, 200]), &measured);
        assert_eq!(made[1].at, Nanos(second));
        let panel = panel(
            "memory_stat.pgscan".to_owned(),
            &[("a".to_owned(), measured)],
            &[("a".to_owned(), made), ("b".to_owned(), Vec::new())],
        );
        assert_eq!(panel.lines.len(), 2, "an empty simulation makes no line");
        assert!(!panel.lines[0].simulated && panel.lines[1].simulated);
        assert_eq!(panel.lines[1].points, [(1.0, 100.0), (2.0, 100.0)]);
    }
}
