//! What the printed deviations say of a claim: Welch's test, the power that the
//! stated runs have at the claimed size, and the runs that would be needed.

use serde::{Deserialize, Serialize};

use crate::patch::{Claim, DeviationKind, summaries};
use crate::stats::power::{PowerTarget, log_deviation, two_sample_power};
use crate::stats::welch::{Side, Welch};

/// The noise of one claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    pub runs: u32,
    /// Deviation in percent of the mean, before and after.
    pub variation_before: f64,
    pub variation_after: f64,
    pub t: Option<f64>,
    pub df: f64,
    pub p: Option<f64>,
    /// 95% interval of the change, in percent of the mean before.
    pub low: f64,
    pub high: f64,
    /// The size that power and runs are for: the printed change, else the recomputed one, in percent.
    pub size: Option<f64>,
    /// The chance that the stated runs see a change of that size.
    pub power: Option<f64>,
    /// Runs per side for 90% power at that size.
    pub runs_needed: Option<usize>,
    /// The smallest change that the stated runs see with 90% power, in percent.
    pub detectable: Option<f64>,
}

/// The noise, or why it cannot be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseCheck {
    Checked(Noise),
    Unknown { reason: String },
}

/// Checks a claim whose change is `size` percent, as claimed.
pub fn check_noise(claim: &Claim, size: Option<f64>) -> NoiseCheck {
    let unknown = |reason: &str| NoiseCheck::Unknown { reason: reason.to_owned() };
    if claim.before.is_none() || claim.after.is_none() {
        return unknown("no values are printed");
    }
    let deviations = [&claim.before, &claim.after].map(|side| side.as_ref().and_then(|s| s.deviation));
    if deviations.iter().any(|d| d.is_some_and(|d| d.kind == DeviationKind::WithinRun)) {
        return unknown("the printed deviation is within one run, not across runs");
    }
    if deviations.iter().any(Option::is_none) {
        return unknown("no deviation across runs is printed for both sides");
    }
    let Some((before, after)) = summaries(claim) else { return unknown("the number of runs is not stated") };
    let side = |s: &crate::patch::Summary| Side {
        mean: s.mean,
        standard_deviation: s.deviation,
        n: s.runs as usize,
    };
    let (first, second) = (side(&before), side(&after));
    let computed = Welch::from_sides(&first, &second, 0.95).and_then(|w| Ok((w, w.relative_to(first.mean)?)));
    let (welch, relative) = match computed {
        Ok(found) => found,
        Err(error) => return unknown(&error.to_string()),
    };
    let variation = |s: &Side| s.standard_deviation / s.mean;
    let pooled = ((variation(&first).powi(2) + variation(&second).powi(2)) / 2.0).sqrt();
    let deviation = log_deviation(pooled);
    let effect = size.map(|s| (s / 100.0).ln_1p()).filter(|e| e.is_finite() && *e != 0.0);
    let target = PowerTarget::default();
    let spread = deviation.is_finite() && deviation > 0.0;
    NoiseCheck::Checked(Noise {
        runs: before.runs,
        variation_before: 100.0 * variation(&first),
        variation_after: 100.0 * variation(&second),
        t: welch.t,
        df: welch.df,
        p: welch.p,
        low: 100.0 * relative.interval.low,
        high: 100.0 * relative.interval.high,
        size,
        power: effect.filter(|_| spread).map(|e| two_sample_power(e, deviation, first.n, target.alpha)),
        runs_needed: effect.filter(|_| spread).and_then(|e| target.runs_per_arm(e, deviation).ok()),
        detectable: target
            .detectable_by_runs(deviation, first.n)
            .ok()
            .filter(|_| spread)
            .map(|e| 100.0 * e.exp_m1()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch;

    fn noise(body: &str) -> NoiseCheck {
        let mail = format!("From: Ada\nSubject: x\n\n{body}");
        let document = patch::read(mail.as_bytes()).expect("a mail");
        let audits = patch::audit(&document);
        check_noise(&document.claims[0], audits[0].arithmetic.claimed_raw)
    }

    #[test]
    fn published_deviations_give_published_tests() {
        let body = "Average of 18 runs:\n\nBefore: 50317.98 Ops/sec. Stdev: 2568.97\nAfter: 48959.37 Ops/sec (-2.7%). Stdev: 3488.56\n";
        let NoiseCheck::Checked(found) = noise(body) else { panic!("{:?}", noise(body)) };
        assert!((found.t.expect("a spread") + 1.33).abs() < 0.005, "{found:?}");
        assert!((found.df - 31.2).abs() < 0.05 && (found.p.expect("a spread") - 0.193).abs() < 0.0005);
        assert!((found.low + 6.8).abs() < 0.05 && (found.high - 1.4).abs() < 0.05);
        assert!(found.power.expect("a size") < 0.4 && found.runs_needed.expect("a size") > 80, "{found:?}");
    }

    #[test]
    fn what_is_not_printed_is_named() {
        let reason = |body: &str| match noise(body) {
            NoiseCheck::Unknown { reason } => reason,
            NoiseCheck::Checked(noise) => panic!("{noise:?}"),
        };
        assert!(reason("Before: 100.0 MB/s\nAfter: 101.0 MB/s\n").contains("no deviation"));
        assert!(reason("throughput improves 5.0%\n").contains("no values"));
        assert!(reason("Before: 100.0 MB/s ± 1%\nAfter: 101.0 MB/s ± 1%\n").contains("runs is not stated"));
        let fio = "Before:\nbw (MiB/s): min=1, max=3, avg=2.0, stdev=1.0, samples=9\nAfter:\nbw (MiB/s): min=1, max=3, avg=2.5, stdev=1.0, samples=9\n";
        assert!(reason(fio).contains("within one run"));
    }
}
