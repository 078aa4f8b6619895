//! `run-bench doctor`: what this host can run, and how to get the rest.

use std::path::Path;

use super::arguments::DoctorArguments;
use super::exit::Exit;
use crate::exec::{ExecError, ToolName, Tools};
use crate::host::SysRoot;
use crate::host::doctor::{DoctorLine, DoctorReport, State};
use crate::host::facts::HostFacts;
use crate::host::journal::default_folder;
use crate::host::probe::Abilities;

/// What a tool is for.
fn purpose(tool: ToolName) -> &'static str {
    match tool {
        ToolName::Memcached => "the memcached workload",
        ToolName::Memtier => "memcached's load by its author's tool; the built-in loader stands in",
        ToolName::Fio => "the fio workload",
        ToolName::Netperf | ToolName::Netserver => "the netperf workload; the built-in streams stand in",
        ToolName::WillItScale => "will-it-scale's own runner; the built-in cases stand in",
        ToolName::Perf => "counters of `sample.perf`",
    }
}

pub fn main(arguments: &DoctorArguments) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(examine());
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        for line in &report.lines {
            say!("{}", text(line));
        }
    }
    // Doctor informs; whether a given experiment can run is what `plan` and `run` say.
    Ok(Exit::Good)
}

/// This host and its tools.
pub(super) async fn examine() -> DoctorReport {
    let root = SysRoot::host();
    let facts = HostFacts::gather(&root, Path::new("."));
    let abilities = Abilities::probe(&root, &default_folder(Path::new(".")));
    let mut report = DoctorReport::new(&facts, &abilities);
    for (name, found) in Tools::from_environment().probe_all().await {
        report.push(tool_line(name, found));
    }
    report
}

fn tool_line(name: ToolName, found: Result<crate::exec::Tool, ExecError>) -> DoctorLine {
    let (what_for, remedy) =
        (purpose(name), format!("{}; its folder may be named in PATH or RUN_BENCH_TOOLS", name.remedy()));
    let subject = name.program();
    match found {
        Ok(tool) => {
            let version = tool.version.map_or_else(|| "version unknown".to_owned(), |v| v.text);
            DoctorLine::ok(subject, format!("{version}, {}", tool.path.display()))
        }
        Err(ExecError::ToolMissing { .. }) => {
            DoctorLine::missing(subject, format!("not found; it serves {what_for}"), remedy)
        }
        Err(error) => DoctorLine::degraded(subject, error, remedy),
    }
}

fn text(line: &DoctorLine) -> String {
    let state = match line.state {
        State::Ok => "ok",
        State::Degraded => "degraded",
        State::Missing => "missing",
    };
    let mut text = format!("{state:<9} {:<22} {}\n", line.subject, line.seen);
    if let Some(remedy) = &line.remedy {
        text += &format!("{:<32} -> {remedy}\n", "");
    }
    text
}
