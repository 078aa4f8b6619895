//! Simulated counters over time, in the format of a trial's samples, so that
//! they join with measured ones by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::model::counter::Series;
use crate::store::{Sample, SeriesWriter};
use crate::units::Nanos;

use super::case::Simulated;

/// Writes a file for each run into `folder`; the time is that of `rate` accesses a second.
pub fn write(folder: &Path, runs: &[Simulated], rate: u64) -> anyhow::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let mut written = Vec::new();
    for run in runs {
        let path = folder.join(format!("{}.jsonl", file_name(&run.case.name)));
        let mut writer = SeriesWriter::create(&path)?;
        // Earlier phases are set-up, as in a trial.
        let phases = &run.outcome.phases;
        let before: u64 = phases.iter().rev().skip(1).map(|phase| phase.accesses).sum();
        for sample in samples(&run.outcome.series, before, rate) {
            writer.write(&sample)?;
        }
        writer.finish()?;
        written.push(path);
    }
    Ok(written)
}

/// The rows from access `before` on, under the sampler's names.
fn samples(series: &Series, before: u64, rate: u64) -> impl Iterator<Item = Sample> {
    let names: Vec<String> = series.names.iter().map(|name| sampled_name(name)).collect();
    series.rows.iter().filter(move |(accesses, _)| *accesses >= before).map(move |(accesses, values)| {
        Sample {
            at: Nanos((u128::from(*accesses - before) * 1_000_000_000 / u128::from(rate)) as u64),
            values: names.iter().cloned().zip(values.iter().copied()).collect::<BTreeMap<String, u64>>(),
        }
    })
}

/// Source and name, as the sampler joins them.
fn sampled_name(name: &str) -> String {
    match name {
        "memory.current" => "memory_current.value".to_owned(),
        "memory.swap.current" => "memory_swap_current.value".to_owned(),
        "max" | "oom" => format!("memory_events.{name}"),
        name if name.starts_with("vmstat.") => name.to_owned(),
        name => format!("memory_stat.{name}"),
    }
}

/// A case's name as a file's.
fn file_name(name: &str) -> String {
    let words: Vec<&str> = name
        .split(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)))
        .filter(|w| !w.is_empty())
        .collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_sampler() {
        for (name, sampled) in [
            ("pgscan", "memory_stat.pgscan"),
            ("vmstat.pswpin", "vmstat.pswpin"),
            ("memory.current", "memory_current.value"),
            ("max", "memory_events.max"),
        ] {
            assert_eq!(sampled_name(name), sampled);
        }
        assert_eq!(file_name("mglru 6.12 + flags"), "mglru-6.12-flags");
    }
}
