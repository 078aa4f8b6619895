//! `run-bench plan`: what will run, for how long, and what it can resolve.

use std::path::{Path, PathBuf};

use super::arguments::{FitArguments, PlanArguments};
use super::arm_kernels;
use super::exit::Exit;
use super::pilot;
use super::resolution;
use crate::campaign::expected_trial_time;
use crate::config::arithmetic::{self, Arithmetic};
use crate::config::scale::{self, Machine, ScaleRequest};
use crate::config::{self, ConfigError, Plan};
use crate::fleet::block_time_limit;
use crate::host::SysRoot;
use crate::host::facts::HostFacts;
use crate::units::{Bytes, Nanos};

pub fn main(arguments: &PlanArguments) -> anyhow::Result<Exit> {
    let (plan, sums) = fitted_plan(&arguments.experiment, &arguments.fit)?;
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&plan)?);
    } else {
        say!("{}", describe(&plan));
        let pilots = pilots(&plan, arguments)?;
        say!("{}", resolution::describe(&plan, arguments.effect, &pilots)?);
        for line in &sums.lines {
            sayln!("sum: {line}");
        }
    }
    for problem in &sums.problems {
        eprintln!("run-bench: {problem}");
    }
    Ok(if sums.problems.is_empty() { Exit::Good } else { Exit::HostNotReady })
}

/// The campaigns given for their noise, and the one measured for it.
fn pilots(plan: &Plan, arguments: &PlanArguments) -> anyhow::Result<Vec<PathBuf>> {
    let mut pilots = arguments.pilot.clone();
    if let Some(blocks) = arguments.measure_pilot {
        pilots.insert(0, pilot::measure(plan, blocks, &arguments.results)?);
    }
    Ok(pilots)
}

/// Loads an experiment, fits it to this host as asked, and does its arithmetic.
pub fn fitted_plan(path: &Path, fit: &FitArguments) -> anyhow::Result<(Plan, Arithmetic)> {
    let invalid = |problems| ConfigError::Invalid { path: path.to_owned(), problems };
    let mut experiment = config::load(path)?;
    let notes = arm_kernels::name(&mut experiment, fit).map_err(|problem| invalid(vec![problem]))?;
    for note in notes {
        eprintln!("run-bench: {note}");
    }
    let factor = fit.scale.as_deref().map(str::parse).transpose();
    let scale = factor.map_err(|error| anyhow::anyhow!("--scale: {error}"))?;
    let machine = this_machine();
    let request = ScaleRequest { scale, quick: fit.quick };
    let (experiment, changes) = scale::apply(experiment, &request, &machine).map_err(invalid)?;
    let plan = Plan { changes, ..Plan::new(experiment) };
    let sums = arithmetic::check(&plan, &machine);
    Ok((plan, sums))
}

pub(super) fn this_machine() -> Machine {
    let facts = HostFacts::gather(&SysRoot::host(), Path::new("."));
    let cpus = facts.cpu.allowed.or(facts.cpu.online).unwrap_or(1);
    Machine {
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        memory_available: facts.capacity.memory_available.unwrap_or(Bytes(0)),
        disk_available: facts.capacity.disk_available,
    }
}

/// The plan in words.
fn describe(plan: &Plan) -> String {
    let mut text = format!("{}\n\narms\n", plan.experiment.title);
    for arm in &plan.arms {
        let limit = arm.memcg.as_ref().map(|m| format!(", memcg {}", m.limit)).unwrap_or_default();
        text += &format!("  {:<16} {:?}, kernel {}{limit}\n", arm.name, arm.role, arm.section.kernel);
    }
    let schedule = plan.schedule();
    let per_block = 2 * plan.arms.len() + usize::from(schedule.discard_first);
    let mut total = Nanos(0);
    text += "\ntrials\n";
    for workload in &plan.workloads {
        let each = expected_trial_time(&workload.workload);
        let count = per_block * schedule.blocks as usize;
        total = Nanos(total.0 + each.0 * count as u64);
        text += &format!(
            "  {}: {} blocks of {per_block} trials (each arm twice{}), about {each} each\n",
            workload.workload.name(),
            schedule.blocks,
            if schedule.discard_first { ", one discarded" } else { "" }
        );
    }
    text += &format!("\ntime: about {total}");
    if let Some(budget) = schedule.budget {
        text += &format!(", at most {budget}");
    }
    text.push('\n');
    if let Some(fleet) = &plan.experiment.fleet {
        text += &format!(
            "fleet: so much on each host, a block a task, each of at most {} (waiting included)\n",
            block_time_limit(fleet, plan)
        );
    }
    for change in &plan.changes {
        text += &format!("changed: {change}\n");
    }
    text
}
