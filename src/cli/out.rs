//! What reaches the terminal: standard output that may lose its reader, as in
//! `run-bench doctor | head`, and no control sequence of a stranger's text.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stderr, stdout};

/// The text without what a terminal would obey. Titles, mails, records and the
/// output of tools come from others; nothing of our own needs more than lines and tabs.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(obeyed) {
        Cow::Owned(text.replace("\r\n", "\n").replace(obeyed, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Writes to standard output. A reader that has gone is no fault: the work goes
/// on and the exit code stays what it is.
pub(super) fn write(text: Arguments<'_>) {
    match stdout().lock().write_all(plain(&text.to_string()).as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            warn(format_args!("run-bench: cannot write to standard output: {error}\n"));
        }
        _ => {}
    }
}

/// Writes to standard error; there is nobody to tell when that fails.
pub(super) fn warn(text: Arguments<'_>) {
    let _ = stderr().lock().write_all(plain(&text.to_string()).as_bytes());
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

/// In place of the standard one in all of `cli`: without control sequences.
macro_rules! eprint {
    ($($text:tt)*) => { $crate::cli::out::warn(format_args!($($text)*)) };
}

/// Likewise.
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::cli::out::warn(format_args!("{}\n", format_args!($($text)*))) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(plain("a\tb\nc é"), "a\tb\nc é");
        assert_eq!(
            plain("\x1b]0;x\x07\x1b[2J\u{9b}31m\x7f\r\n"),
            "\u{fffd}]0;x\u{fffd}\u{fffd}[2J\u{fffd}31m\u{fffd}\n"
        );
    }
}
