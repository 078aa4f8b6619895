//! `run-bench selftest model`: the reclaim model against a running kernel.
//!
//! ```text
//! cell ─▶ guest: set-up, `__replay` plays the stream for real ─▶ counters ─┐
//!   └───▶ model: the same stream, the same limits ───────────▶ counters ─┴▶ table
//! ```
//! Guests are User-Mode Linux kernels whose time stands still while they
//! compute, so that a cell counts the same every time it runs.

mod cell;
mod compare;
mod guest;
pub mod replay;

use std::path::Path;

use anyhow::Context;

use super::arguments::ModelSelftestArguments;
use super::exit::{Exit, UsageError};
use super::kernel;
use super::signals::cancel_on_signal;
use crate::config::TargetSection;
use crate::predict::scenario::version_of_release;
use crate::store::write_atomically;
use crate::target::kernel::KernelKind;
use cell::Cell;
use compare::CellResult;

pub fn main(arguments: &ModelSelftestArguments) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let cells: Vec<Cell> = cell::all().into_iter().filter(|cell| wanted(cell, &arguments.cells)).collect();
    if cells.is_empty() {
        let names: Vec<String> = cell::all().into_iter().map(|cell| cell.name).collect();
        let known = names.join(", ");
        return Err(UsageError(format!("no cell is named by --cells; there are {known}")).into());
    }
    let image = runtime.block_on(kernel::image(&arguments.kernel))?;
    if image.kind != KernelKind::Uml {
        let told = format!("{} is no User-Mode Linux image; see `run-bench kernel build`", arguments.kernel);
        return Err(UsageError(told).into());
    }
    let version = version_of_release(&image.release)
        .with_context(|| format!("kernel {} behaves like none that is modelled", image.release))?;
    let mut results = Vec::new();
    let mut text = format!("kernel {} (User-Mode Linux) against the model of {version}\n", image.release);
    say!("{text}");
    for cell in &cells {
        let measured = runtime.block_on(async {
            let cancel = cancel_on_signal().context("cannot listen to signals")?;
            guest::measure(&image, TargetSection::default(), cell, &cancel).await
        })?;
        let result = compare::cell(cell, version, &measured);
        let by_phase =
            if arguments.phases { compare::by_phase(cell, version, &measured) } else { String::new() };
        let table = format!("\n{result}{by_phase}");
        say!("{table}");
        text += &table;
        results.push(result);
    }
    let summary = summary(&results);
    say!("{summary}");
    text += &summary;
    if let Some(path) = &arguments.out {
        write(path, &text)?;
    }
    Ok(if results.iter().all(CellResult::is_within) { Exit::Good } else { Exit::Regression })
}

fn wanted(cell: &Cell, names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|name| cell.name.contains(name.as_str()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_atomically(path, text.as_bytes())?;
    eprintln!("run-bench: wrote {}", path.display());
    Ok(())
}

fn summary(results: &[CellResult]) -> String {
    let within = results.iter().filter(|result| result.is_within()).count();
    format!("\n{within} of {} cells are within what is allowed for every counter.\n", results.len())
}
