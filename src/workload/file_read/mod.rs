//! file_read: processes that read one file, larger than the cgroup, through the
//! page cache. It needs no privilege.
//!
//! The file is laid out once and dropped from the cache before each run.

mod read;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use read::ReadWork;
use serde::Deserialize;
use serde::Serialize;

use super::Context;
use super::Outcome;
use super::WorkloadError;
use super::builtin;
use super::builtin::Call;
use super::builtin::Crew;
use super::builtin::Shape;
use super::builtin::Slot;
use super::builtin::Timing;
use super::file_system;
use super::layout;
use super::layout::DataFile;
use super::phases;
use crate::config::Role;
use crate::config::workload::AccessOrder;
use crate::config::workload::FileReadWorkload;
use crate::metric::measurement;
use crate::store::Violation;

/// The driver's name on the command line.
pub const DRIVER: &str = "file-read";
const RAW: &str = "file-read.json";
const DATA: &str = "file-read.data";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    crew: Crew,
    work: ReadWork,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    seconds: f64,
    slots: Vec<Slot>,
}

/// The driver process.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    builtin::answer::<Request, ReadWork, Answer>(arguments, |request| {
        let (slots, elapsed) = request.crew.run(&request.work)?;
        Ok(Answer { seconds: elapsed.as_secs_f64(), slots })
    })
}

/// Lays the file out where it is not, and reads it for the time asked for.
pub async fn run(config: &FileReadWorkload, ctx: &Context<'_>) -> Result<Outcome, WorkloadError> {
    let place = file_system::for_files(ctx)?;
    let folder = place.path();
    let file = DataFile { path: folder.join(DATA), size: config.size };
    ctx.marks.enter("lay-out");
    let written = layout::prepare(vec![file.clone()], ctx.seed, ctx.cancel).await?;
    let (warm_up, measure) = (config.warm_up.to_duration(), config.duration.to_duration());
    let work = ReadWork {
        path: file.path,
        size: config.size.0,
        block: config.block.0,
        order: config.order,
        seed: ctx.seed,
    };
    let crew = Crew {
        tasks: config.tasks,
        shape: Shape::Processes,
        timing: Timing::Interval { warm_up, measure },
        pin: false,
    };
    let deadline = warm_up + measure * 2 + Duration::from_secs(60);
    let call = Call { driver: DRIVER, role: Some(Role::Server), deadline, prefix: &[] };
    let request = Request { crew, work };
    let called = builtin::call::<_, Answer>(ctx, call, &request);
    let plan = [("warm-up", warm_up), ("measure", measure)];
    let (answer, output) = phases::during(ctx.marks, &plan, called).await?;
    ctx.keep(RAW, &output.stdout.text())?;
    let order = match config.order {
        AccessOrder::Sequential => "sequential",
        AccessOrder::Random => "random",
    };
    let parameters = BTreeMap::from([
        ("tasks".to_owned(), config.tasks.to_string()),
        ("size".to_owned(), config.size.to_string()),
        ("block".to_owned(), config.block.to_string()),
        ("order".to_owned(), order.to_owned()),
        ("file_system".to_owned(), file_system::name(folder)),
        ("laid_out".to_owned(), (written > 0).to_string()),
    ]);
    let operations: u64 = answer.slots.iter().map(|slot| slot.operations).sum();
    let per_second = operations as f64 / answer.seconds;
    Ok(Outcome {
        measurements: vec![
            measurement("file_read.ops_per_sec", per_second),
            measurement("file_read.bytes_per_sec", per_second * config.block.0 as f64),
        ],
        violations: violations(&answer, measure),
        driver: builtin::identity(DRIVER),
        parameters,
        raw: vec![RAW.to_owned()],
    })
}

fn violations(answer: &Answer, measure: Duration) -> Vec<Violation> {
    let operations: Vec<u64> = answer.slots.iter().map(|slot| slot.operations).collect();
    let mut found = Vec::new();
    if operations.contains(&0) {
        found.push(Violation::new(
            "file_read.idle_tasks",
            "a task read nothing in the measured interval, so the load was not the one asked for; measure for longer",
            format!("reads of each task: {operations:?}"),
        ));
    }
    found.extend(builtin::interval_violation("file_read.duration", answer.seconds, measure));
    found
}
