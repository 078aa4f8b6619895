//! Counters of both sides beside each other, and what is allowed between them.

use std::fmt;

use super::cell::{Cell, Role};
use super::guest::RAMDISK;
use super::replay::Snapshot;
use crate::model::counter::{Counter, Counters};
use crate::model::platform::Platform;
use crate::model::simulation::{Configuration, MemcgLimit, Outcome, Phase, PhaseOutcome, Simulation};
use crate::model::version::{PolicyKind, Version};

/// Counts below this show nothing but chance.
const FEWEST: u64 = 1000;

/// Where a counter is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Memcg,
    Machine,
}

/// A counter, where it is read, and the allowed difference in thousandths.
const COUNTERS: [(Place, &str, u64); 19] = [
    (Place::Memcg, "pgfault", 1),
    (Place::Memcg, "pgmajfault", 1),
    (Place::Memcg, "pgscan", 5),
    (Place::Memcg, "pgsteal", 2),
    (Place::Memcg, "pgrefill", 20),
    (Place::Memcg, "pgactivate", 20),
    (Place::Memcg, "pgdeactivate", 20),
    (Place::Memcg, "workingset_refault_anon", 5),
    (Place::Memcg, "workingset_refault_file", 5),
    (Place::Memcg, "workingset_activate_anon", 20),
    (Place::Memcg, "workingset_activate_file", 20),
    (Place::Memcg, "workingset_restore_anon", 20),
    (Place::Memcg, "workingset_restore_file", 20),
    (Place::Machine, "pswpin", 2),
    (Place::Machine, "pswpout", 2),
    (Place::Machine, "pgscan_anon", 5),
    (Place::Machine, "pgscan_file", 5),
    (Place::Machine, "pgsteal_anon", 2),
    (Place::Machine, "pgsteal_file", 2),
];

/// How a counter compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Equal to the last count.
    Exact,
    Within,
    Outside,
    /// Too few counts to say.
    Few,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    counter: &'static str,
    kernel: u64,
    model: u64,
    allowed: u64,
    fit: Fit,
}

/// One cell's table.
#[derive(Debug, Clone, PartialEq)]
pub struct CellResult {
    name: String,
    role: Role,
    /// Pages reclaimed by the kernel, in limits.
    turnover: f64,
    lines: Vec<Line>,
    ended_early: bool,
}

impl CellResult {
    pub fn is_within(&self) -> bool {
        !self.ended_early && self.lines.iter().all(|line| line.fit != Fit::Outside)
    }
}

/// Simulates `cell` and holds it against what was measured.
pub fn cell(cell: &Cell, version: Version, measured: &[Snapshot]) -> CellResult {
    let outcome = simulate(cell, version);
    let lines = COUNTERS.iter().filter_map(|(place, name, allowed)| {
        let kernel = change(measured, *place, name);
        let model = simulated(&outcome, *place, name);
        (kernel > 0 || model > 0).then(|| Line {
            counter: name,
            kernel,
            model,
            allowed: *allowed,
            fit: fit(kernel, model, *allowed),
        })
    });
    let lines: Vec<Line> = lines.collect();
    let stolen = change(measured, Place::Memcg, "pgsteal");
    CellResult {
        name: cell.name.clone(),
        role: cell.role,
        turnover: stolen as f64 / cell.limit.0 as f64,
        lines,
        ended_early: outcome.out_of_memory.is_some(),
    }
}

fn fit(kernel: u64, model: u64, allowed: u64) -> Fit {
    let difference = kernel.abs_diff(model);
    if difference == 0 {
        Fit::Exact
    } else if kernel.max(model) < FEWEST {
        Fit::Few
    } else if difference * 1000 <= kernel * allowed {
        Fit::Within
    } else {
        Fit::Outside
    }
}

