//! Beside a trial, where the experiment asks for it: what `perf stat` counts on
//! all processors during the measured phases, and a profile of where they were.
//!
//! Both serve to explain a change after the fact and decide nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tokio_util::sync::CancellationToken;

use crate::config::SampleSection;
use crate::exec::{self, Command, ExecError, Running, ToolName, Tools};
use crate::store::CounterChange;
use crate::store::write_file;

const STAT: &str = "perf-stat.csv";
const DATA: &str = "perf.data";
const PROFILE: &str = "perf-profile.txt";
/// Those that a processor or a guest lacks are left out of the record.
const EVENTS: &str = "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,\
                      cache-references,cache-misses,dTLB-load-misses,branch-misses";
/// Samples a second and processor: few enough to cost well below 1%, and not in step with the tick.
const RATE: &str = "99";
const PATIENCE: Duration = Duration::from_secs(20);

/// The perf processes of one trial; they count only between `enable` and `disable`.
#[derive(Debug)]
pub(super) struct Perf {
    running: Vec<Running>,
    controls: Vec<File>,
}

/// Starts what `sample` asks for, counting nothing yet. An error says why perf cannot serve.
pub(super) async fn start(
    sample: &SampleSection,
    tools: &Tools,
    raw: &Path,
    scratch: &Path,
) -> Result<Option<Perf>, String> {
    let wanted = [(sample.perf, "stat"), (sample.profile, "record")];
    let mut perf = Perf { running: Vec::new(), controls: Vec::new() };
    for (_, what) in wanted.into_iter().filter(|(wanted, _)| *wanted) {
        let told = |error: &dyn std::fmt::Display| {
            format!("perf {what}: {error}; take sample.perf and sample.profile out to run without")
        };
        let program = tools.find(ToolName::Perf).map_err(|error| told(&error))?;
        let control = scratch.join(format!("perf-{what}"));
        mknodat(CWD, &control, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .map_err(|error| told(&error))?;
        // Open for both, so that neither side waits for the other.
        let end = File::options().read(true).write(true).open(&control).map_err(|error| told(&error))?;
        let fifo = format!("fifo:{}", control.display());
        let mut command = Command::new(program).args([what, "-a", "-D", "-1", "--control", &fifo, "-o"]);
        command = match what {
            "stat" => command.args([&raw.join(STAT).display().to_string(), "-x", ",", "-e", EVENTS]),
            _ => command.args([&raw.join(DATA).display().to_string(), "-g", "-F", RATE]),
        };
        command.die_with_parent = true;
        let mut running = exec::spawn(&command).await.map_err(|error| told(&error))?;
        // What it may not do, perf says at once.
        tokio::time::sleep(Duration::from_millis(300)).await;
        if running.has_ended().is_some() {
            let (_, stderr) = running.last_words().await;
            return Err(told(&stderr.text().trim().lines().next().unwrap_or("it ended at once").to_owned()));
        }
        perf.running.push(running);
        perf.controls.push(end);
    }
    Ok((!perf.running.is_empty()).then_some(perf))
}

impl Perf {
    /// Counts from here on, or no longer.
    pub(super) fn count(&self, on: bool) {
        for mut control in &self.controls {
            // perf that has died is found out at the end.
            let _ = control.write_all(if on { b"enable\n" } else { b"disable\n" });
        }
    }

    /// Ends perf and reads what it counted; the names begin with `perf.`.
    pub(super) async fn finish(
        self,
        tools: &Tools,
        raw: &Path,
    ) -> Result<(BTreeMap<String, CounterChange>, Vec<String>), ExecError> {
        for mut running in self.running {
            if let Some(pid) = i32::try_from(running.pid()).ok().and_then(Pid::from_raw) {
                // Only an interrupt makes it write its numbers; it may have ended by itself.
                let _ = kill_process(pid, Signal::INT);
            }
            let _ = tokio::time::timeout(PATIENCE, running.ended()).await;
            running.stop(Duration::from_secs(1)).await?;
        }
        let mut kept = Vec::new();
        let mut counters = BTreeMap::new();
        if let Ok(text) = std::fs::read_to_string(raw.join(STAT)) {
            counters = parse(&text);
            kept.push(STAT.to_owned());
        }
        if raw.join(DATA).exists() {
            profile(tools, raw).await?;
            kept.push(PROFILE.to_owned());
        }
        Ok((counters, kept))
    }
}

/// Turns the samples, which only this host's symbols explain, into a text.
async fn profile(tools: &Tools, raw: &Path) -> Result<(), ExecError> {
    let data = raw.join(DATA).display().to_string();
    let arguments =
        ["report", "--stdio", "--no-children", "-g", "none", "--percent-limit", "0.2", "-i", &data];
    let command = Command::new(tools.find(ToolName::Perf)?).args(arguments).deadline(PATIENCE);
    let output = exec::run(&command, &CancellationToken::new()).await?;
    // A profile that cannot be written is missed by nobody but its reader.
    let _ = write_file(&raw.join(PROFILE), output.stdout.text().as_bytes());
    let _ = std::fs::remove_file(&data);
    Ok(())
}

/// The counts of `perf stat -x ,`: value, unit, event, and more.
fn parse(text: &str) -> BTreeMap<String, CounterChange> {
    let mut counters = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split(',');
        let (Some(value), Some(unit), Some(event)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let Ok(value) = value.parse::<f64>() else { continue };
        if event.is_empty() || !(0.0..=9e15).contains(&value) {
            continue;
        }
        let unit = if unit.is_empty() { String::new() } else { format!("_{unit}") };
        counters
            .insert(format!("perf.{event}{unit}"), CounterChange { before: 0, after: value.round() as u64 });
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_what_is_not_supported_is_left_out() {
        let text = "# started on Sat Jan 31 10:15:00 2026\n\n1203.51,msec,task-clock,1203509000,100.00,1.2,CPUs utilized\n\
                    512,,context-switches,1203509000,100.00,0.4,K/sec\n<not supported>,,cycles,0,100.00,,\n\
                    <not counted>,,instructions,0,0.00,,\nnonsense\n";
        let counters = parse(text);
        let after: Vec<(&str, u64)> = counters.iter().map(|(name, c)| (name.as_str(), c.after)).collect();
        assert_eq!(after, [("perf.context-switches", 512), ("perf.task-clock_msec", 1204)]);
    }

    #[tokio::test]
    async fn without_perf_the_reason_and_the_way_out_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let none = Tools::in_folders([]);
        let mut sample = SampleSection::default();
        assert!(start(&sample, &none, folder.path(), folder.path()).await.expect("nothing asked").is_none());
        sample.perf = true;
        let error = start(&sample, &none, folder.path(), folder.path()).await.expect_err("no perf");
        assert!(error.contains("linux-perf") && error.contains("take sample.perf"), "{error}");
    }
}
