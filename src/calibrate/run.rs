//! The whole calibration: rounds over all groups, and a profile of what they found.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::bookkeeping::{Counters, Lists};
use super::contention::Contention;
use super::copying::Copying;
use super::crossing::Crossing;
use super::error::CalibrateError;
use super::machine::{MachineUnderTest, ProcessorTime, shape};
use super::memory::{Loads, Prefetch};
use super::parameter::{Parameter, Unit};
use super::profile::{Entry, Profile, Provenance};
use super::round::Group;
use super::timing::{Budget, quantile};
use crate::host::SysRoot;
use crate::host::facts::HostFacts;

/// Ends of an interval over the rounds.
const LOW: f64 = 0.05;
const HIGH: f64 = 0.95;
/// Above these the host was not quiet.
const NOISY_STEAL: f64 = 0.02;
const NOISY_SPREAD: f64 = 0.25;
/// Half of two processors are busy with the benchmark itself.
const NOISY_BUSY: f64 = 0.25;
/// Even a calm run repeats no better than this.
const LEAST_SPREAD: f64 = 0.02;

/// Rounds end here on a host so busy that they take long; fewer than this many are
/// no interval.
const LONGEST: Duration = Duration::from_secs(80);
const FEWEST_ROUNDS: u32 = 3;

/// How much to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationRequest {
    pub rounds: u32,
    pub sample: Duration,
    pub seed: u64,
}

impl CalibrationRequest {
    /// About a minute.
    pub fn full(seed: u64) -> Self {
        CalibrationRequest { rounds: 11, sample: Duration::from_millis(10), seed }
    }

    /// A few seconds, for a first look.
    pub fn quick(seed: u64) -> Self {
        CalibrationRequest { rounds: 3, sample: Duration::from_millis(4), seed }
    }
}

/// Values of one parameter, a round each.
type Rounds = BTreeMap<Parameter, Vec<f64>>;

