//! fio: the job file is ours, the files lie on the file system under test, and
//! the share of blocks that the generator really touches is reported.
//!
//! The files are written once and dropped from the cache before each run, by
//! one recipe in all arms. The engine is the one asked for or none: a refused
//! io_uring is an error that names its cause.

mod job;
mod parse;
mod refusal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

pub use parse::{FioOutput, FioParseError, Latency, Side, parse};

use super::Context;
use super::Outcome;
use super::WorkloadError;
use super::layout;
use super::phases;
use crate::config::Role;
use crate::config::workload::FioWorkload;
use crate::config::workload::TouchDistribution;
use crate::exec;
use crate::exec::Command;
use crate::exec::Ended;
use crate::exec::ToolName;
use crate::input;
use crate::metric::Measurement;
use crate::metric::measurement;
use crate::model::stream::fio::touched_share;
use crate::store::DriverIdentity;
use crate::store::Violation;
use crate::units::Nanos;

const JOB: &str = "job.fio";
const RESULT: &str = "fio.json";
/// Start, end and the writing of the result, above the run's own time.
const SLACK: Duration = Duration::from_secs(120);
/// The touched share is not computed for more blocks of a file than this.
const MOST_BLOCKS: u64 = 1 << 26;

/// Lays the files out where they are not, drops them from the cache, runs the job.
pub async fn run(config: &FioWorkload, ctx: &Context<'_>) -> Result<Outcome, WorkloadError> {
    let tool = ctx.tools.probe(ToolName::Fio).await?;
    let folder = ctx.data.ok_or_else(|| {
        WorkloadError::Refused("fio needs a file system under test, and this trial was given none".to_owned())
    })?;
    ctx.marks.enter("lay-out");
    let written = layout::prepare(job::files(config, folder), ctx.seed, ctx.cancel).await?;
    let text = job::text(config, folder, ctx.seed);
    ctx.keep(JOB, &text)?;
    let result = ctx.raw.join(RESULT);
    let (ramp, runtime) = (config.ramp.to_duration(), config.runtime.to_duration());
    let mut output_option = std::ffi::OsString::from("--output=");
    output_option.push(&result);
    let mut command = Command::new(&tool.path)
        .args(["--output-format=json", "--eta=never"])
        .arg(output_option)
        .arg(ctx.raw.join(JOB))
        .deadline(ramp + runtime * 2 + SLACK);
    // It leaves state files in the current folder when it is killed.
    command.working_directory = Some(ctx.scratch.to_owned());
    ctx.place(&mut command, Role::Server);
    let plan = [("warm-up", ramp), ("measure", runtime)];
    let output = phases::during(ctx.marks, &plan, exec::run(&command, ctx.cancel)).await?;
    if output.ended == Ended::Cancelled {
        return Err(WorkloadError::Cancelled);
    }
    // It may not have come to writing anything.
    let written_result = match input::read(&result, input::TOOL_OUTPUT) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        other => other.map_err(|source| WorkloadError::Io { what: "read", path: result.clone(), source })?,
    };
    let printed = String::from_utf8_lossy(&written_result);
    let said = format!("{}{}", output.stdout.text(), output.stderr.text());
    let parsed = parse(&printed);
    let clean = output.ended.success() && parsed.as_ref().is_ok_and(|p| p.errors.is_empty());
    if !clean && let Some(reason) = refusal::of_io_uring(&config.engine, parsed.as_ref().ok(), &said) {
        return Err(WorkloadError::Unsupported { reason });
    }
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(_) if !output.ended.success() => {
            let evidence = format!("{said}{printed}").trim().chars().take(1000).collect();
            return Err(WorkloadError::Died { what: "fio".to_owned(), ended: output.ended, evidence });
        }
        Err(error) => return Err(WorkloadError::output("fio", error.to_string(), &printed)),
    };
    Ok(Outcome {
        measurements: measurements(config, &parsed),
        violations: violations(config, &parsed, output.ended, output.wall),
        driver: DriverIdentity { name: "fio".to_owned(), version: parsed.version.clone() },
        parameters: parameters(config, folder, written),
        raw: vec![JOB.to_owned(), RESULT.to_owned()],
    })
}

fn measurements(config: &FioWorkload, output: &FioOutput) -> Vec<Measurement> {
    let mut all = Vec::new();
    for (name, side) in [("read", &output.read), ("write", &output.write)] {
        let Some(side) = side else { continue };
        all.push(measurement(&format!("fio.{name}_iops"), side.iops));
        all.push(measurement(&format!("fio.{name}_bytes_per_sec"), side.bytes_per_second));
        if let Some(latency) = side.latency {
            all.push(measurement(&format!("fio.{name}_latency_mean"), latency.mean_ns));
            all.extend(latency.p99_ns.map(|p| measurement(&format!("fio.{name}_latency_p99"), p)));
        }
    }
    let operations = [output.read, output.write].into_iter().flatten().map(|side| side.operations).sum();
    all.extend(touched(config, operations).map(|share| measurement("fio.touched_share", share)));
    all
}

