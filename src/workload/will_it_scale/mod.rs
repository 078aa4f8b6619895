//! will-it-scale: one small operation in many tasks, by the real programs or
//! by built-in cases of the same meaning.
//!
//! The real programs are run directly, at the number of tasks asked for; the
//! runner script would sweep all numbers. Both pin one task to a processor,
//! warm up, and report operations per second of all tasks.

mod cases;
mod parse;
mod program;
mod scale;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use parse::{ProgramOutput, Row, ScaleParseError, Second, parse_program, parse_table};
pub use scale::{DRIVER, main};

use super::Context;
use super::Outcome;
use super::WorkloadError;
use crate::config::workload::Driver;
use crate::config::workload::ScaleMode;
use crate::config::workload::WillItScaleWorkload;
use crate::metric::Measurement;
use crate::metric::measurement;
use crate::store::Violation;

/// Runs the case once.
pub async fn run(config: &WillItScaleWorkload, ctx: &Context<'_>) -> Result<Outcome, WorkloadError> {
    let program = program::name(config);
    match (config.driver, ctx.tools.find_program(&program)) {
        (Driver::Tool | Driver::Auto, Some(path)) => program::run(config, &path, ctx).await,
        (Driver::Tool, None) => Err(WorkloadError::Refused(format!(
            "will-it-scale's {program} is not installed, and driver = \"tool\" asks for it; name its folder in \
             RUN_BENCH_TOOLS, or write driver = \"builtin\" in every arm"
        ))),
        (Driver::Builtin | Driver::Auto, _) => scale::run(config, ctx).await,
    }
}

/// The metrics of `per_second` operations by all of `tasks`.
fn measurements(config: &WillItScaleWorkload, per_second: f64, tasks: u32) -> Vec<Measurement> {
    let of_one = match config.mode {
        ScaleMode::Process => "will_it_scale.per_process_ops",
        ScaleMode::Thread => "will_it_scale.per_thread_ops",
    };
    vec![
        measurement(of_one, per_second / f64::from(tasks)),
        measurement("will_it_scale.workload", per_second),
    ]
}

/// Parameters that both drivers record.
fn parameters(
    config: &WillItScaleWorkload,
    tasks: u32,
    folder: &std::path::Path,
) -> BTreeMap<String, String> {
    let mode = match config.mode {
        ScaleMode::Process => "process",
        ScaleMode::Thread => "thread",
    };
    BTreeMap::from([
        ("case".to_owned(), config.case.name().to_owned()),
        ("mode".to_owned(), mode.to_owned()),
        ("tasks".to_owned(), tasks.to_string()),
        ("folder".to_owned(), folder.display().to_string()),
        ("folder_file_system".to_owned(), super::file_system::name(folder)),
    ])
}

/// A task that did nothing was not there.
fn idle_tasks(idle: usize, tasks: u32, evidence: String) -> Option<Violation> {
    (idle > 0).then(|| {
        let message = format!(
            "{idle} of {tasks} tasks did no operation in the measured interval, so the load was not the one asked \
             for; check that as many processors are allowed and that memory suffices"
        );
        Violation::new("will_it_scale.idle_tasks", message, evidence)
    })
}
