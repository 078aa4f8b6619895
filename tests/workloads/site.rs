//! A place to run a workload in: folders, marks, tools.

use std::path::Path;
use std::path::PathBuf;
use std::time::Instant;

use run_bench::config::EnvironmentSection;
use run_bench::config::Role;
use run_bench::exec::Tools;
use run_bench::workload::Context;
use run_bench::workload::Marks;
use run_bench::workload::Outcome;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub struct Site {
    pub scratch: TempDir,
    pub raw: TempDir,
    pub data: TempDir,
    pub marks: Marks<'static>,
    pub tools: Tools,
    pub cancel: CancellationToken,
    pub confined: Vec<PathBuf>,
    pub environment: EnvironmentSection,
}

impl Site {
    pub fn new() -> Self {
        let folder = || tempfile::tempdir().expect("a folder");
        Site {
            scratch: folder(),
            raw: folder(),
            data: folder(),
            marks: Marks::new(Instant::now()),
            tools: Tools::from_environment(),
            cancel: CancellationToken::new(),
            confined: Vec::new(),
            environment: EnvironmentSection::default(),
        }
    }

    pub fn context(&self) -> Context<'_> {
        Context {
            cancel: &self.cancel,
            scratch: self.scratch.path(),
            raw: self.raw.path(),
            confined_roles: &[Role::Server],
            confined: self.confined.clone(),
            unconfined: Vec::new(),
            environment: &self.environment,
            data: Some(self.data.path()),
            seed: 0xfeed,
            tools: &self.tools,
            marks: &self.marks,
            own_executable: Path::new(env!("CARGO_BIN_EXE_run-bench")),
        }
    }
}

/// The value of a metric.
pub fn value(outcome: &Outcome, id: &str) -> f64 {
    let found = outcome.measurements.iter().find(|m| m.metric.id.as_str() == id);
    found.unwrap_or_else(|| panic!("no {id} in {outcome:#?}")).value
}

/// Says what was run, for those who read the test's output.
pub fn show(outcome: &Outcome) {
    let values: Vec<String> =
        outcome.measurements.iter().map(|m| format!("{} = {:.6}", m.metric.id, m.value)).collect();
    println!("{} {}: {}", outcome.driver.name, outcome.driver.version, values.join(", "));
    for violation in &outcome.violations {
        println!("  violation {violation:?}");
    }
}
