//! The command line: clap types, progress, exit codes.

use std::process::ExitCode;

use crate::exec::enter;
use crate::target::guest;
use crate::workload::driver;

/// Parses the command line and runs the command it names.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // Before anything else: such a process becomes another program, or drives load.
    match arguments.next() {
        Some(first) if first == enter::NAME => enter::main(arguments),
        Some(first) if first == guest::NAME => guest::main(arguments),
        Some(first) if first == driver::NAME => driver::main(arguments),
        _ => ExitCode::SUCCESS,
    }
}