fn simulate(cell: &Cell, version: Version) -> Outcome {
    let memcg = MemcgLimit { swappiness: cell.swappiness, ..MemcgLimit::pages(cell.limit.0) };
    let configuration = Configuration {
        version,
        policy: cell.policy,
        // Time stands still while the guest computes: flushes come between phases only.
        platform: Platform { stats_flush: Some(u64::MAX), ..Platform::UML },
        memcgs: vec![memcg],
        // The first page of a swap device is its header.
        swap_pages: RAMDISK.to_pages().0 - 1,
        ..Configuration::new(PolicyKind::Mglru, cell.limit.0)
    };
    let request = cell.load.request().expect("a test builds the stream of every cell");
    let mut stream = request.build().expect("a test builds the stream of every cell");
    let phases: Vec<Phase> =
        (1..=cell.load.phases).map(|n| Phase::of(&n.to_string(), cell.load.accesses_per_phase)).collect();
    Simulation::new(configuration).run(stream.as_mut(), &phases)
}

/// Counts of the kernel and the model's difference from them, a line a counter and a phase a column.
pub fn by_phase(cell: &Cell, version: Version, measured: &[Snapshot]) -> String {
    let outcome = simulate(cell, version);
    let mut text = String::new();
    for (place, name, _) in COUNTERS {
        let columns: Vec<(u64, u64)> = measured
            .windows(2)
            .zip(&outcome.phases)
            .map(|(pair, phase)| (change(pair, place, name), of_phase(phase, place, name)))
            .collect();
        if columns.iter().any(|(kernel, model)| kernel + model > 0) {
            let cell =
                |(kernel, model): &(u64, u64)| format!("{kernel}{:+}", *model as i128 - i128::from(*kernel));
            let cells: Vec<String> = columns.iter().map(cell).collect();
            text += &format!("  {name}: {}\n", cells.join(", "));
        }
    }
    text
}

fn change(measured: &[Snapshot], place: Place, name: &str) -> u64 {
    let value = |snapshot: Option<&Snapshot>| {
        snapshot.map_or(0, |snapshot| {
            let table = if place == Place::Memcg { &snapshot.memory_stat } else { &snapshot.vmstat };
            table.get(name).copied().unwrap_or(0)
        })
    };
    value(measured.last()).saturating_sub(value(measured.first()))
}

fn simulated(outcome: &Outcome, place: Place, name: &str) -> u64 {
    outcome.phases.iter().map(|phase| of_phase(phase, place, name)).sum()
}

fn of_phase(phase: &PhaseOutcome, place: Place, name: &str) -> u64 {
    let counters: &Counters = match place {
        Place::Memcg => &phase.memcgs[0],
        Place::Machine => &phase.vmstat,
    };
    match name {
        "pgscan" => counters.pgscan(),
        "pgsteal" => counters.pgsteal(),
        _ => Counter::ALL.iter().find(|c| c.name() == name).map_or(0, |counter| counters.get(*counter)),
    }
}

impl fmt::Display for CellResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = match self.role {
            Role::Tuning => "tuning cell, no evidence",
            Role::Test => "test cell",
        };
        writeln!(f, "{} ({role}; {:.1} limits reclaimed)", self.name, self.turnover)?;
        writeln!(
            f,
            "  {:<26} {:>9} {:>9} {:>18} {:>8}",
            "counter", "kernel", "model", "difference", "allowed"
        )?;
        for line in &self.lines {
            let difference = line.model as i128 - i128::from(line.kernel);
            let share = 100.0 * difference as f64 / (line.kernel.max(1)) as f64;
            let verdict = match line.fit {
                Fit::Exact => "exact",
                Fit::Within => "within",
                Fit::Outside => "OUTSIDE",
                Fit::Few => "too few",
            };
            writeln!(
                f,
                "  {:<26} {:>9} {:>9} {:>18} {:>7.1}% {verdict}",
                line.counter,
                line.kernel,
                line.model,
                format!("{difference:+} ({share:+.2}%)"),
                line.allowed as f64 / 10.0
            )?;
        }
        if self.ended_early {
            writeln!(f, "  the model ran out of memory")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_held_against_the_kernels_count() {
        assert_eq!(fit(100_000, 100_000, 1), Fit::Exact);
        assert_eq!(fit(100_000, 100_100, 1), Fit::Within);
        assert_eq!(fit(100_000, 100_101, 1), Fit::Outside);
        assert_eq!(fit(900, 0, 1), Fit::Few);
        assert_eq!(fit(900, 1000, 1), Fit::Outside);
    }
}
