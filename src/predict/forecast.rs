//! A forecast: two simulations of the same stream and seed, without and with the
//! patch, priced with the same draws from a profile.
//!
//! No number in here is a patch's gain. The change comes from events that differ
//! between the two runs, from costs, and from the queue in front of the locks.

use serde::{Deserialize, Serialize};

use crate::calibrate::{Basis, Costs, MachineShape, Parameter, Profile};
use crate::model::flag::Flags;
use crate::stats::random::Chance;

use super::case::{Case, Think};
use super::error::PredictError;
use super::network::{self, Server, Solution};
use super::price::{Demand, Station};
use super::registry::base_of;
use super::simulate::{self, Counted, Effort};

/// The newest schema of forecasts.
pub const FORECAST_SCHEMA: u32 = 1;
const DRAWS: usize = 300;
/// Draws in which the model can do the stated baseline, at least.
const FEWEST_DRAWS: usize = 20;
const REASONS: usize = 3;
/// Lines that a lock guards and its holders hand on with it: list heads and their
/// first folios, sizes, counters.
const GUARDED_LINES: f64 = 4.0;
const LEVELS: [f64; 3] = [0.5, 0.8, 0.9];
const Z_95: f64 = 1.6449;

/// A cost that moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Where it is spent: a lock or the processor.
    pub station: String,
    pub cost: String,
    /// Nanoseconds an operation, at the medians.
    pub before: f64,
    pub after: f64,
}

/// A central interval of the draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

/// The parameter whose range moves the forecast most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weakest {
    pub cost: String,
    pub basis: Basis,
    /// Rank correlation of its draws with the change.
    pub correlation: f64,
}

/// The forecast change of a metric, in percent of the metric's own direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forecast {
    pub schema: u32,
    pub patches: Vec<String>,
    /// Patches that are on in both kernels.
    pub base: Vec<String>,
    pub workload: String,
    pub metric: String,
    pub machine: String,
    pub median: f64,
    /// 90% interval.
    pub low: f64,
    pub high: f64,
    pub levels: Vec<Level>,
    /// What binds the throughput before and after, at the medians.
    pub bound_before: String,
    pub bound_after: String,
    /// Of the busiest lock, before.
    pub utilisation: f64,
    pub reasons: Vec<Reason>,
    pub weakest: Option<Weakest>,
    pub draws: usize,
    /// Draws that contradict the baseline and do not count.
    pub rejected: usize,
    pub seed: u64,
    pub notes: Vec<String>,
}

impl Forecast {
    /// Whether nothing beyond `margin` percent is expected.
    pub fn is_within(&self, margin: f64) -> bool {
        self.low > -margin && self.high < margin
    }
}

/// What is known of the machine and of the two kernels.
struct Priced<'a> {
    case: &'a Case,
    machine: &'a MachineShape,
    before: Counted,
    after: Counted,
}

/// Forecasts what `flags` change for `case` on the machine of `profile`.
pub fn forecast(
    case: &Case,
    flags: Flags,
    profile: &Profile,
    effort: Effort,
) -> Result<Forecast, PredictError> {
    let base = base_of(flags);
    let (old, new) = simulate::sides(flags, base);
    let machine = &profile.machine;
    let before = simulate::simulate(case, old, machine, effort)?;
    let after = simulate::simulate(case, new, machine, effort)?;
    let priced = Priced { case, machine, before, after };
    let mut drawn = match (&priced.before, &priced.after) {
        (Counted::Levels(before), Counted::Levels(after)) => Drawn::of_levels(before, after),
        _ => priced.draw(profile, effort.seed)?,
    };
    let weakest = drawn.weakest(profile);
    drawn.changes.sort_by(f64::total_cmp);
    let quantile = |share: f64| quantile(&drawn.changes, share);
    let level =
        |share: f64| Level { share, low: quantile(0.5 - share / 2.0), high: quantile(0.5 + share / 2.0) };
    let costs = profile.median();
    let (one, two) = (priced.demand(&priced.before, &costs), priced.demand(&priced.after, &costs));
    let prior = case.think.median;
    let anchor = priced.anchor(&one, &costs, prior, 0.5).unwrap_or(Anchor { think: prior, held: 0.0 });
    let (solved, resolved) = (priced.solve(&one, anchor, &costs), priced.solve(&two, anchor, &costs));
    let names = |flags: Flags| flags.iter().map(|flag| flag.name().to_owned()).collect();
    let mut result = Forecast {
        schema: FORECAST_SCHEMA,
        patches: names(flags),
        base: names(base),
        workload: case.name.to_owned(),
        metric: case.metric.to_owned(),
        machine: machine.name.clone(),
        median: quantile(0.5),
        low: quantile(0.05),
        high: quantile(0.95),
        levels: LEVELS.map(level).to_vec(),
        bound_before: solved.bound.text(),
        bound_after: resolved.bound.text(),
        utilisation: solved.utilisation,
        reasons: reasons(&one, &two),
        weakest,
        draws: drawn.changes.len(),
        rejected: drawn.rejected,
        seed: effort.seed,
        notes: Vec::new(),
    };
    result.notes = notes(&result, case, profile);
    Ok(result)
}

