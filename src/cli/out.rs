//! Standard output that may lose its reader, as in `run-bench doctor | head`.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stdout};

/// Writes to standard output. A reader that has gone is no fault: the work goes
/// on and the exit code stays what it is.
pub(super) fn write(text: Arguments<'_>) {
    match stdout().lock().write_fmt(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("run-bench: cannot write to standard output: {error}");
        }
        _ => {}
    }
}

/// As `print!`, which would panic where nobody reads.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::out::write(format_args!($($text)*)) };
}

/// As `println!`, likewise.
macro_rules! sayln {
    () => { $crate::cli::out::write(format_args!("\n")) };
    ($($text:tt)*) => { $crate::cli::out::write(format_args!("{}\n", format_args!($($text)*))) };
}
