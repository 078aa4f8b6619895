//! The correction of the comparisons that decide.
//!
//! Candidates that share a baseline are corrected by Dunnett's method, which
//! widens their intervals with their p-values; several primary metrics or
//! workloads share the error rate besides. One candidate per metric, and
//! campaigns with looks, are corrected by Holm.

use std::collections::BTreeMap;

use super::comparison::{Comparison, ComparisonResult, IntervalKind};
use crate::config::{AnalysisSection, ArmRole, StopRule};
use crate::stats::dunnett::Dunnett;
use crate::stats::interval::Interval;
use crate::stats::multiplicity::holm;
use crate::stats::power::PowerTarget;
use crate::stats::quantile::t_two_sided_p;
use crate::units::Percent;

/// Corrects the candidates' comparisons and gives every comparison its verdict.
pub(super) fn correct(comparisons: &mut [Comparison], analysis: &AnalysisSection) {
    let families = families(comparisons);
    let shared_baseline = families.values().any(|of_one| of_one.len() > 1);
    let adjusted = if shared_baseline && analysis.stop == StopRule::Fixed {
        by_dunnett(comparisons, &families, analysis.alpha)
    } else {
        by_holm(comparisons)
    };
    for (index, comparison) in comparisons.iter_mut().enumerate() {
        comparison.decide(adjusted.get(&index).copied(), analysis);
    }
}

fn decides(comparison: &Comparison) -> bool {
    comparison.role == ArmRole::Candidate && comparison.result.is_some()
}

/// The candidates' places by workload and metric.
fn families(comparisons: &[Comparison]) -> BTreeMap<(String, String), Vec<usize>> {
    let mut families: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, comparison) in comparisons.iter().enumerate().filter(|(_, c)| decides(c)) {
        let key = (comparison.workload.clone(), comparison.metric.id.to_string());
        families.entry(key).or_default().push(index);
    }
    families
}

fn by_holm(comparisons: &[Comparison]) -> BTreeMap<usize, f64> {
    let places: Vec<usize> = (0..comparisons.len()).filter(|i| decides(&comparisons[*i])).collect();
    let p: Vec<f64> = places.iter().filter_map(|i| comparisons[*i].result.as_ref().map(|r| r.p)).collect();
    places.into_iter().zip(holm(&p).unwrap_or_default()).collect()
}

fn by_dunnett(
    comparisons: &mut [Comparison],
    families: &BTreeMap<(String, String), Vec<usize>>,
    alpha: f64,
) -> BTreeMap<usize, f64> {
    let (mut adjusted, mut known) = (BTreeMap::new(), BTreeMap::new());
    for places in families.values() {
        for place in places {
            let Some(result) = comparisons[*place].result.as_mut() else { continue };
            let size = (places.len(), result.paired.n);
            let family = known.entry(size).or_insert_with(|| Dunnett::new(size.0, size.1).ok()).as_ref();
            adjusted.insert(*place, widen(result, (family, places.len()), families.len(), alpha));
        }
    }
    adjusted
}

/// Widens one interval; the p that goes with it.
fn widen(
    result: &mut ComparisonResult,
    (dunnett, candidates): (Option<&Dunnett>, usize),
    families: usize,
    alpha: f64,
) -> f64 {
    let shared = families as f64;
    let by_count = (result.p * candidates as f64 * shared).min(1.0);
    let critical = dunnett.and_then(|d| d.critical(alpha / shared).ok());
    let (Some(dunnett), Some(critical)) = (dunnett, critical) else { return by_count };
    let interval = Interval::around(result.paired.mean, critical * result.paired.standard_error);
    result.interval = Some((Percent::from_log_ratio(interval.low), Percent::from_log_ratio(interval.high)));
    result.interval_kind = IntervalKind::Simultaneous;
    let each = PowerTarget { alpha: t_two_sided_p(critical, result.paired.df), ..PowerTarget::default() };
    let detectable = each.detectable_by_blocks(result.paired.standard_deviation, result.paired.n).ok();
    result.detectable = detectable.map(Percent::from_log_ratio);
    // Equal differences have no t; their sign-flip p is counted once per comparison.
    result.paired.t.map_or(by_count, |t| (dunnett.p(t) * shared).min(1.0))
}

