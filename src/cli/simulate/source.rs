//! From the options to streams and cases.

use std::path::Path;

use anyhow::Context;

use super::arguments::{SimulateArguments, TraceFormat};
use super::case::{Case, MakeStream, grid};
use super::chosen_flags;
use crate::cli::plan::fitted_plan;
use crate::config::Plan;
use crate::host::SysRoot;
use crate::input;
use crate::model::access::{Recorded, RegionKind, Stream};
use crate::model::flag::Flags;
use crate::model::simulation::{Configuration, MemcgLimit, Phase};
use crate::model::stream::trace::{self, Paging};
use crate::model::stream::{StreamRequest, StreamSpec};
use crate::model::version::{PolicyKind, Version};
use crate::predict::scenario::{Preference, arm_scenario, workload_stream};
use crate::units::{Bytes, PAGE_SIZE, Pages};

/// Accesses for each page of the memory where nothing says how many.
const ROUNDS: u64 = 20;
/// A trace is read whole, and its accesses take more memory still.
const LARGEST_TRACE: Bytes = Bytes::gib(4);
const USUAL_SWAPPINESS: u32 = 60;

/// One stream and the cases that run over it.
pub struct Source<'a> {
    /// As a folder's name.
    pub name: String,
    /// The stream in words.
    pub title: String,
    pub notes: Vec<String>,
    pub cases: Vec<Case>,
    /// About how many accesses it makes.
    pub length: u64,
    pub make: Box<MakeStream<'a>>,
}

/// The streams that the options ask for: one, or one for each workload of an experiment.
pub fn sources(arguments: &SimulateArguments) -> anyhow::Result<Vec<Source<'_>>> {
    let mut sources = match (&arguments.experiment, &arguments.trace) {
        (Some(path), _) => of_experiment(arguments, path)?,
        (None, Some(path)) => vec![of_trace(arguments, path)?],
        (None, None) => vec![of_stream(arguments)?],
    };
    let flags = chosen_flags(arguments);
    let idle: Vec<&str> = flags.iter().map(|f| f.name()).filter(|name| name.starts_with("pcp-")).collect();
    for source in sources.iter_mut().filter(|_| !idle.is_empty()) {
        source.notes.push(format!(
            "{} change the page allocator, which no stream of page accesses exercises: nothing differs",
            idle.join(", ")
        ));
    }
    Ok(sources)
}

/// Each kernel and policy, without and with the patches.
fn cases(arguments: &SimulateArguments, limit: Pages, swap: Pages) -> Vec<Case> {
    let base = Configuration {
        memcgs: vec![MemcgLimit {
            pages: Some(limit.0),
            swap_pages: None,
            swappiness: arguments.swappiness.unwrap_or(USUAL_SWAPPINESS),
        }],
        swap_pages: swap.0,
        platform: arguments.platform.into(),
        ..Configuration::new(PolicyKind::Mglru, limit.0)
    };
    let versions = or_usual(&arguments.kernel, Version::K612);
    let policies = or_usual(&arguments.policy, PolicyKind::Mglru);
    let flags = chosen_flags(arguments);
    let plain = grid(&base, &versions, &policies);
    if flags == Flags::NONE {
        return plain;
    }
    plain.into_iter().flat_map(|case| [case.with(flags), case].into_iter().rev()).collect()
}

fn or_usual<T: Copy>(chosen: &[T], usual: T) -> Vec<T> {
    if chosen.is_empty() { vec![usual] } else { chosen.to_vec() }
}

fn phases(warm_up: u64) -> Vec<Phase> {
    let rest = |name: &str| Phase { name: name.to_owned(), accesses: None };
    if warm_up == 0 { vec![Phase::whole()] } else { vec![Phase::of("warm-up", warm_up), rest("measure")] }
}

fn of_stream(arguments: &SimulateArguments) -> anyhow::Result<Source<'_>> {
    let spec = arguments.stream.unwrap_or(StreamSpec::Zipf { exponent: 0.99 });
    let pages = arguments.pages.0;
    let limit = arguments.limit.map_or(Pages((pages.0 / 4).max(64)), |limit| limit.0);
    let kind = arguments.backing.map_or(spec.usual_kind(), RegionKind::from);
    let kind = spec.own_kind().unwrap_or(kind);
    let request = StreamRequest {
        spec,
        kind,
        pages: u32::try_from(pages.0).expect("a page count is checked when it is read"),
        accesses: arguments.accesses.unwrap_or(ROUNDS * pages.0),
        write_percent: arguments.writes,
        seed: arguments.seed,
        memory: limit,
    };
    // Options that no stream can be made from are told before anything runs.
    let regions = request.build()?.regions().to_vec();
    let spread: u64 = regions.iter().map(|region| u64::from(region.pages)).sum();
    let swap = arguments.swap.map_or(Pages(2 * spread), |swap| swap.0);
    let title = format!(
        "{spec}: {} accesses over {spread} pages ({}) of {}, seed {}",
        request.accesses,
        Bytes(spread * PAGE_SIZE),
        kind_name(kind),
        request.seed
    );
    let warm_up = arguments.warm_up;
    Ok(Source {
        name: "stream".to_owned(),
        title,
        notes: Vec::new(),
        cases: cases(arguments, limit, swap),
        length: request.accesses,
        make: Box::new(move || Ok((request.build()?, phases(warm_up)))),
    })
}

