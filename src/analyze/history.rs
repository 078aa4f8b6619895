//! Several campaigns side by side: one metric over kernels and hosts.
//!
//! Means of arms are shown as they are, outliers marked and kept. Changes are
//! compared as block log ratios; over hosts they are pooled by random effects,
//! after a fixed-effect mean of one host's own campaigns.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::campaign::CampaignAnalysis;
use super::comparison::{ArmValues, Comparison};
use crate::config::ArmRole;
use crate::metric::MetricDefinition;
use crate::stats::pooling::{HostEstimate, RandomEffects};
use crate::stats::quantile::t_critical;
use crate::stats::summary::quantile;
use crate::units::Percent;

/// Level of the intervals.
const LEVEL: f64 = 0.95;
/// A mean so many scaled median deviations from the median is marked.
const OUTLIER: f64 = 4.0;
/// Scales a median deviation to a standard deviation of normal values.
const NORMAL: f64 = 1.4826;
/// Fewer means have no outlier.
const FEWEST: usize = 5;

/// One arm of one campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryPoint {
    pub campaign: String,
    pub host: String,
    pub kernel: String,
    /// UTC, as the manifest has it.
    pub created: String,
    pub arm: String,
    pub role: ArmRole,
    pub n: usize,
    pub mean: f64,
    /// 95%, of this arm alone; absent for one trial.
    pub interval: Option<(f64, f64)>,
    /// Far from the other campaigns' means of arms of this name; kept.
    pub outlier: bool,
}

/// One candidate's change in one campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryChange {
    pub campaign: String,
    pub host: String,
    pub kernel: String,
    pub arm: String,
    pub blocks: usize,
    /// Raw, as printed everywhere.
    pub change: Percent,
    pub interval: Option<(Percent, Percent)>,
    /// Block log ratio, plus is better, and its error.
    pub log_ratio: f64,
    pub standard_error: f64,
}

/// The change of one candidate over all hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledChange {
    pub arm: String,
    pub hosts: usize,
    pub change: Percent,
    pub interval: (Percent, Percent),
    /// Small where hosts differ by more than their noise.
    pub heterogeneity_p: f64,
    pub i_squared: f64,
}

/// A metric over campaigns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricHistory {
    pub workload: String,
    pub metric: MetricDefinition,
    /// In the order of the campaigns' start.
    pub points: Vec<HistoryPoint>,
    pub changes: Vec<HistoryChange>,
    /// Where at least two hosts measured the same candidate.
    pub pooled: Vec<PooledChange>,
    /// What is not the same in all campaigns.
    pub differences: Vec<String>,
}

/// Every primary metric that at least two campaigns have in common.
pub fn history(analyses: &[CampaignAnalysis]) -> Vec<MetricHistory> {
    let mut ordered: Vec<&CampaignAnalysis> = analyses.iter().collect();
    ordered.sort_by(|a, b| (a.manifest.created, &a.campaign).cmp(&(b.manifest.created, &b.campaign)));
    let mut metrics: BTreeMap<(String, String), Vec<&CampaignAnalysis>> = BTreeMap::new();
    for analysis in &ordered {
        let keys: BTreeSet<(String, String)> = analysis
            .comparisons
            .iter()
            .filter(|c| c.primary)
            .map(|c| (c.workload.clone(), c.metric.id.to_string()))
            .collect();
        for key in keys {
            metrics.entry(key).or_default().push(analysis);
        }
    }
    metrics
        .into_iter()
        .filter(|(_, campaigns)| campaigns.len() > 1)
        .filter_map(|((workload, metric), campaigns)| of_metric(&workload, &metric, &campaigns))
        .collect()
}

fn of_metric(workload: &str, metric: &str, campaigns: &[&CampaignAnalysis]) -> Option<MetricHistory> {
    let mut points = Vec::new();
    let mut changes = Vec::new();
    let mut definition = None;
    for analysis in campaigns {
        let of_metric =
            |c: &&Comparison| c.primary && c.workload == workload && c.metric.id.as_str() == metric;
        let comparisons: Vec<&Comparison> = analysis.comparisons.iter().filter(of_metric).collect();
        let Some(first) = comparisons.first() else { continue };
        definition.get_or_insert_with(|| first.metric.clone());
        points.extend(point(analysis, &first.baseline, ArmRole::Baseline));
        for comparison in &comparisons {
            points.extend(point(analysis, &comparison.candidate, comparison.role));
            if comparison.role == ArmRole::Candidate {
                changes.extend(change(analysis, comparison));
            }
        }
    }
    mark_outliers(&mut points);
    let metric = definition?;
    let sign = |log: f64| match metric.direction {
        crate::metric::Direction::LowerIsBetter => Percent::from_log_ratio(-log),
        _ => Percent::from_log_ratio(log),
    };
    Some(MetricHistory {
        workload: workload.to_owned(),
        pooled: pool(&changes, &sign),
        points,
        changes,
        differences: differences(campaigns),
        metric,
    })
}