/// Time that is not priced: outside the locks, and under each of them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Anchor {
    think: f64,
    held: f64,
}

/// Changes in percent, with the draws that made them.
struct Drawn {
    changes: Vec<f64>,
    costs: Vec<Costs>,
    rejected: usize,
}

impl Drawn {
    fn of_levels(before: &[(f64, f64); 3], after: &[(f64, f64); 3]) -> Self {
        let changes = before.iter().zip(after).map(|(b, a)| 100.0 * (a.0 / b.0.max(1.0) - 1.0));
        Drawn { changes: changes.collect(), costs: Vec::new(), rejected: 0 }
    }

    /// The parameter whose rank goes most with the rank of the change.
    fn weakest(&self, profile: &Profile) -> Option<Weakest> {
        let spread =
            self.changes.iter().copied().fold((f64::MAX, f64::MIN), |(l, h), c| (l.min(c), h.max(c)));
        if self.costs.len() < FEWEST_DRAWS || spread.1 - spread.0 < 1e-6 {
            return None;
        }
        let changes = ranks(&self.changes);
        let one = |parameter: &Parameter| {
            let values: Vec<f64> = self.costs.iter().map(|costs| costs.get(*parameter)).collect();
            (*parameter, correlation(&ranks(&values), &changes))
        };
        let strongest = Parameter::ALL.iter().map(one).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        Some(Weakest {
            cost: strongest.0.name().to_owned(),
            basis: profile.entry(strongest.0).basis,
            correlation: round(strongest.1),
        })
    }
}

impl Priced<'_> {
    fn demand(&self, counted: &Counted, costs: &Costs) -> Demand {
        simulate::demand(counted, self.case.tasks, self.machine, costs)
    }

    /// More tasks than processors wait for one another's turns.
    fn crowding(&self) -> f64 {
        (f64::from(self.case.tasks) / f64::from(self.machine.cpus)).max(1.0)
    }

    /// The locks, each held `unpriced` longer than priced.
    fn servers(&self, demand: &Demand, costs: &Costs, unpriced: f64) -> Vec<Server> {
        // A lruvec and a zone of each node; the one folio has one line.
        let share = |station: Station| match station {
            Station::FolioLine => 1.0,
            _ => f64::from(self.machine.nodes),
        };
        let server = |station: Station| {
            let (rmw, spin) = simulate::contended(station, self.case.tasks, self.machine);
            let handed_on = costs.get(spin) + GUARDED_LINES * costs.get(rmw);
            Server {
                name: station.name(),
                demand: unpriced + demand.at(station) / share(station),
                handoff: demand.holds(station) / share(station) * handed_on,
            }
        };
        let used = Station::LOCKS.into_iter().filter(|station| demand.at(*station) > 0.0);
        used.map(server).collect()
    }

    fn solve(&self, demand: &Demand, anchor: Anchor, costs: &Costs) -> Solution {
        let outside = (anchor.think + demand.at(Station::Processor)) * self.crowding();
        network::solve(self.case.tasks, outside, &self.servers(demand, costs, anchor.held))
    }

    /// Where the time lies that the baseline shows and the prices do not explain:
    /// `share` of it outside the locks, the rest under them. `None` if the prices
    /// alone are more than the baseline allows.
    fn anchor(&self, demand: &Demand, costs: &Costs, prior: f64, share: f64) -> Option<Anchor> {
        let Some(stated) = self.case.baseline.map(|baseline| baseline * 1e-9) else {
            return Some(Anchor { think: prior, held: 0.0 });
        };
        let most = network::think_for(self.case.tasks, stated, &self.servers(demand, costs, 0.0))?;
        let most = most / self.crowding() - demand.at(Station::Processor);
        if most <= prior {
            return Some(Anchor { think: most, held: 0.0 });
        }
        let think = prior + share * (most - prior);
        let (mut low, mut high) = (0.0, 1.0 / stated);
        for _ in 0..30 {
            let held = 0.5 * (low + high);
            if self.solve(demand, Anchor { think, held }, costs).throughput >= stated {
                low = held;
            } else {
                high = held;
            }
        }
        Some(Anchor { think, held: 0.5 * (low + high) })
    }

    fn draw(&self, profile: &Profile, seed: u64) -> Result<Drawn, PredictError> {
        let mut chance = Chance::stream(seed, 17);
        let mut drawn = Drawn { changes: Vec::new(), costs: Vec::new(), rejected: 0 };
        for _ in 0..DRAWS {
            let costs = profile.draw(&mut chance);
            let think = at(&self.case.think, chance.normal());
            let (before, after) = (self.demand(&self.before, &costs), self.demand(&self.after, &costs));
            let Some(anchor) = self.anchor(&before, &costs, think, chance.share()) else {
                drawn.rejected += 1;
                continue;
            };
            let one = self.solve(&before, anchor, &costs).throughput;
            let two = self.solve(&after, anchor, &costs).throughput;
            let ratio = if self.case.higher_is_better { two / one } else { one / two };
            drawn.changes.push(100.0 * (ratio - 1.0));
            drawn.costs.push(costs);
        }
        if drawn.changes.len() < FEWEST_DRAWS {
            return Err(PredictError::Contradiction { stated: self.case.baseline.unwrap_or(0.0) });
        }
        Ok(drawn)
    }
}

