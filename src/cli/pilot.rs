//! A pilot: the baseline against itself, for the noise of this host alone.

use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;

use super::arguments::{FitArguments, FleetChoice, GateArguments, RunArguments};
use super::run;
use crate::config::{ArmRole, Experiment, Plan, StopRule};
use crate::store::write_atomically;

/// Runs the pilot of a plan and gives its campaign's folder.
pub fn measure(plan: &Plan, blocks: u32, results: &Path) -> anyhow::Result<PathBuf> {
    let name = format!("pilot-{}", Timestamp::now().strftime("%Y%m%d-%H%M%S"));
    let text =
        toml::to_string(&of(&plan.experiment, blocks)).context("the pilot cannot be written as TOML")?;
    std::fs::create_dir_all(results).with_context(|| format!("cannot make {}", results.display()))?;
    let path = results.join(format!("{name}.toml"));
    write_atomically(&path, text.as_bytes())?;
    let (fit, gate) = (FitArguments::default(), GateArguments::default());
    // The noise of this host, even of an experiment for many.
    let fleet = Some(FleetChoice::None);
    let (results, name) = (results.to_owned(), Some(name));
    let folder = results.join(name.as_deref().unwrap_or_default());
    let ran =
        run::main(&RunArguments { experiment: path.clone(), fit, budget: None, results, name, fleet, gate });
    // The campaign's folder keeps its own copy.
    std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    ran?;
    Ok(folder)
}

/// The experiment with the baseline and its repetition as the only arms, and no claim.
fn of(experiment: &Experiment, blocks: u32) -> Experiment {
    let mut pilot = experiment.clone();
    pilot.title = format!("pilot of: {}", experiment.title);
    (pilot.claim, pilot.claim_source) = (None, None);
    pilot.arms.truncate(1);
    if let Some(mut again) = pilot.arms.first().cloned() {
        again.name.push_str("-again");
        again.role = Some(ArmRole::Control);
        pilot.arms.push(again);
    }
    pilot.schedule.blocks = blocks;
    pilot.analysis.stop = StopRule::Fixed;
    pilot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    #[test]
    fn a_pilot_is_the_baseline_twice_and_can_be_read_back() {
        for entry in std::fs::read_dir("configs").expect("the shipped experiments") {
            let path = entry.expect("readable").path();
            if path.extension().is_none_or(|e| e != "toml") {
                continue;
            }
            let pilot = of(&config::load(&path).expect("valid"), 7);
            let text = toml::to_string(&pilot).expect("as TOML");
            let back =
                config::parse(&path, &text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", path.display()));
            assert_eq!(back, pilot);
            assert_eq!((pilot.arms.len(), pilot.schedule.blocks, pilot.claim), (2, 7, None));
            assert_eq!(pilot.arms[1].role, Some(ArmRole::Control));
            assert_eq!(pilot.arms[1].name, format!("{}-again", pilot.arms[0].name));
        }
    }
}
