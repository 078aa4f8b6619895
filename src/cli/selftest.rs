//! `run-bench selftest`: the statistics against known truth.

use super::arguments::{SelftestCommand, StatsSelftestArguments};
use super::exit::Exit;
use crate::stats::selftest::SelfTest;

pub fn main(command: &SelftestCommand) -> anyhow::Result<Exit> {
    match command {
        SelftestCommand::Stats(arguments) => stats(arguments),
        SelftestCommand::Model(arguments) => super::validate::main(arguments),
    }
}

fn stats(arguments: &StatsSelftestArguments) -> anyhow::Result<Exit> {
    let rows = SelfTest { simulations: arguments.simulations, seed: arguments.seed }.run()?;
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        sayln!("{:<72} {:>9}  {:>19}  {:>9}", "what is tested", "measured", "allowed", "");
        for row in &rows {
            let allowed = format!("{:.4} to {:.4}", row.low, row.high);
            let passed = if row.passed { "ok" } else { "FAILED" };
            sayln!("{:<72} {:>9.4}  {allowed:>19}  {passed:>9}", row.name, row.measured);
        }
        sayln!("{} simulated campaigns a row, seed {}", arguments.simulations, arguments.seed);
    }
    let all_passed = rows.iter().all(|row| row.passed);
    Ok(if all_passed { Exit::Good } else { Exit::Bug })
}
