//! What to run, where, and within which bounds.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::units::Bytes;
use crate::units::CpuSet;

/// What counts as progress for the watchdog.
#[derive(Debug, Clone, Default)]
pub enum Progress {
    /// Any byte on stdout or stderr.
    #[default]
    Output,
    /// A file that grows or is written again.
    File(PathBuf),
    /// A number found in a line of output (lines end with `\n` or `\r`) that changes.
    /// For tools that go on printing while they do no work.
    Number(fn(&str) -> Option<u64>),
}

/// A program, the place it runs in and its bounds.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program, looked up in `PATH` when it has no slash, and its arguments.
    pub argv: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    /// Start from an empty environment instead of this process's own.
    pub clear_environment: bool,
    pub working_directory: Option<PathBuf>,
    /// Bytes for the standard input; none means an empty one.
    pub stdin: Option<Vec<u8>>,
    /// Cgroup folders to join before the program starts, in this order.
    pub cgroups: Vec<PathBuf>,
    pub cpus: Option<CpuSet>,
    pub memory_nodes: Option<CpuSet>,
    /// User and group to become, after the cgroups are joined.
    pub user: Option<(u32, u32)>,
    pub oom_score_adj: Option<i32>,
    /// Kill the program when this process dies, however it dies.
    pub die_with_parent: bool,
    /// The longest that `run` lets it take.
    pub deadline: Duration,
    /// The longest that `run` lets it go without `progress`.
    pub no_progress: Option<Duration>,
    pub progress: Progress,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// How much of each output stream is kept: the first and the last half.
    pub output_limit: Bytes,
    /// The executable that knows `__enter`; this process's own by default.
    pub enter: Option<PathBuf>,
}

impl Command {
    /// A program with one minute to run, own environment and nothing else set.
    pub fn new(program: impl Into<OsString>) -> Self {
        Command {
            argv: vec![program.into()],
            environment: Vec::new(),
            clear_environment: false,
            working_directory: None,
            stdin: None,
            cgroups: Vec::new(),
            cpus: None,
            memory_nodes: None,
            user: None,
            oom_score_adj: None,
            die_with_parent: false,
            deadline: Duration::from_secs(60),
            no_progress: None,
            progress: Progress::Output,
            grace: Duration::from_secs(2),
            output_limit: Bytes::mib(4),
            enter: None,
        }
    }

    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.argv.push(argument.into());
        self
    }

    #[must_use]
    pub fn args<I, A>(mut self, arguments: I) -> Self
    where
        I: IntoIterator<Item = A>,
        A: Into<OsString>,
    {
        self.argv.extend(arguments.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The program's name as it was given, for messages.
    pub fn program(&self) -> String {
        self.argv.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether the process must be prepared by `__enter` before the program starts.
    pub(super) fn needs_enter(&self) -> bool {
        !self.cgroups.is_empty()
            || self.cpus.is_some()
            || self.memory_nodes.is_some()
            || self.user.is_some()
            || self.oom_score_adj.is_some()
            || self.die_with_parent
    }
}
