//! One load, by the real memtier_benchmark or the built-in loader.

use std::path::PathBuf;
use std::time::Duration;

use super::loader::DRIVER;
use super::loader::LoaderReport;
use super::loader::LoaderSpec;
use super::loader::Requests;
use super::memtier;
use super::memtier_json;
use super::result::LoadRun;
use crate::config::Role;
use crate::config::workload::Driver;
use crate::exec::Command;
use crate::exec::Ended;
use crate::exec::Output;
use crate::exec::Progress;
use crate::exec::Tool;
use crate::exec::ToolName;
use crate::exec::run;
use crate::input;
use crate::store::DriverIdentity;
use crate::store::Violation;
use crate::store::write_file;
use crate::units::Nanos;
use crate::workload::Context;
use crate::workload::WorkloadError;
use crate::workload::driver;

/// A load without a new operation for this long has hung. Reclaim may stall one for minutes.
const NO_PROGRESS: Duration = Duration::from_secs(180);
/// The slowest load that is waited for, in operations per second.
const SLOWEST: u64 = 1000;
/// Added to every deadline: starting, connecting, printing.
const START: Duration = Duration::from_secs(120);

/// Which generator makes the load.
#[derive(Debug)]
pub(super) enum Generator {
    Memtier(Tool),
    Builtin,
}

/// What a load yielded.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) runs: Vec<LoadRun>,
    pub(super) violations: Vec<Violation>,
    /// Processor time of the generator's process.
    pub(super) cpu: Nanos,
    pub(super) argv: String,
}

impl Generator {
    /// Finds the generator that the experiment asks for.
    pub(super) async fn choose(wanted: Driver, context: &Context<'_>) -> Result<Self, WorkloadError> {
        match wanted {
            Driver::Builtin => Ok(Generator::Builtin),
            Driver::Tool => Ok(Generator::Memtier(context.tools.probe(ToolName::Memtier).await?)),
            Driver::Auto if context.tools.find(ToolName::Memtier).is_ok() => {
                Ok(Generator::Memtier(context.tools.probe(ToolName::Memtier).await?))
            }
            Driver::Auto => Ok(Generator::Builtin),
        }
    }

