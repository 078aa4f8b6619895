//! What one thread counted in one run.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::super::result::CommandResult;
use super::super::result::LoadRun;
use super::super::result::Quantiles;
use super::keys::Operation;
use crate::units::Nanos;

/// Latencies are recorded in nanoseconds with three digits, up to this.
const LONGEST_LATENCY: u64 = 600_000_000_000;
const DIGITS: u8 = 3;

/// Counts of one kind of operation.
#[derive(Debug, Clone)]
pub(super) struct CommandTally {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) sent_bytes: u64,
    pub(super) received_bytes: u64,
    /// Sum of all latencies, exact, in nanoseconds.
    sum: u128,
    latency: Histogram<u64>,
}

impl CommandTally {
    fn new() -> Self {
        let latency = Histogram::new_with_bounds(1, LONGEST_LATENCY, DIGITS).expect("the bounds are sound");
        CommandTally { hits: 0, misses: 0, sent_bytes: 0, received_bytes: 0, sum: 0, latency }
    }

    /// Takes note of `count` operations of the same latency.
    pub(super) fn record(&mut self, latency: u64, count: u64) {
        self.sum += u128::from(latency) * u128::from(count);
        self.latency.saturating_record_n(latency.max(1), count);
    }

    fn merge(&mut self, other: &CommandTally) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.sum += other.sum;
        self.latency.add(&other.latency).expect("all histograms have the same bounds");
    }

    fn result(&self, duration: Nanos) -> CommandResult {
        let count = self.latency.len();
        let per_second = |n: u64| n as f64 / duration.as_seconds().max(1e-9);
        let some = |n: u64| (count > 0).then_some(n as f64);
        CommandResult {
            count,
            ops_per_sec: per_second(count),
            hits_per_sec: per_second(self.hits),
            misses_per_sec: per_second(self.misses),
            sent_bytes_per_sec: Some(per_second(self.sent_bytes)),
            received_bytes_per_sec: Some(per_second(self.received_bytes)),
            bytes_per_sec: per_second(self.sent_bytes + self.received_bytes),
            latency_mean: (count > 0).then(|| self.sum as f64 / count as f64),
            latency_min: some(self.latency.min()),
            latency_max: some(self.latency.max()),
            quantiles: Quantiles {
                p50: some(self.latency.value_at_quantile(0.5)),
                p99: some(self.latency.value_at_quantile(0.99)),
                p999: some(self.latency.value_at_quantile(0.999)),
            },
        }
    }
}

/// Counts of one thread, or of several merged.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    pub(super) sets: CommandTally,
    pub(super) gets: CommandTally,
    /// Answers in each second since the run's start.
    per_second: Vec<u64>,
    /// Refusals by the server's text.
    pub(super) refusals: BTreeMap<String, u64>,
    /// First request sent and last answer received, nanoseconds since the run's origin.
    pub(super) first: u64,
    pub(super) last: u64,
}

/// Different texts of refusals that are told apart; the rest is counted together.
const REFUSAL_TEXTS: usize = 16;

impl Tally {
    pub(super) fn new() -> Self {
        Tally {
            sets: CommandTally::new(),
            gets: CommandTally::new(),
            per_second: Vec::new(),
            refusals: BTreeMap::new(),
            first: u64::MAX,
            last: 0,
        }
    }

    pub(super) fn command(&mut self, operation: Operation) -> &mut CommandTally {
        match operation {
            Operation::Set => &mut self.sets,
            Operation::Get => &mut self.gets,
        }
    }

    pub(super) fn refuse(&mut self, text: String) {
        let known = self.refusals.len() < REFUSAL_TEXTS || self.refusals.contains_key(&text);
        *self.refusals.entry(if known { text } else { "others".to_owned() }).or_insert(0) += 1;
    }

    /// Takes note that `count` answers arrived at `now`.
    pub(super) fn arrived(&mut self, now: u64, count: u64) {
        let second = (now / 1_000_000_000) as usize;
        if second >= self.per_second.len() {
            self.per_second.resize(second + 1, 0);
        }
        self.per_second[second] += count;
        self.last = self.last.max(now);
    }

    pub(super) fn merge(&mut self, other: &Tally) {
        self.sets.merge(&other.sets);
        self.gets.merge(&other.gets);
        if self.per_second.len() < other.per_second.len() {
            self.per_second.resize(other.per_second.len(), 0);
        }
        for (sum, count) in self.per_second.iter_mut().zip(&other.per_second) {
            *sum += count;
        }
        for (text, count) in &other.refusals {
            *self.refusals.entry(text.clone()).or_insert(0) += count;
        }
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    /// The run's result.
    pub(super) fn result(&self, index: u32) -> LoadRun {
        let duration = Nanos(self.last.saturating_sub(self.first));
        let mut totals = self.sets.clone();
        totals.merge(&self.gets);
        LoadRun {
            index,
            duration,
            sets: self.sets.result(duration),
            gets: self.gets.result(duration),
            totals: totals.result(duration),
            ops_per_second: self.per_second.clone(),
            connection_errors: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_add_up() {
        let (mut one, mut two) = (Tally::new(), Tally::new());
        one.first = 500_000_000;
        one.sets.record(1_000, 3);
        one.arrived(900_000_000, 3);
        two.first = 700_000_000;
        two.gets.record(5_000, 1);
        two.gets.hits = 1;
        two.arrived(2_500_000_000, 1);
        two.refuse("no".to_owned());
        one.merge(&two);
        let run = one.result(1);
        assert_eq!(run.duration, Nanos(2_000_000_000));
        assert_eq!((run.sets.count, run.gets.count, run.totals.count), (3, 1, 4));
        assert_eq!(run.totals.ops_per_sec, 2.0);
        assert_eq!(run.totals.latency_mean, Some(2_000.0));
        assert_eq!(run.ops_per_second, [3, 0, 1]);
        assert_eq!(one.refusals["no"], 1);
    }

    #[test]
    fn nothing_has_no_latency() {
        let run = Tally::new().result(1);
        assert_eq!((run.totals.count, run.totals.latency_mean, run.totals.quantiles.p99), (0, None, None));
    }
}