/// The expected share of blocks touched in ramp and run, where fio's law of drawing is known.
fn touched(config: &FioWorkload, operations: u64) -> Option<f64> {
    let blocks = config.size.0 / config.block.0;
    if !config.rw.starts_with("rand") || !(2..=MOST_BLOCKS).contains(&blocks) || config.runtime.0 == 0 {
        return None;
    }
    let whole = (config.ramp.0 + config.runtime.0) as f64 / config.runtime.0 as f64;
    let operations = operations as f64 * whole;
    let draws = operations / f64::from(config.jobs);
    match config.distribution {
        TouchDistribution::Zipf(theta) => {
            touched_share(blocks, config.jobs.into(), theta, operations as u64).ok()
        }
        TouchDistribution::Random if config.norandommap => {
            Some(-(draws * (-1.0 / blocks as f64).ln_1p()).exp_m1())
        }
        // Each block once before any again.
        TouchDistribution::Random => Some((draws / blocks as f64).min(1.0)),
        TouchDistribution::Pareto(_) | TouchDistribution::Normal(_) => None,
    }
}

fn violations(config: &FioWorkload, output: &FioOutput, ended: Ended, wall: Nanos) -> Vec<Violation> {
    let mut found = Vec::new();
    if !ended.success() {
        let message = "fio wrote a result and did not end well, so the result may be of a part of the work";
        found.push(Violation::new("fio.exit", message, format!("{ended:?}")));
    }
    if !output.errors.is_empty() {
        let lines: Vec<&String> = output.prefix.iter().filter(|line| line.contains("err")).collect();
        let message = "input or output failed during the run; see the lines before the document";
        found.push(Violation::new("fio.io_error", message, format!("errno {:?}: {lines:?}", output.errors)));
    }
    let asked = match config.rw.as_str() {
        "read" | "randread" => vec![("reads", output.read)],
        "write" | "randwrite" => vec![("writes", output.write)],
        _ => vec![("reads", output.read), ("writes", output.write)],
    };
    for (name, side) in asked {
        let Some(side) = side else {
            let message = format!("no {name} were done, so there is nothing to compare");
            found.push(Violation::new("fio.no_operations", message, format!("total_ios of {name} is 0")));
            continue;
        };
        let (ran, runtime) = (side.runtime_ms as f64 / 1e3, config.runtime.as_seconds());
        if (ran - runtime).abs() > (0.05 * runtime).max(0.1) {
            let message = format!("{name} ran for {ran:.3} s instead of {runtime:.3} s; look for other load");
            found.push(Violation::new("fio.runtime", message, format!("runtime {} ms", side.runtime_ms)));
        }
        if side.short > 0 {
            let message =
                format!("some {name} were shorter than a block; the files are not what they should be");
            found.push(Violation::new("fio.short_ios", message, format!("short_ios {}", side.short)));
        }
    }
    if let Some(sum) = output.job_runtime_ms {
        let asked = config.runtime.as_seconds() * 1e3 * f64::from(config.jobs);
        if (sum as f64) < 0.9 * asked {
            let message = format!(
                "the {} jobs together ran shorter than they should: not all of them ran",
                config.jobs
            );
            found.push(Violation::new("fio.jobs", message, format!("job_runtime {sum} ms of {asked:.0} ms")));
        }
    }
    let least = Nanos(config.ramp.0 + config.runtime.0);
    if wall < least {
        let message = format!("fio ended after {wall}, before the {least} of ramp and run");
        found.push(Violation::new("fio.wall_time", message, format!("wall time {wall}")));
    }
    found
}

fn parameters(config: &FioWorkload, folder: &Path, written: usize) -> BTreeMap<String, String> {
    [
        ("jobs", config.jobs.to_string()),
        ("size", config.size.to_string()),
        ("block", config.block.to_string()),
        ("engine", config.engine.clone()),
        ("depth", config.depth.to_string()),
        ("batch_submit", config.batch_submit.to_string()),
        ("batch_complete", config.batch_complete.to_string()),
        ("rw", config.rw.clone()),
        ("distribution", config.distribution.to_fio()),
        ("direct", config.direct.to_string()),
        ("norandommap", config.norandommap.to_string()),
        ("ramp_seconds", config.ramp.as_seconds().to_string()),
        ("runtime_seconds", config.runtime.as_seconds().to_string()),
        ("file_system", super::file_system::name(folder)),
        ("files_laid_out", written.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
