//! `[workload.command]`: any program, timed, with metrics from its output.

use serde::{Deserialize, Serialize};

use crate::config::error::Problem;
use crate::metric::MetricDefinition;
use crate::units::Nanos;

/// Where in the output a value stands. Exactly one of the two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A JSON pointer into standard output, such as `/jobs/0/iops`.
    Pointer(String),
    /// A regular expression with a group named `value`; the last match counts.
    Regex(String),
}

/// One value taken from the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CommandMetric {
    pub definition: MetricDefinition,
    pub source: Source,
    /// The printed number times this is the value in the metric's unit.
    #[serde(default = "unity")]
    pub factor: f64,
}

fn unity() -> f64 {
    1.0
}

/// A program and its arguments; no shell is involved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CommandWorkload {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Run before each measured run, unmeasured, such as `["make", "clean"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<std::path::PathBuf>,
    /// A run that takes longer is killed and invalid.
    pub deadline: Nanos,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<CommandMetric>,
}

impl CommandWorkload {
    pub fn validate(&self, problems: &mut Vec<Problem>) {
        if self.argv.first().is_none_or(|program| program.is_empty()) {
            problems
                .push(Problem::new("workload.command.argv", "names no program; write [\"make\", \"-j2\"]"));
        }
        if self.argv.iter().chain(&self.prepare).any(|a| a.contains('\0')) {
            problems.push(Problem::new("workload.command.argv", "an argument holds a NUL byte"));
        }
        for metric in &self.metrics {
            let key = format!("workload.command.metrics.{}", metric.definition.id);
            if !metric.definition.id.as_str().starts_with("command.") {
                problems.push(Problem::new(&key, "ids of a command's metrics begin with \"command.\""));
            }
            if crate::metric::definition(metric.definition.id.as_str()).is_some() {
                problems.push(Problem::new(&key, "this id is one of the built-in ones; choose another"));
            }
            match &metric.source {
                Source::Pointer(pointer) if !pointer.is_empty() && !pointer.starts_with('/') => {
                    problems.push(Problem::new(&key, "a JSON pointer begins with '/'"));
                }
                Source::Regex(text) => match regex::Regex::new(text) {
                    Err(error) => {
                        problems.push(Problem::new(&key, format!("not a regular expression: {error}")))
                    }
                    Ok(r) if !r.capture_names().flatten().any(|n| n == "value") => {
                        problems.push(Problem::new(
                            &key,
                            "name the group that holds the number: (?<value>[0-9.]+)",
                        ));
                    }
                    Ok(_) => {}
                },
                Source::Pointer(_) => {}
            }
            if !metric.factor.is_finite() || metric.factor == 0.0 {
                problems.push(Problem::new(&key, "factor is a finite number other than 0"));
            }
        }
    }
}
