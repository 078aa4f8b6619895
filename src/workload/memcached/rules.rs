//! When the numbers of a run do not mean what they seem to.

use super::loader::LoaderSpec;
use super::loader::Requests;
use super::result::{CommandResult, LoadRun};
use super::stats::Stats;
use crate::config::workload::KeyPattern;
use crate::store::Violation;
use crate::units::Nanos;

/// What a run is judged by.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    pub(super) spec: &'a LoaderSpec,
    pub(super) runs: &'a [LoadRun],
    pub(super) before: &'a Stats,
    pub(super) after: &'a Stats,
    pub(super) allow_evictions: bool,
    /// All keys were stored before the measured runs.
    pub(super) filled: bool,
}

impl Evidence<'_> {
    fn growth(&self, name: &str) -> u64 {
        let [before, after] = [self.before, self.after].map(|s| s.number(name).unwrap_or(0));
        after.saturating_sub(before)
    }

    fn items_growth(&self, name: &str) -> u64 {
        self.after.items_sum(name).saturating_sub(self.before.items_sum(name))
    }
}

/// Every rule that the run broke.
pub(super) fn judge(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    server_counters(evidence, &mut found);
    work_done(evidence, &mut found);
    agreement(evidence, &mut found);
    contents(evidence, &mut found);
    found
}

/// The rules that [`LoaderSpec::example`] breaks after so many sets, with such counters of the server.
pub(crate) fn of_example(after: &[(&str, u64)], sets: u64) -> Result<Vec<String>, String> {
    let stats = |numbers: &[(&str, u64)]| {
        let lines: String = numbers.iter().map(|(name, value)| format!("STAT {name} {value}\r\n")).collect();
        Stats::parse(&format!("{lines}END\r\n"))
    };
    let count = |count| CommandResult { count, ..CommandResult::default() };
    let run = LoadRun {
        index: 1,
        duration: Nanos::from_seconds(1),
        sets: count(sets),
        gets: count(0),
        totals: count(sets),
        ops_per_second: Vec::new(),
        connection_errors: 0,
    };
    let (before, after) = (stats(&[("cmd_set", 0), ("evictions", 0)])?, stats(after)?);
    let (spec, runs) = (LoaderSpec::example(), [run]);
    let evidence = Evidence {
        spec: &spec,
        runs: &runs,
        before: &before,
        after: &after,
        allow_evictions: false,
        filled: false,
    };
    Ok(judge(&evidence).into_iter().map(|violation| violation.rule).collect())
}

fn server_counters(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let evictions = evidence.growth("evictions");
    if evictions > 0 && !evidence.allow_evictions {
        found.push(Violation::new(
            "memcached.evictions",
            "memcached threw items away, so later requests touched less memory than planned; raise memory under \
             [workload.memcached], lower keys, or write allow-evictions = true if the claim's own set-up evicts",
            format!("evictions +{evictions}"),
        ));
    }
    let (no_memory, out_of_memory) =
        (evidence.growth("store_no_memory"), evidence.items_growth("outofmemory"));
    if no_memory + out_of_memory > 0 {
        found.push(Violation::new(
            "memcached.out_of_memory",
            "memcached refused to store items for want of memory of their size class; this is the server's own limit, \
             not the kernel's: raise memory under [workload.memcached]",
            format!("store_no_memory +{no_memory}, items outofmemory +{out_of_memory}"),
        ));
    }
    let (rejected, disabled) =
        (evidence.growth("rejected_connections"), evidence.growth("listen_disabled_num"));
    if rejected + disabled > 0 {
        found.push(Violation::new(
            "memcached.rejected_connections",
            "memcached turned connections away, so the load was smaller than asked; raise max-connections or the limit \
             of open files",
            format!("rejected_connections +{rejected}, listen_disabled_num +{disabled}"),
        ));
    }
}

fn work_done(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let spec = evidence.spec;
    for run in evidence.runs {
        if run.totals.count == 0 {
            found.push(Violation::new(
                "load.no_work",
                "the load generator ended without one operation; success of its process means nothing",
                format!("run {}: 0 operations", run.index),
            ));
        } else if let Some(each) = spec.requests_per_client() {
            let expected = each * spec.total_clients();
            if run.totals.count != expected {
                found.push(Violation::new(
                    "load.operations",
                    "the load generator did another number of operations than was asked",
                    format!("run {}: {} operations, {expected} asked", run.index, run.totals.count),
                ));
            }
        }
        if run.connection_errors > 0 {
            found.push(Violation::new(
                "load.connection_errors",
                "connections of the load generator broke during the run",
                format!("run {}: {} connection errors", run.index, run.connection_errors),
            ));
        }
    }
}

/// The server must have seen the operations that the load generator claims.
fn agreement(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let sum = |count: fn(&LoadRun) -> u64| evidence.runs.iter().map(count).fold(0, u64::saturating_add);
    let timed = matches!(evidence.spec.requests, Requests::For(_));
    // When time ends a run, a pipeline may be on its way without being counted.
    let in_flight = evidence.spec.total_clients() * u64::from(evidence.spec.pipeline);
    let tolerance = if timed { in_flight * u64::from(evidence.spec.repeat) } else { 0 };
    for (name, claimed) in [("cmd_set", sum(|r| r.sets.count)), ("cmd_get", sum(|r| r.gets.count))] {
        let seen = evidence.growth(name);
        if seen.abs_diff(claimed) > tolerance {
            found.push(Violation::new(
                "load.disagreement",
                "the server counted other operations than the load generator reports; one of them lost some",
                format!("{name} +{seen}, load generator {claimed}"),
            ));
        }
    }
}

fn contents(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let spec = evidence.spec;
    let complete = evidence.filled || stores_every_key(spec);
    if !complete || evidence.allow_evictions || evidence.growth("evictions") > 0 {
        return;
    }
    let keys = spec.key_maximum - spec.key_minimum + 1;
    let items = evidence.after.number("curr_items").unwrap_or(0);
    if items != keys {
        found.push(Violation::new(
            "memcached.items",
            "the server does not hold one item for each key, so the load walked another range than was asked",
            format!("curr_items {items}, keys {keys}"),
        ));
    }
    let misses = evidence.growth("get_misses");
    if evidence.filled && misses > 0 {
        found.push(Violation::new(
            "memcached.misses",
            "GETs missed although every key had been stored; a miss costs far less than a hit",
            format!("get_misses +{misses}"),
        ));
    }
}

/// Whether the SETs of the measured runs alone reach every key.
fn stores_every_key(spec: &LoaderSpec) -> bool {
    let Some(each) = spec.requests_per_client() else { return false };
    let round = u64::from(spec.ratio.0) + u64::from(spec.ratio.1);
    // Every client begins its rounds anew in each run, and its walk too.
    let sets = each / round * u64::from(spec.ratio.0) + (each % round).min(spec.ratio.0.into());
    let distance = spec.key_maximum - spec.key_minimum;
    match spec.set_pattern {
        KeyPattern::Parallel => {
            let share = distance / spec.total_clients() + 1;
            // What the last client takes beyond an equal share does not exist: shares are rounded up.
            sets >= share
        }
        KeyPattern::Sequential => sets > distance,
        KeyPattern::Random | KeyPattern::Gaussian | KeyPattern::Zipf => false,
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
