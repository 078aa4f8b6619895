//! Kernel counters of the measured phase, arm against arm: exploratory.
//!
//! A counter's change over the measured phase is summed over an arm's runs in a
//! block; the block's log ratio of these sums is tested by t. Counters that are
//! zero in some block have no ratio, so their plain differences are tested. All
//! counters of a candidate are corrected together by Benjamini and Hochberg.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::config::{ArmRole, Plan};
use crate::stats::multiplicity::benjamini_hochberg;
use crate::stats::one_sample::OneSample;
use crate::stats::summary::quantile;
use crate::store::TrialRecord;
use crate::units::Percent;

/// False discovery rate below which a counter is said to have moved.
pub const COUNTER_RATE: f64 = 0.10;
/// Runs of an arm in a whole block.
const RUNS_PER_BLOCK: u32 = 2;
/// Level of the printed intervals.
const LEVEL: f64 = 0.95;

/// One counter of a candidate and the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterComparison {
    pub workload: String,
    pub candidate: String,
    /// `source.name`, the kernel's own.
    pub counter: String,
    pub blocks: usize,
    /// Median change over one measured phase, a run.
    pub baseline: f64,
    pub changed_to: f64,
    /// Absent where a block's sum is zero.
    pub change: Option<Percent>,
    /// 95%, not corrected for the number of counters.
    pub interval: Option<(Percent, Percent)>,
    /// Absent where all blocks are equal.
    pub p: Option<f64>,
    pub adjusted_p: Option<f64>,
}

impl CounterComparison {
    /// Whether it moved, at the false discovery rate of [`COUNTER_RATE`].
    pub fn moved(&self) -> bool {
        self.adjusted_p.is_some_and(|p| p <= COUNTER_RATE)
    }

    /// The size of the relative change; infinite for a counter that was zero.
    fn size(&self) -> f64 {
        self.change.map_or(f64::INFINITY, |c| c.to_log_ratio().abs())
    }
}

/// Sums and runs of one arm in one block.
#[derive(Debug, Clone, Copy, Default)]
struct BlockSum {
    sum: f64,
    runs: u32,
}

/// All counters of every candidate, those that moved first, then by size of the change.
pub(super) fn compare(plan: &Plan, records: &[TrialRecord]) -> Vec<CounterComparison> {
    let mut all = Vec::new();
    for workload in &plan.workloads {
        let name = workload.workload.name();
        let counting: Vec<&TrialRecord> =
            records.iter().filter(|r| r.counts() && r.spec.id.workload == name).collect();
        for arm in plan.arms.iter().filter(|a| a.role == ArmRole::Candidate) {
            let mut found = compare_arm(&counting, &plan.baseline().name, &arm.name);
            for comparison in &mut found {
                comparison.workload = name.to_owned();
            }
            correct(&mut found);
            all.append(&mut found);
        }
    }
    all.sort_by(|a, b| {
        b.moved().cmp(&a.moved()).then(b.size().total_cmp(&a.size())).then_with(|| {
            (&a.workload, &a.candidate, &a.counter).cmp(&(&b.workload, &b.candidate, &b.counter))
        })
    });
    all
}

fn correct(found: &mut [CounterComparison]) {
    let p: Vec<f64> = found.iter().filter_map(|c| c.p).collect();
    let mut adjusted = benjamini_hochberg(&p).unwrap_or_default().into_iter();
    for comparison in found.iter_mut().filter(|c| c.p.is_some()) {
        comparison.adjusted_p = adjusted.next();
    }
}

type Blocks = BTreeMap<u32, [BlockSum; 2]>;

