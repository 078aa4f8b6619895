//! The command line: clap types, progress, exit codes.

use std::process::ExitCode;

use crate::exec::enter;

/// Parses the command line and runs the command it names.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // Before anything else: this process is about to become another program.
    if arguments.next().is_some_and(|first| first == enter::NAME) {
        return enter::main(arguments);
    }
    ExitCode::SUCCESS
}
