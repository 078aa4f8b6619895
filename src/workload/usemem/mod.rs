//! usemem: processes that touch anonymous memory of their own, in passes, and
//! then free it.
//!
//! A touch writes one word in each cache line of a page, with values that do not
//! repeat, so that swapped pages are neither zero nor equal. Reported are the
//! bytes touched per second of all processes, and the time to unmap a page.

mod touch;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;
use touch::TouchWork;

use super::Context;
use super::Outcome;
use super::WorkloadError;
use super::builtin;
use super::builtin::Call;
use super::builtin::Crew;
use super::builtin::Shape;
use super::builtin::Slot;
use super::builtin::Timing;
use crate::config::Role;
use crate::config::workload::UsememWorkload;
use crate::metric::measurement;
use crate::store::Violation;
use crate::units::PAGE_SIZE;

/// The driver's name on the command line.
pub const DRIVER: &str = "usemem";
const RAW: &str = "usemem.json";
/// Swapping at its slowest, for the deadline: bytes per second of all processes.
const SLOWEST: u64 = 4 << 20;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    crew: Crew,
    work: TouchWork,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    slots: Vec<Slot>,
}

/// The driver process.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    builtin::answer::<Request, TouchWork, Answer>(arguments, |request| {
        Ok(Answer { slots: request.crew.run(&request.work)?.0 })
    })
}

/// Runs the processes once.
pub async fn run(config: &UsememWorkload, ctx: &Context<'_>) -> Result<Outcome, WorkloadError> {
    let pages = config.size.to_pages();
    let work = TouchWork { pages: pages.0, order: config.order, passes: config.passes, seed: ctx.seed };
    let crew =
        Crew { tasks: config.processes, shape: Shape::Processes, timing: Timing::UntilDone, pin: false };
    let touched = u128::from(pages.0) * u128::from(config.processes) * u128::from(config.passes);
    let longest = touched * u128::from(PAGE_SIZE) / u128::from(SLOWEST);
    let deadline = Duration::from_secs(60 + u64::try_from(longest).unwrap_or(u64::MAX / 4));
    let call = Call { driver: DRIVER, role: Some(Role::Server), deadline, prefix: &[] };
    ctx.marks.enter("measure");
    let called = builtin::call::<_, Answer>(ctx, call, &Request { crew, work }).await;
    ctx.marks.leave();
    let (answer, output) = called?;
    ctx.keep(RAW, &output.stdout.text())?;
    let order = match config.order {
        crate::config::workload::AccessOrder::Sequential => "sequential",
        crate::config::workload::AccessOrder::Random => "random",
    };
    let parameters = BTreeMap::from([
        ("processes".to_owned(), config.processes.to_string()),
        ("size".to_owned(), pages.to_bytes().to_string()),
        ("order".to_owned(), order.to_owned()),
        ("passes".to_owned(), config.passes.to_string()),
    ]);
    Ok(summarise(config, pages.0, &answer, parameters))
}

fn summarise(
    config: &UsememWorkload,
    pages: u64,
    answer: &Answer,
    parameters: BTreeMap<String, String>,
) -> Outcome {
    let times = |word: usize| answer.slots.iter().map(move |slot| slot.results[word]);
    let touched: u64 = answer.slots.iter().map(|slot| slot.operations).sum();
    let slowest = times(touch::TOUCH_NANOS).max().unwrap_or(0);
    let freed: u64 = times(touch::FREE_NANOS).sum();
    let mut violations = Vec::new();
    let asked = pages * u64::from(config.passes);
    for (slot, index) in answer.slots.iter().zip(0u32..).filter(|(slot, _)| slot.operations != asked) {
        violations.push(Violation::new(
            "usemem.touched",
            format!(
                "process {index} touched other than the {asked} pages asked for, so the load was another"
            ),
            format!("{} pages", slot.operations),
        ));
    }
    Outcome {
        measurements: vec![
            measurement("usemem.bytes_per_sec", (touched * PAGE_SIZE) as f64 / (slowest as f64 / 1e9)),
            measurement("usemem.free_latency", freed as f64 / (pages * u64::from(config.processes)) as f64),
        ],
        violations,
        driver: builtin::identity(DRIVER),
        parameters,
        raw: vec![RAW.to_owned()],
    }
}