fn compare_arm(records: &[&TrialRecord], baseline: &str, candidate: &str) -> Vec<CounterComparison> {
    // The hash map only finds a counter's place; the output follows the sorted names.
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut counters: Vec<(&str, Blocks)> = Vec::new();
    for record in records {
        let arm = match record.spec.id.arm.as_str() {
            name if name == baseline => 0,
            name if name == candidate => 1,
            _ => continue,
        };
        for (name, change) in record.counters.iter().filter(|(name, _)| !repeats(record, name)) {
            let place = *places.entry(name).or_insert_with(|| {
                counters.push((name, Blocks::new()));
                counters.len() - 1
            });
            let sum = &mut counters[place].1.entry(record.spec.id.block).or_default()[arm];
            sum.sum += change.after.saturating_sub(change.before) as f64;
            sum.runs += 1;
        }
    }
    counters.sort_by_key(|(name, _)| *name);
    counters.iter().filter_map(|(name, blocks)| compare_counter(name, candidate, blocks)).collect()
}

/// cgroup v1 shows each counter of a leaf twice, once with its descendants' share.
fn repeats(record: &TrialRecord, name: &str) -> bool {
    let Some(own) = name.strip_prefix("memory_stat.total_") else { return false };
    record.counters.contains_key(&format!("memory_stat.{own}"))
}

fn compare_counter(name: &str, candidate: &str, blocks: &Blocks) -> Option<CounterComparison> {
    let whole: Vec<(f64, f64)> = blocks
        .values()
        .filter(|arms| arms.iter().all(|a| a.runs >= RUNS_PER_BLOCK))
        .map(|[a, b]| (a.sum / f64::from(a.runs), b.sum / f64::from(b.runs)))
        .collect();
    if whole.len() < 2 || whole.iter().all(|(a, b)| *a == 0.0 && *b == 0.0) {
        return None;
    }
    let positive = whole.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
    let differences: Vec<f64> =
        whole.iter().map(|(a, b)| if positive { (b / a).ln() } else { b - a }).collect();
    let sample = OneSample::new(&differences).ok()?;
    let percent = Percent::from_log_ratio;
    let middle = |values: Vec<f64>| quantile(&values, 0.5).ok();
    Some(CounterComparison {
        workload: String::new(),
        candidate: candidate.to_owned(),
        counter: name.to_owned(),
        blocks: whole.len(),
        baseline: middle(whole.iter().map(|w| w.0).collect())?,
        changed_to: middle(whole.iter().map(|w| w.1).collect())?,
        change: positive.then(|| percent(sample.mean)),
        interval: positive.then(|| {
            let interval = sample.interval(LEVEL);
            (percent(interval.low), percent(interval.high))
        }),
        p: sample.p(),
        adjusted_p: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(values: &[(f64, f64)]) -> Blocks {
        let sum = |sum: f64| BlockSum { sum: 2.0 * sum, runs: 2 };
        values.iter().zip(0..).map(|((a, b), block)| (block, [sum(*a), sum(*b)])).collect()
    }

    #[test]
    fn a_ratio_where_there_is_one() {
        let doubled = compare_counter("x.y", "b", &blocks(&[(10.0, 20.0), (11.0, 22.1), (9.0, 17.9)]))
            .expect("counted");
        assert!((doubled.change.expect("a ratio").0 - 100.0).abs() < 1.0);
        assert!(doubled.p.expect("noise") < 0.01);
        assert_eq!((doubled.baseline, doubled.changed_to), (10.0, 20.0));
        let appeared =
            compare_counter("x.y", "b", &blocks(&[(0.0, 20.0), (0.0, 22.0), (0.0, 18.0)])).expect("counted");
        assert!(appeared.change.is_none() && appeared.p.expect("noise") < 0.02);
        assert!(compare_counter("x.y", "b", &blocks(&[(0.0, 0.0), (0.0, 0.0)])).is_none());
    }

    #[test]
    fn those_that_moved_are_few_among_many() {
        let mut all: Vec<CounterComparison> = (1..=20)
            .map(|i| {
                let mut c =
                    compare_counter("x.y", "b", &blocks(&[(10.0, 20.0), (11.0, 22.1)])).expect("counted");
                c.p = Some(0.05 * f64::from(i));
                c
            })
            .collect();
        correct(&mut all);
        assert!(all.iter().all(|c| !c.moved()), "a uniform p distribution has no finding");
    }
}
