//! What is wrong with an experiment, and where.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// One thing wrong in a readable experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key path, such as `workload.memcached.load.keys`.
    pub key: String,
    /// What was seen, why it matters, what to write instead.
    pub message: String,
}

impl Problem {
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Problem { key: key.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

/// Why an experiment cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("cannot read the experiment {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}, line {line}: {key}: {message}", path = path.display())]
    Syntax { path: PathBuf, line: usize, key: String, message: String },
    #[error("{path} has {count} problem(s):\n{list}", path = path.display(), count = problems.len(), list = list(problems))]
    Invalid { path: PathBuf, problems: Vec<Problem> },
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(|p| format!("  {p}")).collect::<Vec<_>>().join("\n")
}