fn at(think: &Think, z: f64) -> f64 {
    if think.median <= 0.0 {
        return 0.0;
    }
    let end = if z < 0.0 { think.low } else { think.high };
    think.median * (end / think.median).powf(z.abs().min(2.5) / Z_95)
}

fn reasons(before: &Demand, after: &Demand) -> Vec<Reason> {
    let mut moved = before.differences(after);
    moved.sort_by(|a, b| (b.2 - b.3).abs().total_cmp(&(a.2 - a.3).abs()));
    moved.truncate(REASONS);
    moved
        .into_iter()
        .map(|(station, parameter, before, after)| Reason {
            station: station.name().to_owned(),
            cost: parameter.name().to_owned(),
            before: round(before),
            after: round(after),
        })
        .collect()
}

fn notes(forecast: &Forecast, case: &Case, profile: &Profile) -> Vec<String> {
    let mut notes = Vec::new();
    match case.baseline {
        Some(value) => notes.push(format!(
            "speed anchored at a baseline of {value:.0} operations a second; whether the time that the prices do not \
             explain lies under a lock or outside is not known, and drawn"
        )),
        None => notes.push(format!("absolute speed is uncalibrated; {}", case.think.grounds)),
    }
    if forecast.rejected > 0 {
        let all = forecast.rejected + forecast.draws;
        notes.push(format!("{} of {all} draws contradict the baseline and were left out", forecast.rejected));
    }
    if forecast.is_within(1.0) {
        notes.push("no change of 1% is expected: a usual number of runs cannot resolve it".to_owned());
    }
    let of = |basis| Parameter::ALL.iter().filter(|p| profile.entry(**p).basis == basis).count();
    let (measured, cited, assumed) = (of(Basis::Measured), of(Basis::Cited), of(Basis::Assumed));
    notes.push(format!("costs of the profile: {measured} measured, {cited} cited, {assumed} assumed"));
    notes
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank as f64);
    ranks
}

fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let count = one.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (a, b) = (mean(one), mean(other));
    let product: f64 = one.iter().zip(other).map(|(x, y)| (x - a) * (y - b)).sum();
    let square = |values: &[f64], mean: f64| values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    product / (square(one, a) * square(other, b)).sqrt().max(f64::MIN_POSITIVE)
}

/// Of ascending values.
fn quantile(values: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (values.len().max(1) - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    round(values[below] + (values[above] - values[below]) * place.fract())
}

/// Five decimals: more would be noise in a file that is compared.
fn round(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
