//! Whether a printed mean can be the mean of the stated number of runs: the
//! mean of n values with two decimals has only certain further decimals.

use serde::{Deserialize, Serialize};

use crate::patch::claim::{Claim, Measured, Statistic};

/// The step single runs are logged in, which is assumed, not known.
const RESOLUTION: f64 = 0.01;
/// Numbers of runs that are tried.
const MOST_RUNS: u32 = 60;

/// One printed mean against the stated runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeanCheck {
    pub label: String,
    pub mean: String,
    pub stated: u32,
    /// Whether the stated number fits.
    pub fits: bool,
    /// Numbers of runs that do fit, up to 60.
    pub fitting: Vec<u32>,
}

/// Checks both sides; sides whose decimals can tell nothing are left out.
pub fn check(claim: &Claim) -> Vec<MeanCheck> {
    let Some(runs) = claim.runs.as_ref().filter(|r| r.statistic != Statistic::Median) else {
        return Vec::new();
    };
    [&claim.before, &claim.after].into_iter().flatten().filter_map(|side| one(side, runs.count)).collect()
}

fn one(side: &Measured, stated: u32) -> Option<MeanCheck> {
    let value = side.value;
    let telling = value.decimals > 2 && stated > 0 && chance(value.half_step, stated) < 0.2;
    if !telling || value.value.abs() > 1e9 {
        return None;
    }
    let fits = |n: u32| {
        let total = value.value * f64::from(n) / RESOLUTION;
        let slack = value.half_step * f64::from(n) / RESOLUTION + 1e-12 * total.abs();
        (total - total.round()).abs() <= slack * (1.0 + 1e-6)
    };
    let fitting: Vec<u32> =
        (1..=MOST_RUNS).filter(|n| chance(value.half_step, *n) < 0.5 && fits(*n)).collect();
    Some(MeanCheck { label: side.label.clone(), mean: value.show(), stated, fits: fits(stated), fitting })
}

/// The chance that any mean at all would fit n runs.
fn chance(half_step: f64, n: u32) -> f64 {
    2.0 * half_step * f64::from(n) / RESOLUTION
}
