//! The real programs of will-it-scale.

use std::path::Path;
use std::time::Duration;

use super::ProgramOutput;
use super::parse_program;
use crate::config::Role;
use crate::config::workload::ScaleMode;
use crate::config::workload::WillItScaleWorkload;
use crate::exec;
use crate::exec::Command;
use crate::exec::Ended;
use crate::exec::Output;
use crate::store::DriverIdentity;
use crate::store::Violation;
use crate::workload::Context;
use crate::workload::Outcome;
use crate::workload::WorkloadError;
use crate::workload::phases;

/// Seconds of warm-up, fixed in the programs: five, and one that is printed but not counted.
const WARM_UP: Duration = Duration::from_secs(6);
/// Where the programs make their files, fixed in them.
const FOLDER: &str = "/tmp";
const RAW: &str = "will-it-scale.txt";

/// The program of a case and mode.
pub(super) fn name(config: &WillItScaleWorkload) -> String {
    let mode = match config.mode {
        ScaleMode::Process => "processes",
        ScaleMode::Thread => "threads",
    };
    format!("{}_{mode}", config.case.name())
}

pub(super) async fn run(
    config: &WillItScaleWorkload,
    path: &Path,
    ctx: &Context<'_>,
) -> Result<Outcome, WorkloadError> {
    let tasks = config.tasks.on(super::scale::allowed_cpus()?);
    let seconds = config.duration.as_seconds().round().max(1.0) as u64;
    let measure = Duration::from_secs(seconds);
    let mut command = Command::new(path)
        .args(["-t", &tasks.to_string(), "-s", &seconds.to_string()])
        .deadline(WARM_UP + measure * 2 + Duration::from_secs(30));
    ctx.place(&mut command, Role::Server);
    let plan = [("warm-up", WARM_UP), ("measure", measure)];
    let output = phases::during(ctx.marks, &plan, exec::run(&command, ctx.cancel)).await?;
    let printed = output.stdout.text();
    ctx.keep(RAW, &printed)?;
    if output.ended == Ended::Cancelled {
        return Err(WorkloadError::Cancelled);
    }
    if !output.ended.success() {
        let evidence = format!("{}{}", printed, output.stderr.text());
        return Err(WorkloadError::Died { what: name(config), ended: output.ended, evidence });
    }
    let parsed = parse_program(&printed)
        .map_err(|error| WorkloadError::output("will-it-scale", error.to_string(), &printed))?;
    let mut parameters = super::parameters(config, tasks, Path::new(FOLDER));
    parameters.insert("duration_seconds".to_owned(), seconds.to_string());
    parameters.insert("warm_up_seconds".to_owned(), WARM_UP.as_secs().to_string());
    Ok(Outcome {
        measurements: super::measurements(config, parsed.average as f64, tasks),
        violations: violations(&parsed, tasks, seconds, &output),
        driver: DriverIdentity { name: "will-it-scale".to_owned(), version: "unknown".to_owned() },
        parameters,
        raw: vec![RAW.to_owned()],
    })
}

/// The validity rules, on what the program printed and on its clock.
pub(super) fn violations(
    parsed: &ProgramOutput,
    tasks: u32,
    seconds: u64,
    output: &Output,
) -> Vec<Violation> {
    let mut found = Vec::new();
    if parsed.average == 0 {
        found.push(Violation::new(
            "will_it_scale.no_operations",
            "no operation was done, so there is nothing to compare; see the raw output",
            format!("average:{}", parsed.average),
        ));
    }
    if parsed.seconds.len() as u64 != seconds {
        found.push(Violation::new(
            "will_it_scale.duration",
            format!("{} seconds were measured, not the {seconds} asked for", parsed.seconds.len()),
            format!("{} lines after \"measurement\"", parsed.seconds.len()),
        ));
    }
    let idle = parsed.seconds.iter().filter(|s| s.min == 0).count();
    // The program prints only the slowest task of each second.
    if idle == parsed.seconds.len() {
        found.extend(super::idle_tasks(1, tasks, format!("min:0 in all {idle} seconds")));
    }
    let least = Duration::from_secs(seconds) + WARM_UP;
    if output.wall.to_duration() < least {
        found.push(Violation::new(
            "will_it_scale.wall_time",
            format!(
                "it ended after {}, before the {} s that warm-up and measurement take",
                output.wall,
                least.as_secs()
            ),
            format!("wall time {}", output.wall),
        ));
    }
    found
}