/// Measures every parameter that this machine can, and fills the rest with
/// assumed ranges. `progress` is told each round.
pub fn calibrate(
    root: &SysRoot,
    request: &CalibrationRequest,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Profile, CalibrateError> {
    let start = Instant::now();
    let facts = HostFacts::gather(root, Path::new("."));
    let machine = MachineUnderTest::here(root);
    machine.pin(0);
    let before = ProcessorTime::now(root);
    let rounds = measure(&machine, request, progress);
    let (stolen, busy) = ProcessorTime::now(root).shares_since(&before);
    machine.unpin();
    let rounds = rounds?;
    let done = rounds.values().map(Vec::len).max().unwrap_or(0) as u32;
    let mut entries = entries(&rounds)?;
    let own = 1.0 / facts.cpu.online.unwrap_or(1).max(1) as f64;
    let mut notes = notes(&entries, stolen, busy - own, &machine);
    if done < request.rounds {
        notes
            .push(format!("ended after {done} of {} rounds: the host was too busy for more", request.rounds));
    }
    assume_the_rest(&mut entries);
    let provenance = Provenance {
        made_by: format!("run-bench calibrate {}", env!("CARGO_PKG_VERSION")),
        date: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seed: Some(request.seed),
        rounds: Some(done),
        seconds: Some((start.elapsed().as_secs_f64() * 10.0).round() / 10.0),
        kernel: facts.kernel.release.clone(),
        virtualised: facts.cpu.is_guest,
        notes,
    };
    Profile::new(shape(root, &facts), provenance, entries)
        .map_err(|message| CalibrateError::Invalid { path: "the measured profile".into(), message })
}

fn measure(
    machine: &MachineUnderTest,
    request: &CalibrationRequest,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Rounds, CalibrateError> {
    let budget = Budget { sample: request.sample, samples: 3 };
    let mut groups: Vec<Box<dyn Group + '_>> = vec![
        Box::new(Loads::new(machine, request.seed)?),
        Box::new(Prefetch::new(machine, request.seed)?),
        Box::new(Counters::new(machine, request.seed)?),
        Box::new(Lists::new()?),
        Box::new(Contention::new(machine)?),
        Box::new(Copying::new(machine, request.seed)?),
        Box::new(Crossing::new(machine)?),
    ];
    let start = Instant::now();
    let mut rounds = Rounds::new();
    for round in 0..request.rounds.max(1) {
        if round >= FEWEST_ROUNDS && start.elapsed() > LONGEST {
            break;
        }
        progress(round, request.rounds);
        let mut found = BTreeMap::new();
        for group in &mut groups {
            found.extend(group.round(budget)?);
        }
        // A fresh page is zeroed inside the fault, while it is hot.
        if let (Some(fault), Some(zero)) = (found.get(&Parameter::Fault), found.get(&Parameter::ZeroL2)) {
            found.insert(Parameter::Fault, fault - zero);
        }
        for (parameter, value) in found {
            rounds.entry(parameter).or_default().push(value);
        }
    }
    Ok(rounds)
}

/// Median and 90% range over the rounds; refuses what no processor can do.
fn entries(rounds: &Rounds) -> Result<BTreeMap<Parameter, Entry>, CalibrateError> {
    let mut entries = BTreeMap::new();
    for (parameter, values) in rounds {
        let mut values = values.clone();
        let median = quantile(&mut values, 0.5);
        if median < parameter.least() {
            let (parameter, least) = (parameter.name(), parameter.least());
            return Err(CalibrateError::Implausible { parameter, value: median, least });
        }
        let least = LEAST_SPREAD * median.abs();
        let low = quantile(&mut values, LOW).min(median - least);
        let high = quantile(&mut values, HIGH).max(median + least);
        entries.insert(*parameter, Entry::measured(round(low), round(median), round(high)));
    }
    Ok(entries)
}

/// Four significant digits.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

fn notes(
    entries: &BTreeMap<Parameter, Entry>,
    stolen: f64,
    others: f64,
    machine: &MachineUnderTest,
) -> Vec<String> {
    let mut notes = Vec::new();
    if cfg!(debug_assertions) {
        notes.push(
            "built without optimisation: the numbers are those of slow code, not of this machine".to_owned(),
        );
    }
    if stolen > NOISY_STEAL {
        notes.push(format!("the hypervisor took {:.0}% of processor time", 100.0 * stolen));
    }
    if others > NOISY_BUSY {
        notes.push(format!("other work used {:.0}% of all processors", 100.0 * others));
    }
    let wide: Vec<&str> = entries
        .iter()
        .filter(|(p, e)| p.unit() == Unit::Nanoseconds && e.spread() > NOISY_SPREAD)
        .map(|(p, _)| p.name())
        .collect();
    if !wide.is_empty() {
        notes.push(format!("spread over the rounds above {:.0}%: {}", 100.0 * NOISY_SPREAD, wide.join(", ")));
    }
    if machine.allowed.len() < 4 {
        let count = machine.allowed.len();
        notes
            .push(format!("{count} processors: costs among many processors and between sockets are assumed"));
    }
    notes
}

/// Costs of more processors than there are, from the two that were measured (or
/// from a lone atomic operation), by ratios that published core-to-core latencies
/// span.
fn assume_the_rest(entries: &mut BTreeMap<Parameter, Entry>) {
    let middle = |entries: &BTreeMap<Parameter, Entry>, parameter: Parameter| {
        entries.get(&parameter).map_or(0.0, |entry| entry.median)
    };
    let mut assume = |parameter: Parameter, from: Parameter, factors: (f64, f64, f64), why: &str| {
        // A difference of two noisy measurements may come out below zero.
        let base = middle(entries, from).max(parameter.least()).max(1.0);
        let range = (round(factors.0 * base), round(factors.1 * base), round(factors.2 * base));
        let text = format!("{why}; {}, {} and {} times {}", factors.0, factors.1, factors.2, from.name());
        entries.entry(parameter).or_insert_with(|| Entry::assumed(range, &text));
    };
    let one = "one processor only";
    let few = "fewer than four processors here; cores of one socket differ by up to 3 in published latencies";
    let socket =
        "one socket here; a line from another socket takes 1.5 to 4 times as long in published latencies";
    assume(Parameter::RmwTwo, Parameter::Rmw, (4.0, 10.0, 25.0), one);
    assume(Parameter::SpinTwo, Parameter::RmwTwo, (1.0, 2.0, 4.0), one);
    assume(Parameter::RmwMany, Parameter::RmwTwo, (0.7, 1.5, 3.0), few);
    assume(Parameter::SpinMany, Parameter::SpinTwo, (0.7, 1.5, 3.0), few);
    assume(Parameter::RmwCross, Parameter::RmwMany, (1.2, 2.0, 4.0), socket);
    assume(Parameter::SpinCross, Parameter::SpinMany, (1.2, 2.0, 4.0), socket);
    assume(Parameter::TlbOne, Parameter::TlbLocal, (0.5, 1.5, 4.0), one);
    assume(Parameter::TlbMany, Parameter::TlbOne, (1.0, 2.0, 6.0), few);
}

/// Parameters measured in both profiles whose ranges do not meet, with the gap
/// as a share of the median.
pub fn disagreements(one: &Profile, other: &Profile) -> Vec<(Parameter, f64)> {
    let apart = |parameter: &Parameter| {
        let (a, b) = (one.entry(*parameter), other.entry(*parameter));
        let gap = (a.low - b.high).max(b.low - a.high);
        (gap > 0.0).then(|| (*parameter, gap / a.median.abs().max(f64::MIN_POSITIVE)))
    };
    Parameter::ALL.iter().filter_map(apart).collect()
}

#[cfg(test)]
mod tests;
