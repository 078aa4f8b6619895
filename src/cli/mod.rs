//! The command line: clap types, progress, exit codes.
//!
//! One file a command. The clap types live here only; every command converts
//! them into requests of the library, prints its result to standard output and
//! says on standard error what it is doing.

#[macro_use]
mod out;

mod arguments;
mod arm_kernels;
mod calibrate;
mod clean;
mod compare;
mod doctor;
mod drivers;
mod exit;
mod fleet;
mod kernel;
mod patch;
mod pilot;
mod plan;
mod predict;
mod report;
mod resolution;
mod run;
mod selftest;
mod signals;
mod simulate;
mod status;
mod term;
mod trial;
mod validate;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use arguments::{Arguments, Command, GateArguments};
pub use exit::Exit;

use crate::exec::enter;
use crate::target::{self, guest};
use crate::units::with_causes;
use crate::workload::driver;

/// Parses the command line and runs the command it names.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        // Hidden entries of child processes come first: they know no options.
        Some(name) if name == enter::NAME => return enter::main(arguments),
        Some(name) if name == driver::NAME => return driver::main(arguments),
        Some(name) if name == validate::replay::NAME => return validate::replay::main(arguments),
        _ => {}
    }
    if let Some(rest) = guest::arguments(std::env::args_os().skip(1)) {
        return guest::main(rest);
    }
    start_logging();
    match dispatch(std::env::args_os()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("run-bench: {}", with_causes(error.as_ref()));
            exit::of_error(&error).into()
        }
    }
}

fn start_logging() {
    let filter = EnvFilter::try_from_env("RUN_BENCH_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).without_time().init();
}

/// A bisection takes most codes for a bad revision, so an error must not end with its usual one.
fn for_gate(gate: &GateArguments, end: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    match end {
        Err(error) if gate.bisect => {
            eprintln!("run-bench: {}", with_causes(error.as_ref()));
            Ok(exit::of_error(&error).for_bisect())
        }
        end => end,
    }
}

fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<Exit> {
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            error.print()?;
            return Ok(if error.use_stderr() { Exit::Usage } else { Exit::Good });
        }
    };
    match parsed.command {
        Command::Doctor(arguments) => doctor::main(&arguments),
        Command::Plan(arguments) => plan::main(&arguments),
        Command::Run(arguments) => for_gate(&arguments.gate, run::main(&arguments)),
        Command::Compare(arguments) => for_gate(&arguments.gate, compare::main(&arguments)),
        Command::Report(arguments) => report::main(&arguments),
        Command::Status(arguments) => status::main(&arguments),
        Command::Clean(arguments) => clean::main(&arguments),
        Command::Calibrate(arguments) => calibrate::main(&arguments),
        Command::Predict(arguments) => predict::main(&arguments),
        Command::Patch(command) => patch::main(&command),
        Command::Kernel(command) => kernel::main(&command),
        Command::Simulate(arguments) => simulate::main(&arguments),
        Command::Selftest(command) => selftest::main(&command),
        Command::Trial(arguments) => trial::main(&arguments),
        Command::FleetTask(arguments) => fleet::task(&arguments),
        Command::FleetDoctor(arguments) => fleet::doctor(&arguments),
        Command::KeepFixture(arguments) => {
            target::keep_fixture(arguments.size)?;
            Ok(Exit::Good)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut arguments::command(), "run-bench", &mut script);
            say!("{}", String::from_utf8_lossy(&script));
            Ok(Exit::Good)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(arguments::command()).render(&mut page)?;
            say!("{}", String::from_utf8_lossy(&page));
            Ok(Exit::Good)
        }
    }
}
