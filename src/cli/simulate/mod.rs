//! `run-bench simulate`: the reclaim model alone, on a stream or on an
//! experiment's workload and arms.

pub mod arguments;
mod case;
mod curve;
mod json;
mod series;
mod source;
mod table;

use std::num::NonZero;

use arguments::{FlagChoice, SimulateArguments};
use case::{Case, Simulated};
use source::Source;

use super::exit::Exit;
use crate::model::flag::{Flags, REGISTRY};
use crate::model::simulation::{Configuration, Outcome};
use crate::units::{Bytes, PAGE_SIZE};

pub fn main(arguments: &SimulateArguments) -> anyhow::Result<Exit> {
    if arguments.flag.contains(&FlagChoice::List) {
        say!("{}", flag_list());
        return Ok(Exit::Good);
    }
    let sources = source::sources(arguments)?;
    let threads = arguments.threads.unwrap_or_else(processors);
    if arguments.curve.mrc {
        for (index, source) in sources.iter().enumerate() {
            curve::main(&arguments.curve, source, (threads, index))?;
        }
        return Ok(Exit::Good);
    }
    let mut all: Vec<(&Source, Vec<Simulated>)> = Vec::new();
    for source in &sources {
        let samples = arguments.series.is_wanted().then(|| (source.length / arguments.series.samples).max(1));
        let runs = case::run_all(source.cases.clone(), threads, source.make.as_ref(), samples)?;
        all.push((source, runs));
    }
    for (source, runs) in &all {
        let Some(folder) = arguments.series.folder(&source.name, all.len() > 1) else { continue };
        for path in series::write(&folder, runs, arguments.series.rate)? {
            eprintln!("run-bench: wrote {}", path.display());
        }
    }
    print(arguments, &all)?;
    let ended = all.iter().flat_map(|(_, runs)| runs).filter_map(|run| {
        run.outcome.out_of_memory.as_ref().map(|error| format!("{}: {error}", run.case.name))
    });
    let ended: Vec<String> = ended.collect();
    ended.iter().for_each(|line| eprintln!("run-bench: {line}"));
    Ok(if ended.is_empty() { Exit::Good } else { Exit::InvalidRun })
}

fn print(arguments: &SimulateArguments, all: &[(&Source, Vec<Simulated>)]) -> anyhow::Result<()> {
    if arguments.json {
        let workloads: Vec<json::Workload<'_>> = all
            .iter()
            .map(|(source, runs)| json::Workload { stream: &source.title, notes: &source.notes, runs })
            .collect();
        sayln!("{}", serde_json::to_string_pretty(&json::document(&workloads))?);
        return Ok(());
    }
    for (index, (source, runs)) in all.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        say!("{gap}{}", heading(source, runs.iter().map(|run| &run.case)));
        say!("{}", table::text(runs, arguments.events));
        for run in runs {
            sayln!("{}", misses(run));
        }
    }
    Ok(())
}

/// The stream, the cases and what was assumed.
fn heading<'a>(source: &Source, cases: impl Iterator<Item = &'a Case>) -> String {
    let mut text = format!("{}\n", source.title);
    for case in cases {
        let Configuration { version, policy, memcgs, swap_pages, .. } = &case.configuration;
        let size = |pages: u64| Bytes(pages * PAGE_SIZE);
        let limit = memcgs[0].pages.map_or("no limit".to_owned(), |pages| format!("limit {}", size(pages)));
        let flags = case.flag_names();
        let flags = if flags.is_empty() { String::new() } else { format!(" with {}", flags.join(", ")) };
        text += &format!(
            "  {}: {policy} of {version}{flags}, {limit}, swap {}, swappiness {}; {}\n",
            case.name,
            size(*swap_pages),
            memcgs[0].swappiness,
            case.validation()
        );
    }
    for note in &source.notes {
        text += &format!("  note: {note}\n");
    }
    text
}

/// What part of the accesses brought a page in.
fn misses(run: &Simulated) -> String {
    let Outcome { phases, .. } = &run.outcome;
    let Some(last) = phases.last() else { return String::new() };
    let pages = last.events.get(crate::model::event::Event::PageAllocate);
    let share = if last.accesses == 0 { 0.0 } else { pages as f64 / last.accesses as f64 };
    format!("{}: {pages} pages brought in, {share:.4} of the accesses of phase {}", run.case.name, last.name)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The patches of the command line.
fn chosen_flags(arguments: &SimulateArguments) -> Flags {
    let patches = arguments.flag.iter().filter_map(|choice| match choice {
        FlagChoice::Patch(flag) => Some(*flag),
        FlagChoice::List => None,
    });
    patches.collect()
}

fn flag_list() -> String {
    let width = REGISTRY.iter().map(|row| row.name.len()).max().unwrap_or(0);
    REGISTRY
        .iter()
        .map(|row| format!("{:<width$}  {}\n{:width$}  \"{}\"\n", row.name, row.summary, "", row.subject))
        .collect()
}
