//! The command line: clap types, progress, exit codes.

use std::process::ExitCode;

/// Parses the command line and runs the command it names.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
