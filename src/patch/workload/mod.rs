//! Workloads a mail describes: command lines and sentences into typed settings.
//! Nothing from a mail is ever run or handed to a shell.

mod argv;
mod flags;
mod inline;
mod job;
mod phrases;
mod setting;
mod setup;
mod tools;
mod typed;

pub(crate) use job::Job;
pub(crate) use phrases::{runs, sentence};
pub use setting::{Setting, Swap, SwapKind};
pub use typed::{
    Command, FioJob, KernelBuild, MemcachedServer, MemtierLoad, NetperfRun, SysbenchRun, UsememRun,
    WillItScaleRun, Workload,
};

use super::lines::Line;

/// A command or set-up line at the head of the lines.
pub(crate) enum Found {
    Command(Command),
    /// Set-up that says something of the setting.
    Setup(Setting),
    /// A command line of no interest, such as `mkdir`.
    Other,
}

/// Reads the command line at the head of the lines and how many lines it took.
pub(crate) fn command(lines: &[Line<'_>], flat: bool) -> Option<(Found, usize)> {
    let head = lines.first()?;
    // A line such as `perf stat -r 10 ./x, before:` heads results.
    if !setup::may_start_command(head.text) || head.text.ends_with(':') {
        return None;
    }
    let (text, taken) = argv::join_continued(lines.iter().map(|line| line.text));
    if text.len() > super::limits::LINE_BYTES {
        return None;
    }
    let text = text.trim_start_matches(['$', '#', ' ', '\t']);
    if let Some(setting) = setup::read(text) {
        return Some((Found::Setup(setting), taken));
    }
    let words = argv::split(text);
    let words = argv::skip_wrappers(&words);
    let (program, arguments) = words.split_first()?;
    let is_option =
        |a: &String| a.starts_with('-') && a[1..].starts_with(|c: char| c.is_alphanumeric() || c == '-');
    let options = arguments.iter().any(is_option);
    if !options {
        return None;
    }
    match tools::read(program, arguments, flat) {
        Some((workload, parsed)) => {
            let command = Command {
                workload,
                unsupported: parsed.unsupported,
                replaced: parsed.replaced,
                inherited: false,
            };
            Some((Found::Command(command), taken))
        }
        None => setup::is_shell_word(program).then_some((Found::Other, taken)),
    }
}
