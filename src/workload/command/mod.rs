//! Any program as a workload: timed by the kernel's accounting, with metrics
//! from its output.
//!
//! It runs as written, without a shell. A program that fails or overruns its
//! deadline leaves times that mean nothing: such a run is invalid.

mod extract;

use std::collections::BTreeMap;
use std::time::Duration;

pub use extract::{ExtractError, extract};

use super::Context;
use super::Outcome;
use super::WorkloadError;
use crate::config::Role;
use crate::config::workload::CommandWorkload;
use crate::exec;
use crate::exec::Command;
use crate::exec::Ended;
use crate::exec::Output;
use crate::metric::Measurement;
use crate::metric::measurement;
use crate::store::DriverIdentity;
use crate::store::Violation;
use crate::units::Bytes;

/// Enough for the JSON of any tool that prints its result.
const OUTPUT: Bytes = Bytes::mib(64);
const STDOUT: &str = "command.stdout";
const STDERR: &str = "command.stderr";

/// Runs `prepare` outside the limited cgroup, then the program inside.
pub async fn run(config: &CommandWorkload, ctx: &Context<'_>) -> Result<Outcome, WorkloadError> {
    if !config.prepare.is_empty() {
        ctx.marks.enter("prepare");
        let mut command = command(&config.prepare, config);
        command.cgroups = ctx.unconfined.clone();
        command.die_with_parent = true;
        command.enter = Some(ctx.own_executable.to_owned());
        let output = exec::run(&command, ctx.cancel).await?;
        match output.ended {
            Ended::Cancelled => return Err(WorkloadError::Cancelled),
            ended if !ended.success() => {
                let what = format!("prepare ({})", config.prepare[0]);
                return Err(WorkloadError::Died { what, ended, evidence: tail(&output) });
            }
            _ => {}
        }
    }
    let mut command = command(&config.argv, config);
    ctx.place(&mut command, Role::Server);
    ctx.marks.enter("measure");
    let output = exec::run(&command, ctx.cancel).await;
    ctx.marks.leave();
    let output = output?;
    if output.ended == Ended::Cancelled {
        return Err(WorkloadError::Cancelled);
    }
    let (stdout, stderr) = (output.stdout.text(), output.stderr.text());
    ctx.keep(STDOUT, &stdout)?;
    ctx.keep(STDERR, &stderr)?;
    let mut measurements = accounted(&output);
    let mut violations = Vec::new();
    if output.ended.success() {
        for metric in &config.metrics {
            let value = extract(metric, &stdout, &stderr)
                .map_err(|error| WorkloadError::output("the command", error.to_string(), &stdout))?;
            measurements.push(Measurement { metric: metric.definition.clone(), value });
        }
    } else {
        violations.push(failure(config, &output));
    }
    let program = config.argv.first().cloned().unwrap_or_default();
    Ok(Outcome {
        measurements,
        violations,
        driver: DriverIdentity { name: program, version: "unknown".to_owned() },
        parameters: BTreeMap::from([
            ("argv".to_owned(), format!("{:?}", config.argv)),
            ("prepare".to_owned(), format!("{:?}", config.prepare)),
        ]),
        raw: vec![STDOUT.to_owned(), STDERR.to_owned()],
    })
}

fn command(argv: &[String], config: &CommandWorkload) -> Command {
    let mut command = Command::new("").deadline(config.deadline.to_duration());
    command.argv = argv.iter().map(Into::into).collect();
    command.working_directory = config.working_directory.clone();
    command.output_limit = OUTPUT;
    command.grace = Duration::from_secs(5);
    command
}

/// The kernel's accounts of the program and of its children that it waited for.
fn accounted(output: &Output) -> Vec<Measurement> {
    vec![
        measurement("command.wall_time", output.wall.as_seconds()),
        measurement("command.user_time", output.user.as_seconds()),
        measurement("command.system_time", output.system.as_seconds()),
        measurement("command.max_rss", output.max_rss.0 as f64),
        measurement("command.major_faults", output.major_faults as f64),
        measurement("command.minor_faults", output.minor_faults as f64),
    ]
}

fn failure(config: &CommandWorkload, output: &Output) -> Violation {
    let (rule, message) = match output.ended {
        Ended::Deadline => (
            "command.deadline",
            format!(
                "it was killed after {}; raise workload.command.deadline if it needs longer",
                config.deadline
            ),
        ),
        _ => {
            ("command.exit", "it did not end with success, so its times are not those of the work".to_owned())
        }
    };
    let said = match tail(output) {
        said if said.is_empty() => "it said nothing".to_owned(),
        said => format!("it said: {said}"),
    };
    Violation::new(rule, message, format!("{:?}; {said}", output.ended))
}

/// The last of what was said.
fn tail(output: &Output) -> String {
    let text = output.stderr.text();
    let text = if text.trim().is_empty() { output.stdout.text() } else { text };
    let skipped = text.chars().count().saturating_sub(400);
    text.chars().skip(skipped).collect::<String>().trim().to_owned()
}
