//! The driver process of the probe.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use rustix::thread::CpuSet;
use serde::Deserialize;
use serde::Serialize;

use super::ballast;
use super::controller::Controller;
use super::controller::Method;
use super::population::Recipe;
use super::vmstat::Counts;
use crate::config::workload::ListOrder;
use crate::config::workload::Population;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::workload::builtin;
use crate::workload::builtin::DriverFault;

/// The driver's name on the command line.
pub const DRIVER: &str = "reclaim-probe";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    /// The cgroups to join once the ballast is taken.
    pub(super) join: Vec<PathBuf>,
    pub(super) controller: PathBuf,
    pub(super) method: Method,
    pub(super) population: Population,
    pub(super) size: Bytes,
    pub(super) reclaim: Bytes,
    pub(super) order: ListOrder,
    pub(super) referenced: f64,
    pub(super) repetitions: u32,
    pub(super) file: PathBuf,
    pub(super) seed: u64,
}

/// One timed reclaim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repetition {
    pub(super) nanos: Nanos,
    pub(super) processor: Nanos,
    pub(super) scanned: u64,
    pub(super) stolen: u64,
    pub(super) usage_before: u64,
    pub(super) usage_after: u64,
    pub(super) fell_short: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) repetitions: Vec<Repetition>,
    /// Of the untimed first fill; see `Filled::adjacent_share`.
    pub(super) adjacent_share: Option<f64>,
    pub(super) cpus: u32,
}

/// The driver process.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    builtin::answer_alone(DRIVER, arguments, run)
}

fn run(request: Request) -> Result<Answer, DriverFault> {
    let allowed = builtin::allowed_cpus()?;
    let pages = request.size.to_pages();
    pin(allowed[0])?;
    let ballast = ballast::take(pages, request.order, request.seed)?;
    for folder in &request.join {
        let procs = folder.join("cgroup.procs");
        std::fs::write(&procs, std::process::id().to_string()).map_err(DriverFault::file("join", &procs))?;
    }
    let controller = Controller::open(&request.controller, request.method)?;
    let mut recipe = Recipe {
        kind: request.population,
        pages,
        file: request.file,
        referenced: request.referenced,
        seed: request.seed,
    };
    // The first fill is not timed: it shows the frames, and warms the allocator.
    let first = recipe.fill()?;
    let adjacent_share = first.adjacent_share(pages)?;
    drop(first);
    let mut repetitions = Vec::new();
    for number in 0..u64::from(request.repetitions) {
        recipe.seed = request.seed.wrapping_add(number);
        let filled = recipe.fill()?;
        let before = Counts::read()?;
        let timed = controller.reclaim(request.reclaim)?;
        let counts = Counts::read()?.since(before);
        drop(filled);
        repetitions.push(Repetition {
            nanos: Nanos::from(timed.elapsed),
            processor: Nanos::from(timed.processor),
            scanned: counts.scanned,
            stolen: counts.stolen,
            usage_before: timed.usage_before.0,
            usage_after: timed.usage_after.0,
            fell_short: timed.fell_short,
        });
    }
    drop(ballast);
    Ok(Answer { repetitions, adjacent_share, cpus: allowed.len() as u32 })
}

/// One processor, so that one set of per-CPU lists is at play.
fn pin(cpu: u32) -> Result<(), DriverFault> {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    rustix::thread::sched_setaffinity(None, &set).map_err(DriverFault::call("pin the probe to a processor"))
}
