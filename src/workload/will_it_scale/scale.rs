//! The built-in driver `scale`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;

use super::cases::CaseWork;
use crate::config::Role;
use crate::config::workload::ScaleMode;
use crate::config::workload::WillItScaleWorkload;
use crate::store::Violation;
use crate::workload::Context;
use crate::workload::Outcome;
use crate::workload::WorkloadError;
use crate::workload::builtin;
use crate::workload::builtin::Call;
use crate::workload::builtin::Crew;
use crate::workload::builtin::DriverFault;
use crate::workload::builtin::Shape;
use crate::workload::builtin::Slot;
use crate::workload::builtin::Timing;
use crate::workload::phases;

/// The driver's name on the command line.
pub const DRIVER: &str = "scale";
const RAW: &str = "scale.json";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    crew: Crew,
    work: CaseWork,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    seconds: f64,
    slots: Vec<Slot>,
}

/// The driver process.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    builtin::answer::<Request, CaseWork, Answer>(arguments, |request| {
        if request.work.needs_shared_file() {
            request.work.make_shared_file()?;
        }
        let outcome = request.crew.run(&request.work);
        if request.work.needs_shared_file() {
            let path = &request.work.shared;
            std::fs::remove_file(path).map_err(DriverFault::file("remove", path))?;
        }
        let (slots, elapsed) = outcome?;
        Ok(Answer { seconds: elapsed.as_secs_f64(), slots })
    })
}

/// Processors that this process may use.
pub(super) fn allowed_cpus() -> Result<u32, WorkloadError> {
    let cpus = builtin::allowed_cpus().map_err(|fault| WorkloadError::Refused(fault.to_string()))?;
    Ok(cpus.len() as u32)
}

pub(super) async fn run(config: &WillItScaleWorkload, ctx: &Context<'_>) -> Result<Outcome, WorkloadError> {
    let tasks = config.tasks.on(allowed_cpus()?);
    let (warm_up, measure) = (config.warm_up.to_duration(), config.duration.to_duration());
    let shape = match config.mode {
        ScaleMode::Process => Shape::Processes,
        ScaleMode::Thread => Shape::Threads,
    };
    // A name that no other run can have taken.
    let shared = config.folder.join(format!("run-bench-scale-{}-{:016x}", std::process::id(), ctx.seed));
    let work = CaseWork { case: config.case, folder: config.folder.clone(), shared: shared.clone() };
    let crew = Crew { tasks, shape, timing: Timing::Interval { warm_up, measure }, pin: true };
    let deadline = warm_up + measure * 2 + Duration::from_secs(60);
    let call = Call { driver: DRIVER, role: Some(Role::Server), deadline, prefix: &[] };
    let _cleaner = Removed(shared);
    let plan = [("warm-up", warm_up), ("measure", measure)];
    let request = Request { crew, work };
    let called = builtin::call::<_, Answer>(ctx, call, &request);
    let (answer, output) = phases::during(ctx.marks, &plan, called).await?;
    ctx.keep(RAW, &output.stdout.text())?;
    let mut parameters = super::parameters(config, tasks, &config.folder);
    parameters.insert("duration_seconds".to_owned(), measure.as_secs_f64().to_string());
    parameters.insert("warm_up_seconds".to_owned(), warm_up.as_secs_f64().to_string());
    let total: u64 = answer.slots.iter().map(|slot| slot.operations).sum();
    Ok(Outcome {
        measurements: super::measurements(config, total as f64 / answer.seconds, tasks),
        violations: violations(&answer, tasks, measure),
        driver: builtin::identity(DRIVER),
        parameters,
        raw: vec![RAW.to_owned()],
    })
}

fn violations(answer: &Answer, tasks: u32, measure: Duration) -> Vec<Violation> {
    let operations: Vec<u64> = answer.slots.iter().map(|slot| slot.operations).collect();
    let idle =
        operations.iter().filter(|n| **n == 0).count() + (tasks as usize).saturating_sub(operations.len());
    let mut found = Vec::new();
    found.extend(super::idle_tasks(idle, tasks, format!("operations of each task: {operations:?}")));
    found.extend(builtin::interval_violation("will_it_scale.duration", answer.seconds, measure));
    found
}

/// A file that must not outlive the run, even when the driver was killed.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // The driver removes it itself when it ends well.
        let _ = std::fs::remove_file(&self.0);
    }
}