fn kind_name(kind: RegionKind) -> &'static str {
    match kind {
        RegionKind::Anon => "anonymous memory",
        RegionKind::File => "files",
        RegionKind::MappedFile => "mapped files",
        RegionKind::Shmem => "shared memory",
    }
}

fn of_trace<'a>(arguments: &'a SimulateArguments, path: &Path) -> anyhow::Result<Source<'a>> {
    let bytes = input::read(path, LARGEST_TRACE)
        .with_context(|| format!("failed to read the trace {}", path.display()))?;
    let kind = arguments.backing.map_or(RegionKind::File, RegionKind::from);
    let recorded = match arguments.trace_format {
        TraceFormat::Text => trace::record(trace::text(&bytes), kind, Paging::default()),
        TraceFormat::Csv(layout) => trace::record(trace::csv(&bytes, layout), kind, Paging::default()),
        TraceFormat::Oracle => trace::record(trace::oracle_general(&bytes), kind, Paging::default()),
    };
    let recorded: Recorded = recorded.with_context(|| format!("{} is no trace", path.display()))?;
    let pages: u64 = recorded.regions().iter().map(|region| u64::from(region.pages)).sum();
    let limit = arguments.limit.map_or(Pages((pages / 4).max(64)), |limit| limit.0);
    let swap = arguments.swap.map_or(Pages(2 * pages), |swap| swap.0);
    let length = recorded.accesses().len() as u64;
    let warm_up = arguments.warm_up;
    Ok(Source {
        name: "trace".to_owned(),
        title: format!("{}: {length} accesses over {pages} pages of {}", path.display(), kind_name(kind)),
        notes: Vec::new(),
        cases: cases(arguments, limit, swap),
        length,
        make: Box::new(move || Ok((Box::new(recorded.clone()) as Box<dyn Stream>, phases(warm_up)))),
    })
}

fn of_experiment<'a>(arguments: &'a SimulateArguments, path: &Path) -> anyhow::Result<Vec<Source<'a>>> {
    let (plan, sums) = fitted_plan(path, &arguments.fit)?;
    // What does not fit this host can still be simulated.
    sums.problems.iter().for_each(|problem| eprintln!("run-bench: {problem}"));
    let (cases, mut notes) = arm_cases(arguments, &plan)?;
    notes.extend(plan.changes.iter().cloned());
    let limit = cases.iter().filter_map(|case| case.configuration.memcgs[0].pages).max();
    let accesses = arguments.accesses.unwrap_or(ROUNDS * limit.unwrap_or(1 << 16));
    let seed = arguments.seed;
    let source = |planned: &crate::config::PlanWorkload| -> anyhow::Result<Source<'a>> {
        let workload = planned.workload.clone();
        let made = workload_stream(&workload, accesses, seed)?;
        let pages: u64 = made.stream.regions().iter().map(|region| u64::from(region.pages)).sum();
        Ok(Source {
            name: workload.name().to_owned(),
            title: format!(
                "{}: {} over {pages} pages ({}), seed {seed}",
                plan.experiment.title,
                workload.name(),
                Bytes(pages * PAGE_SIZE)
            ),
            notes: made.notes.into_iter().chain(notes.iter().cloned()).collect(),
            cases: cases.clone(),
            length: accesses,
            make: Box::new(move || {
                let made = workload_stream(&workload, accesses, seed)?;
                Ok((made.stream, made.phases))
            }),
        })
    };
    plan.workloads.iter().map(source).collect()
}

/// The arms, and the baseline with the patches of the command line.
fn arm_cases(arguments: &SimulateArguments, plan: &Plan) -> anyhow::Result<(Vec<Case>, Vec<String>)> {
    let running = SysRoot::host().value("/proc/sys/kernel/osrelease");
    let preference = Preference {
        version: single(&arguments.kernel, "--kernel")?,
        policy: single(&arguments.policy, "--policy")?,
        swappiness: arguments.swappiness,
        running: running.as_deref(),
    };
    let (mut cases, mut notes) = (Vec::new(), Vec::new());
    for arm in &plan.arms {
        let scenario = arm_scenario(plan, arm, &preference)?;
        notes.extend(scenario.notes);
        cases.push(Case { name: scenario.name, configuration: scenario.configuration });
    }
    let flags = chosen_flags(arguments);
    if flags != Flags::NONE {
        let patched = cases[0].with(flags);
        cases.push(patched);
    }
    Ok((cases, notes))
}

/// Arms take one kernel and one policy.
fn single<T: Copy>(chosen: &[T], option: &str) -> anyhow::Result<Option<T>> {
    match chosen {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err(super::super::exit::UsageError(format!(
            "{option} is given {} times, but an arm runs one; give it once, or a stream instead of an experiment",
            chosen.len()
        ))
        .into()),
    }
}