#[cfg(test)]
mod tests {
    use crate::analyze::comparison::{Comparison, IntervalKind};
    use crate::analyze::fixture::{EXPERIMENT, campaign, noisy};
    use crate::analyze::{Verdict, analyze};
    use crate::stats::dunnett::Dunnett;

    /// `b` of the fixture with two more candidates beside it, or alone.
    fn deciding(candidates: usize, factor: f64) -> Vec<Comparison> {
        let more: String = (1..candidates)
            .map(|i| format!("[[arm]]\nname = \"more-{i}\"\nmemcg = {{ limit = \"96MiB\" }}\n"))
            .collect();
        let experiment = EXPERIMENT.replace("[schedule]", &format!("{more}[schedule]"));
        let results = tempfile::tempdir().expect("a folder");
        let value = |block: u32, position: u32, arm: &str| {
            let factor = if arm == "b" { factor } else { 1.0 };
            // The same noise for an arm whatever else is in the block.
            let place = (block, arm.bytes().map(u32::from).sum::<u32>() * 16 + position % 2);
            Some(noisy(1000.0, factor, 0.01, place))
        };
        let folder = campaign(results.path(), "c", &experiment, &value);
        analyze(&folder).expect("analysed").deciding().cloned().collect()
    }

    #[test]
    fn candidates_of_one_baseline_have_intervals_that_hold_together() {
        let all = deciding(3, 1.1);
        assert_eq!(all.len(), 3);
        for comparison in &all {
            let result = comparison.result.as_ref().expect("blocks");
            let paired = &result.paired;
            let dunnett = Dunnett::new(3, paired.n).expect("sound");
            let half = dunnett.critical(0.05).expect("alpha") * paired.standard_error;
            let (low, high) = result.interval.expect("bounded");
            assert!((low.to_log_ratio() - (paired.mean - half)).abs() < 1e-9);
            assert!((high.to_log_ratio() - (paired.mean + half)).abs() < 1e-9);
            assert_eq!(result.interval_kind, IntervalKind::Simultaneous);
            let adjusted = comparison.adjusted_p.expect("corrected");
            assert!(adjusted > result.p && adjusted <= 3.0 * result.p, "{adjusted} {}", result.p);
            let excludes_zero = low.0 > 0.0 || high.0 < 0.0;
            assert_eq!(excludes_zero, adjusted <= 0.05, "interval and p agree");
        }
        assert_eq!(all[0].verdict, Verdict::Better, "{}", all[0].reason);
    }

    #[test]
    fn one_candidate_keeps_its_t_interval() {
        let all = deciding(1, 1.1);
        let result = all[0].result.as_ref().expect("blocks");
        assert_eq!((all.len(), result.interval_kind), (1, IntervalKind::Fixed));
        assert_eq!(all[0].adjusted_p, Some(result.p));
    }

    #[test]
    fn what_one_candidate_would_show_is_not_established_among_five() {
        // A factor for which the uncorrected p lies just below 5%.
        let factor = (0..40).map(|i| 1.0 + 0.001 * f64::from(i)).find(|factor| {
            let alone = deciding(1, *factor)[0].result.clone().expect("blocks");
            alone.estimate.0 > 0.0 && (0.01..0.05).contains(&alone.p)
        });
        let factor = factor.expect("some factor is close to the border");
        let among_five = &deciding(5, factor)[0];
        assert_eq!(among_five.verdict, Verdict::Unresolved, "{}", among_five.reason);
        assert!(among_five.adjusted_p.expect("corrected") > 0.05);
    }
}