    pub(super) fn identity(&self) -> DriverIdentity {
        match self {
            Generator::Memtier(tool) => DriverIdentity {
                name: "memtier_benchmark".to_owned(),
                version: tool.version.as_ref().map_or("unknown", |v| v.line.as_str()).to_owned(),
            },
            Generator::Builtin => {
                DriverIdentity { name: DRIVER.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
            }
        }
    }

    /// Runs the load to its end; `name` names its files in the raw folder.
    pub(super) async fn load(
        &self,
        spec: &LoaderSpec,
        name: &str,
        context: &Context<'_>,
        raw: &mut Vec<String>,
    ) -> Result<Loaded, WorkloadError> {
        spec.validate().map_err(WorkloadError::Refused)?;
        let json = format!("{name}.json");
        let mut command = match self {
            Generator::Memtier(tool) => memtier::command(&tool.path, spec, &context.raw.join(&json))?,
            Generator::Builtin => builtin(spec, name, context)?,
        };
        context.place(&mut command, Role::Client);
        command.deadline = deadline(spec);
        command.no_progress = Some(NO_PROGRESS);
        let argv: Vec<String> = command.argv.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        let output = run(&command, context.cancel).await?;
        keep(context, &format!("{name}.stderr"), &output.stderr.bytes(), raw)?;
        keep(context, &format!("{name}.stdout"), &output.stdout.bytes(), raw)?;
        ended_well(&command, &output)?;
        let (runs, violations) = match self {
            Generator::Memtier(_) => {
                raw.push(json.clone());
                read_memtier(spec, context.raw.join(&json), &output)?
            }
            Generator::Builtin => read_builtin(&output)?,
        };
        let cpu = Nanos(output.user.0 + output.system.0);
        Ok(Loaded { runs, violations, cpu, argv: argv.join(" ") })
    }
}

fn builtin(spec: &LoaderSpec, name: &str, context: &Context<'_>) -> Result<Command, WorkloadError> {
    let path = context.scratch.join(format!("{name}.spec.json"));
    let text = serde_json::to_vec(spec).expect("a task is plain data");
    write_file(&path, &text).map_err(|source| WorkloadError::Io {
        what: "write",
        path: path.clone(),
        source,
    })?;
    let mut command = Command::new(context.own_executable).args([driver::NAME, DRIVER, "--spec"]).arg(path);
    command.progress =
        Progress::Number(|line| line.strip_prefix("progress ")?.split(' ').nth(1)?.parse().ok());
    Ok(command)
}

fn deadline(spec: &LoaderSpec) -> Duration {
    let runs = spec.repeat;
    let work = match (spec.requests, spec.requests_per_client()) {
        (Requests::For(time), _) => time.to_duration().saturating_mul(2),
        (_, each) => {
            let operations = each.unwrap_or(0).saturating_mul(spec.total_clients());
            Duration::from_secs(operations / SLOWEST)
        }
    };
    (work + START).saturating_mul(runs)
}

fn keep(context: &Context<'_>, name: &str, bytes: &[u8], raw: &mut Vec<String>) -> Result<(), WorkloadError> {
    let path = context.raw.join(name);
    write_file(&path, bytes).map_err(|source| WorkloadError::Io { what: "write", path, source })?;
    raw.push(name.to_owned());
    Ok(())
}

fn ended_well(command: &Command, output: &Output) -> Result<(), WorkloadError> {
    match output.ended {
        Ended::Exited(0) => Ok(()),
        Ended::Cancelled => Err(WorkloadError::Cancelled),
        ended => {
            let said = output.stderr.text();
            let tail: Vec<&str> =
                said.split(['\n', '\r']).filter(|line| !line.trim().is_empty()).rev().take(4).collect();
            let evidence: Vec<&str> = tail.into_iter().rev().collect();
            Err(WorkloadError::Died { what: command.program(), ended, evidence: evidence.join(" | ") })
        }
    }
}

type Read = (Vec<LoadRun>, Vec<Violation>);

fn read_memtier(spec: &LoaderSpec, json: PathBuf, output: &Output) -> Result<Read, WorkloadError> {
    let bytes = input::read(&json, input::TOOL_OUTPUT).map_err(|source| WorkloadError::Io {
        what: "read the report",
        path: json,
        source,
    })?;
    let report = memtier_json::parse(&bytes)?;
    let mut violations = memtier::judge_stderr(&output.stderr.text());
    if report.interrupted {
        violations.push(Violation::new(
            "memtier.interrupted",
            "memtier_benchmark says that it was interrupted, so its numbers cover a part of the work",
            "\"Interrupted\": true",
        ));
    }
    if report.averaged || report.runs.len() != spec.repeat as usize {
        violations.push(Violation::new(
            "memtier.runs",
            "memtier_benchmark did not report each run; later runs overwrite what the first one stored, so an average \
             alone cannot be judged: use a version that knows --print-all-runs",
            format!("{} runs asked, {} reported", spec.repeat, report.runs.len()),
        ));
    } else {
        let measured = Nanos(report.runs.iter().map(|run| run.duration.0).sum());
        violations.extend(memtier::judge_time(spec, output.wall, measured));
    }
    Ok((report.runs, violations))
}

fn read_builtin(output: &Output) -> Result<Read, WorkloadError> {
    let printed = output.stdout.text();
    let report: LoaderReport = serde_json::from_str(&printed)
        .map_err(|error| WorkloadError::output(DRIVER, format!("it is no report: {error}"), &printed))?;
    let refused: u64 = report.refusals.values().sum();
    let violation = (refused > 0).then(|| {
        let texts: Vec<String> =
            report.refusals.iter().map(|(text, count)| format!("{count} x {text}")).collect();
        Violation::new(
            "load.refused",
            "the server refused requests, which cost it less than work; raise memory under [workload.memcached]",
            texts.join("; "),
        )
    });
    Ok((report.runs, violation.into_iter().collect()))
}
