//! Lists of single runs: `10.31 10.28 10.44 avg 10.346`, or one result printed
//! again for each run, become a mean with the deviation across those runs.

use crate::patch::claim::{Delta, Deviation, DeviationKind};
use crate::patch::printed::Printed;

use super::finding::NamedValue;

/// Collapses values that repeat a name and unit at least `least` times. A value
/// named as the mean of the list in front of it takes the list's place.
pub(super) fn collapse(values: Vec<NamedValue>, least: usize) -> Vec<NamedValue> {
    let mut out: Vec<NamedValue> = Vec::with_capacity(values.len());
    let same = |a: &NamedValue, b: &NamedValue| a.name == b.name && a.unit == b.unit;
    let single = |v: &NamedValue| v.deviation.is_none() && v.delta == Delta::Missing && v.runs.is_none();
    for value in &values {
        let alike: Vec<&NamedValue> = values.iter().filter(|v| same(v, value)).collect();
        let listed = alike.len() >= least.max(2) && alike.iter().all(|v| single(v));
        if !listed {
            out.push(value.clone());
        } else if !out.iter().any(|v| same(v, value)) {
            out.push(mean(&alike));
        }
    }
    if let [list, stated] = out.as_slice()
        && list.runs.is_some()
        && ["avg", "average", "mean"].contains(&stated.name.to_lowercase().as_str())
    {
        let (deviation, runs) = (list.deviation, list.runs);
        return vec![NamedValue { deviation: stated.deviation.or(deviation), runs, ..stated.clone() }];
    }
    out
}

fn mean(values: &[&NamedValue]) -> NamedValue {
    let numbers: Vec<f64> = values.iter().map(|v| v.value.value).collect();
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|n| (n - mean).powi(2)).sum();
    let first = values[0];
    let printed = |value: f64| Printed {
        value,
        half_step: first.value.half_step,
        decimals: first.value.decimals.saturating_add(1),
        sign: None,
    };
    NamedValue {
        value: printed(mean),
        deviation: Some(Deviation {
            value: printed((squares / (count - 1.0)).sqrt()),
            relative: false,
            kind: DeviationKind::AcrossRuns,
            samples: None,
        }),
        runs: u32::try_from(values.len()).ok(),
        ..first.clone()
    }
}

/// The deviation of samples that one run printed.
pub(super) fn within_run(deviation: Deviation) -> Deviation {
    Deviation { kind: DeviationKind::WithinRun, ..deviation }
}
