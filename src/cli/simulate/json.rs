//! The result as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::counter::{Counter, Counters};
use crate::model::event::Event;
use crate::model::simulation::PhaseOutcome;

use super::case::Simulated;
use super::table::memory_stat;

/// Version of this format.
const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
pub struct Document {
    schema: u32,
    workloads: Vec<WorkloadJson>,
}

#[derive(Debug, Serialize)]
struct WorkloadJson {
    stream: String,
    notes: Vec<String>,
    cases: Vec<CaseJson>,
}

#[derive(Debug, Serialize)]
struct CaseJson {
    name: String,
    kernel: &'static str,
    policy: &'static str,
    flags: Vec<&'static str>,
    validation: String,
    limit_pages: Option<u64>,
    swap_pages: u64,
    swappiness: u32,
    phases: Vec<PhaseJson>,
    /// Why the run ended early.
    out_of_memory: Option<String>,
}

#[derive(Debug, Serialize)]
struct PhaseJson {
    name: String,
    accesses: u64,
    memory_stat: BTreeMap<&'static str, u64>,
    memory_events: BTreeMap<&'static str, u64>,
    vmstat: BTreeMap<&'static str, u64>,
    events: BTreeMap<&'static str, u64>,
}

/// One stream and its cases.
pub struct Workload<'a> {
    pub stream: &'a str,
    pub notes: &'a [String],
    pub runs: &'a [Simulated],
}

pub fn document(workloads: &[Workload<'_>]) -> Document {
    let workload = |workload: &Workload<'_>| WorkloadJson {
        stream: workload.stream.to_owned(),
        notes: workload.notes.to_vec(),
        cases: workload.runs.iter().map(case).collect(),
    };
    Document { schema: SCHEMA, workloads: workloads.iter().map(workload).collect() }
}

fn case(run: &Simulated) -> CaseJson {
    let configuration = &run.case.configuration;
    let memcg = configuration.memcgs[0];
    CaseJson {
        name: run.case.name.clone(),
        kernel: configuration.version.name(),
        policy: configuration.policy.name(),
        flags: run.case.flag_names(),
        validation: run.case.validation(),
        limit_pages: memcg.pages,
        swap_pages: configuration.swap_pages,
        swappiness: memcg.swappiness,
        phases: run.outcome.phases.iter().map(phase).collect(),
        out_of_memory: run.outcome.out_of_memory.as_ref().map(ToString::to_string),
    }
}

fn phase(phase: &PhaseOutcome) -> PhaseJson {
    let is_event = |counter: Counter| matches!(counter, Counter::MemcgMax | Counter::MemcgOom);
    let pick = |counters: &Counters, wanted: &dyn Fn(Counter) -> bool| {
        let chosen = counters.iter().filter(|(counter, _)| wanted(*counter));
        chosen.map(|(counter, count)| (counter.name(), count)).collect::<BTreeMap<_, _>>()
    };
    let memcg = memory_stat(phase);
    let mut stat = pick(&memcg, &|counter| !is_event(counter));
    stat.extend([("pgscan", memcg.pgscan()), ("pgsteal", memcg.pgsteal())]);
    PhaseJson {
        name: phase.name.clone(),
        accesses: phase.accesses,
        memory_stat: stat,
        memory_events: pick(&memcg, &is_event),
        vmstat: pick(&phase.vmstat, &|counter| !is_event(counter)),
        events: Event::ALL.iter().map(|event| (event.name(), phase.events.get(*event))).collect(),
    }
}