fn point(analysis: &CampaignAnalysis, arm: &ArmValues, role: ArmRole) -> Option<HistoryPoint> {
    let summary = arm.summary.as_ref()?;
    let manifest = &analysis.manifest;
    let interval = summary.standard_deviation.map(|deviation| {
        let n = summary.n as f64;
        let half = t_critical(1.0 - LEVEL, n - 1.0) * deviation / n.sqrt();
        (summary.mean - half, summary.mean + half)
    });
    Some(HistoryPoint {
        campaign: analysis.campaign.clone(),
        host: manifest.host.clone(),
        kernel: manifest.kernel.release.clone(),
        created: manifest.created.strftime("%Y-%m-%d %H:%M").to_string(),
        arm: arm.arm.clone(),
        role,
        n: summary.n,
        mean: summary.mean,
        interval,
        outlier: false,
    })
}

fn change(analysis: &CampaignAnalysis, comparison: &Comparison) -> Option<HistoryChange> {
    let result = comparison.result.as_ref()?;
    let interval = result.interval.map(|(low, high)| {
        let (a, b) = (comparison.raw_change(low), comparison.raw_change(high));
        if a.0 <= b.0 { (a, b) } else { (b, a) }
    });
    Some(HistoryChange {
        campaign: analysis.campaign.clone(),
        host: analysis.manifest.host.clone(),
        kernel: analysis.manifest.kernel.release.clone(),
        arm: comparison.candidate.arm.clone(),
        blocks: result.paired.n,
        change: comparison.raw_change(result.estimate),
        interval,
        log_ratio: result.paired.mean,
        standard_error: result.paired.standard_error,
    })
}

fn mark_outliers(points: &mut [HistoryPoint]) {
    let arms: BTreeSet<String> = points.iter().map(|p| p.arm.clone()).collect();
    for arm in arms {
        let means: Vec<f64> = points.iter().filter(|p| p.arm == arm).map(|p| p.mean).collect();
        if means.len() < FEWEST {
            continue;
        }
        let Ok(centre) = quantile(&means, 0.5) else { continue };
        let distances: Vec<f64> = means.iter().map(|m| (m - centre).abs()).collect();
        let spread = NORMAL * quantile(&distances, 0.5).unwrap_or(0.0);
        for point in points.iter_mut().filter(|p| p.arm == arm) {
            point.outlier = spread > 0.0 && (point.mean - centre).abs() > OUTLIER * spread;
        }
    }
}

/// One estimate a host, then random effects over hosts.
fn pool(changes: &[HistoryChange], raw: &impl Fn(f64) -> Percent) -> Vec<PooledChange> {
    let mut arms: BTreeMap<&str, BTreeMap<&str, Vec<&HistoryChange>>> = BTreeMap::new();
    for change in changes.iter().filter(|c| c.standard_error > 0.0) {
        arms.entry(&change.arm).or_default().entry(&change.host).or_default().push(change);
    }
    arms.into_iter()
        .filter_map(|(arm, hosts)| {
            let estimates: Vec<HostEstimate> = hosts.values().map(|own| fixed_effect(own)).collect();
            let pooled = RandomEffects::new(&estimates, LEVEL).ok()?;
            let (a, b) = (raw(pooled.interval.low), raw(pooled.interval.high));
            Some(PooledChange {
                arm: arm.to_owned(),
                hosts: pooled.hosts,
                change: raw(pooled.mean),
                interval: if a.0 <= b.0 { (a, b) } else { (b, a) },
                heterogeneity_p: pooled.heterogeneity_p,
                i_squared: pooled.i_squared,
            })
        })
        .collect()
}

fn fixed_effect(own: &[&HistoryChange]) -> HostEstimate {
    let weights: Vec<f64> = own.iter().map(|c| c.standard_error.powi(-2)).collect();
    let total: f64 = weights.iter().sum();
    let estimate = own.iter().zip(&weights).map(|(c, w)| c.log_ratio * w).sum::<f64>() / total;
    HostEstimate { estimate, standard_error: total.sqrt().recip() }
}

/// Facts that campaigns do not share; differences of scale and driver forbid comparing means.
fn differences(campaigns: &[&CampaignAnalysis]) -> Vec<String> {
    type Read = fn(&CampaignAnalysis) -> String;
    let facts: [(&str, Read); 5] = [
        ("host", |a| a.manifest.host.clone()),
        ("kernel", |a| a.manifest.kernel.release.clone()),
        ("experiment", |a| format!("{:.12}", a.manifest.experiment_hash)),
        ("scale", |a| if a.changes.is_empty() { "as written".to_owned() } else { a.changes.join(", ") }),
        ("driver", |a| {
            let drivers: Vec<String> = a.manifest.drivers.iter().map(|(w, d)| format!("{w} {d}")).collect();
            drivers.join(", ")
        }),
    ];
    facts
        .into_iter()
        .filter_map(|(name, read)| {
            let values: BTreeSet<String> = campaigns.iter().map(|a| read(a)).collect();
            (values.len() > 1)
                .then(|| format!("{name}: {}", values.into_iter().collect::<Vec<_>>().join("; ")))
        })
        .collect()
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
