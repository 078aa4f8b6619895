//! `run-bench compare`: every number again, from the raw records.

use super::arguments::{CompareArguments, GateArguments};
use super::exit::Exit;
use crate::analyze::{self, CampaignAnalysis, ClaimVerdict, FleetAnalysis, Verdict};
use crate::report;
use crate::store::CampaignFolder;

pub fn main(arguments: &CompareArguments) -> anyhow::Result<Exit> {
    let analysis = analyze::analyze(&CampaignFolder::open(&arguments.campaign)?)?;
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&analysis)?);
    } else {
        say!("{}", report::terminal(&analysis));
    }
    Ok(gate(&analysis, &arguments.gate))
}

/// The exit code that the verdicts deserve.
pub fn gate(analysis: &CampaignAnalysis, gate: &GateArguments) -> Exit {
    let exit = verdict_exit(analysis, gate);
    if gate.bisect { exit_for_bisect(analysis, exit) } else { exit }
}

fn verdict_exit(analysis: &CampaignAnalysis, gate: &GateArguments) -> Exit {
    let any = |verdict: Verdict| analysis.deciding().any(|c| c.verdict == verdict);
    let refuted = analysis.claim.as_ref().is_some_and(|c| c.verdict == ClaimVerdict::Refuted);
    if analysis.deciding().next().is_none() || any(Verdict::Invalid) {
        Exit::InvalidRun
    } else if any(Verdict::Worse) || analysis.fleet.as_ref().is_some_and(FleetAnalysis::any_worse) {
        Exit::Regression
    } else if gate.gate.is_some() && refuted {
        Exit::ClaimRefuted
    } else if gate.strict && any(Verdict::Unresolved) {
        Exit::Unresolved
    } else {
        Exit::Good
    }
}

/// For bisection an unresolved revision is neither good nor bad.
fn exit_for_bisect(analysis: &CampaignAnalysis, exit: Exit) -> Exit {
    let unresolved = analysis.deciding().any(|c| c.verdict == Verdict::Unresolved);
    if exit == Exit::Good && unresolved { Exit::BisectSkip } else { exit.for_bisect() }
}
