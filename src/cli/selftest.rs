//! `run-bench selftest`: the statistics against known truth, the fault matrix, the kill soak.

use super::arguments::{FaultsSelftestArguments, SelftestCommand, SoakArguments, StatsSelftestArguments};
use super::exit::{Exit, UsageError};
use crate::faults::{ROWS, RowResult, Soak};
use crate::stats::selftest::SelfTest;

pub fn main(command: &SelftestCommand) -> anyhow::Result<Exit> {
    match command {
        SelftestCommand::Stats(arguments) => stats(arguments),
        SelftestCommand::Faults(arguments) => faults(arguments),
        SelftestCommand::Soak(arguments) => soak(arguments),
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

fn faults(arguments: &FaultsSelftestArguments) -> anyhow::Result<Exit> {
    if let Some(unknown) = arguments.rows.iter().find(|row| !ROWS.iter().any(|r| r.number == **row)) {
        return Err(UsageError(format!("there is no row {unknown}; they are 1 to {}", ROWS.len())).into());
    }
    only_root(arguments.real, "--real changes this host")?;
    let chosen = ROWS.iter().filter(|r| arguments.rows.is_empty() || arguments.rows.contains(&r.number));
    let mut results = Vec::new();
    for row in chosen {
        let result = row.run(arguments.real);
        if !arguments.json {
            tell(&result);
        }
        results.push(result);
    }
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&results)?);
    }
    let all_passed = results.iter().all(|result| result.passed);
    Ok(if all_passed { Exit::Good } else { Exit::Bug })
}

fn tell(result: &RowResult) {
    let passed = if result.passed { "ok" } else { "FAILED" };
    let host = match result.restored {
        Some(true) => "host restored",
        Some(false) => "HOST NOT RESTORED",
        None => "no host touched",
    };
    sayln!("{:>2} {:<6} {}", result.row, result.kind, result.fault);
    sayln!("          injected: {}", result.injected);
    sayln!("          {passed}: {} checks held, {host}; {}", result.held, result.real);
    for broken in &result.broken {
        sayln!("          BROKEN: {broken}");
    }
}

fn soak(arguments: &SoakArguments) -> anyhow::Result<Exit> {
    only_root(true, "the soak makes cgroups and swap")?;
    let longest = arguments.longest.map(|time| time.to_duration());
    let report = Soak { kills: arguments.kills, seed: arguments.seed, longest }.run()?;
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        for (name, count) in &report.kills {
            sayln!("{count:>6} {name}");
        }
        sayln!(
            "{} kills over {} starts of {} campaigns, seed {}: {} records, each once; {} trials in flight were run again; host {}",
            report.killed(),
            report.starts,
            report.campaigns,
            report.seed,
            report.valid_records,
            report.lost_in_flight,
            if report.host_restored { "as before" } else { "NOT as before" }
        );
        for problem in &report.problems {
            sayln!("PROBLEM: {problem}");
        }
    }
    Ok(if report.passed() { Exit::Good } else { Exit::Bug })
}

fn only_root(needed: bool, why: &str) -> anyhow::Result<()> {
    if needed && !rustix::process::geteuid().is_root() {
        return Err(UsageError(format!("{why}: run it as root, such as with sudo")).into());
    }
    Ok(())
}
