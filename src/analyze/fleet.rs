//! Hosts as a level: a verdict for each, one estimate over all.
//!
//! Every host is judged by its own blocks, as if it were alone; all hosts and
//! candidates together are corrected by Holm. The estimate over hosts is that of
//! random effects ([`RandomEffects`]): it speaks of hosts like these, not of
//! these hosts, so two hosts say little whatever the number of their blocks.
//! Where hosts go both ways, the words are the result, not the mean.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::comparison::{Comparison, IntervalKind, Question};
use super::noise::NoiseNote;
use super::verdict::Verdict;
use crate::config::{AnalysisSection, ArmRole, Plan};
use crate::fleet::Provenance;
use crate::metric::{MetricDefinition, MetricId};
use crate::stats::equivalence::Equivalence;
use crate::stats::interval::Interval;
use crate::stats::multiplicity::{benjamini_hochberg, holm};
use crate::stats::pooling::{HostEstimate, RandomEffects};
use crate::stats::quantile::t_two_sided_p;
use crate::store::TrialRecord;
use crate::units::Percent;

/// Hosts differ by more than their noise where chance alone would do so less often.
const HETEROGENEOUS: f64 = 0.05;

/// One host's answer, or that of a class of hosts. Changes are raw, as printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostVerdict {
    /// A node, or a class.
    pub name: String,
    pub class: String,
    /// 1 for a host.
    pub hosts: usize,
    pub blocks: usize,
    pub change: Option<Percent>,
    pub interval: Option<(Percent, Percent)>,
    pub verdict: Verdict,
    pub reason: String,
}

/// One deciding comparison over all hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetComparison {
    pub workload: String,
    pub metric: MetricId,
    pub candidate: String,
    pub hosts: Vec<HostVerdict>,
    pub classes: Vec<HostVerdict>,
    /// On the log scale, plus is better; absent for fewer than two hosts.
    pub pooled: Option<RandomEffects>,
    /// `better on epyc (+2.1%), worse on xeon (-1.4%)`.
    pub words: String,
}

/// What a campaign on several hosts says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetAnalysis {
    pub planned_blocks: u32,
    pub merged_blocks: u32,
    pub comparisons: Vec<FleetComparison>,
    /// What is not the same on all hosts.
    pub confounders: Vec<String>,
}

impl FleetAnalysis {
    /// Whether any host is worse, whatever the others are.
    pub fn any_worse(&self) -> bool {
        self.comparisons.iter().flat_map(|c| &c.hosts).any(|h| h.verdict == Verdict::Worse)
    }

    pub(super) fn notes(&self) -> Vec<NoiseNote> {
        let missing = self.planned_blocks.saturating_sub(self.merged_blocks);
        let missing = (missing > 0).then(|| {
            let text =
                format!("{missing} of {} blocks are missing: run-bench status says why", self.planned_blocks);
            NoiseNote::new("missing-blocks", text)
        });
        let confounders = self.confounders.iter().map(|text| NoiseNote::new("hosts", text.clone()));
        missing.into_iter().chain(confounders).collect()
    }
}

/// Puts the estimate over hosts in the place of the one over blocks, and judges each host.
pub(super) fn pool(
    plan: &Plan,
    origins: &Provenance,
    records: &[TrialRecord],
    (comparisons, seed): (&mut [Comparison], u64),
) -> FleetAnalysis {
    let hosts = origins.hosts();
    let by_host: Vec<(&str, &str, Vec<TrialRecord>)> = hosts
        .iter()
        .map(|(node, class)| {
            let is_of = |r: &&TrialRecord| {
                origins.blocks.get(&r.spec.id.block).is_some_and(|origin| origin.task.node == *node)
            };
            (*node, *class, records.iter().filter(is_of).cloned().collect())
        })
        .collect();
    let mut all: Vec<(usize, Vec<Comparison>)> = Vec::new();
    for (place, comparison) in comparisons.iter_mut().enumerate() {
        let question = Asked::of(plan, comparison);
        let each: Vec<Comparison> = by_host
            .iter()
            .map(|(_, _, records)| Comparison::new(records, question.on(seed), plan.analysis()))
            .collect();
        if hosts.len() > 1 {
            take_pooled(comparison, pooled(&each, plan.analysis()).as_ref(), plan.analysis());
        }
        if comparison.primary && comparison.role == ArmRole::Candidate {
            all.push((place, each));
        }
    }
    if hosts.len() > 1 {
        correct(comparisons, plan.analysis());
    }
    correct_hosts(&mut all, plan.analysis());
    let of_all = |(place, each): (usize, Vec<Comparison>)| {
        let lines: Vec<(&str, &str, Comparison)> =
            by_host.iter().zip(each).map(|((node, class, _), c)| (*node, *class, c)).collect();
        over_hosts(&mut comparisons[place], &lines, plan.analysis())
    };
    FleetAnalysis {
        planned_blocks: origins.planned,
        merged_blocks: origins.blocks.len() as u32,
        comparisons: all.into_iter().map(of_all).collect(),
        confounders: origins.confounders.clone(),
    }
}

/// A comparison's question, to be asked of each host.
struct Asked<'a> {
    baseline: &'a str,
    workload: String,
    metric: MetricDefinition,
    candidate: String,
    role: ArmRole,
    primary: bool,
}

impl<'a> Asked<'a> {
    fn of(plan: &'a Plan, comparison: &Comparison) -> Self {
        Asked {
            baseline: &plan.baseline().name,
            workload: comparison.workload.clone(),
            metric: comparison.metric.clone(),
            candidate: comparison.candidate.arm.clone(),
            role: comparison.role,
            primary: comparison.primary,
        }
    }

    fn on(&self, seed: u64) -> Question<'_> {
        Question {
            workload: &self.workload,
            metric: &self.metric,
            baseline: self.baseline,
            candidate: &self.candidate,
            role: self.role,
            primary: self.primary,
            seed,
        }
    }
}

/// Over all hosts that have an estimate and an error.
fn pooled(each: &[Comparison], analysis: &AnalysisSection) -> Option<RandomEffects> {
    let estimates: Vec<HostEstimate> = each
        .iter()
        .filter_map(|c| c.result.as_ref())
        .filter(|r| r.paired.standard_error > 0.0)
        .map(|r| HostEstimate { estimate: r.paired.mean, standard_error: r.paired.standard_error })
        .collect();
    RandomEffects::new(&estimates, 1.0 - analysis.alpha).ok()
}

fn percents(interval: Interval) -> (Percent, Percent) {
    (Percent::from_log_ratio(interval.low), Percent::from_log_ratio(interval.high))
}

/// The result over hosts; without one there is no interval, since that over blocks means another thing.
fn take_pooled(comparison: &mut Comparison, pooled: Option<&RandomEffects>, analysis: &AnalysisSection) {
    let Some(result) = comparison.result.as_mut() else { return };
    result.interval_kind = IntervalKind::OverHosts;
    result.detectable = None;
    let Some(pooled) = pooled else {
        (result.interval, result.p) = (None, 1.0);
        return;
    };
    let df = (pooled.hosts - 1) as f64;
    result.estimate = Percent::from_log_ratio(pooled.mean);
    result.interval = Some(percents(pooled.interval));
    result.p = t_two_sided_p(pooled.mean / pooled.standard_error, df);
    let margin = analysis.margin.to_log_ratio();
    if let Ok(equivalence) = Equivalence::new(pooled.mean, pooled.standard_error, df, margin, analysis.alpha)
    {
        result.equivalence = equivalence;
    }
}

/// Deciding comparisons by Holm, exploratory ones by Benjamini-Hochberg, others alone.
fn correct(comparisons: &mut [Comparison], analysis: &AnalysisSection) {
    let p = |of: &[usize], comparisons: &[Comparison]| -> Vec<f64> {
        of.iter().filter_map(|i| comparisons[*i].result.as_ref().map(|r| r.p)).collect()
    };
    let places = |primary: bool| -> Vec<usize> {
        let is_of =
            |c: &Comparison| c.primary == primary && c.role == ArmRole::Candidate && c.result.is_some();
        (0..comparisons.len()).filter(|i| is_of(&comparisons[*i])).collect()
    };
    let (deciding, exploratory) = (places(true), places(false));
    let mut adjusted: BTreeMap<usize, f64> = BTreeMap::new();
    adjusted.extend(deciding.iter().copied().zip(holm(&p(&deciding, comparisons)).unwrap_or_default()));
    let corrected = benjamini_hochberg(&p(&exploratory, comparisons)).unwrap_or_default();
    adjusted.extend(exploratory.iter().copied().zip(corrected));
    for (place, comparison) in comparisons.iter_mut().enumerate() {
        comparison.decide(adjusted.get(&place).copied(), analysis);
    }
}

fn correct_hosts(all: &mut [(usize, Vec<Comparison>)], analysis: &AnalysisSection) {
    let mut hosts: Vec<&mut Comparison> = all.iter_mut().flat_map(|(_, each)| each).collect();
    let p: Vec<f64> = hosts.iter().filter_map(|c| c.result.as_ref().map(|r| r.p)).collect();
    let mut adjusted = holm(&p).unwrap_or_default().into_iter();
    for host in &mut hosts {
        let p = if host.result.is_some() { adjusted.next() } else { None };
        host.decide(p, analysis);
    }
}

fn line(name: &str, class: &str, hosts: usize, comparison: &Comparison) -> HostVerdict {
    let result = comparison.result.as_ref();
    let interval = result.and_then(|r| r.interval).map(|(low, high)| {
        let (a, b) = (comparison.raw_change(low), comparison.raw_change(high));
        if a.0 <= b.0 { (a, b) } else { (b, a) }
    });
    HostVerdict {
        name: name.to_owned(),
        class: class.to_owned(),
        hosts,
        blocks: comparison.blocks.len(),
        change: result.map(|r| comparison.raw_change(r.estimate)),
        interval,
        verdict: comparison.verdict,
        reason: comparison.reason.clone(),
    }
}

/// The lines of all hosts and classes, and the words; the comparison itself becomes
/// unresolved where hosts go both ways.
fn over_hosts(
    comparison: &mut Comparison,
    lines: &[(&str, &str, Comparison)],
    analysis: &AnalysisSection,
) -> FleetComparison {
    let hosts: Vec<HostVerdict> = lines.iter().map(|(node, class, c)| line(node, class, 1, c)).collect();
    let each: Vec<Comparison> = lines.iter().map(|(_, _, c)| c.clone()).collect();
    let pooled = pooled(&each, analysis);
    let classes = classes(comparison, lines, analysis);
    let words = words(if classes.len() > 1 { &classes } else { &hosts }, pooled.as_ref());
    let any = |verdict| hosts.iter().any(|h| h.verdict == verdict);
    if any(Verdict::Better) && any(Verdict::Worse) {
        (comparison.verdict, comparison.reason) = (Verdict::Unresolved, words.clone());
    } else if hosts.len() > 1 && comparison.verdict == Verdict::Unresolved {
        comparison.reason = format!("over {} hosts {}; {words}", hosts.len(), comparison.reason);
    }
    FleetComparison {
        workload: comparison.workload.clone(),
        metric: comparison.metric.id.clone(),
        candidate: comparison.candidate.arm.clone(),
        hosts,
        classes,
        pooled,
        words,
    }
}

/// One line for each class: its only host's, or the estimate over its hosts.
fn classes(
    whole: &Comparison,
    lines: &[(&str, &str, Comparison)],
    analysis: &AnalysisSection,
) -> Vec<HostVerdict> {
    let mut by_class: Vec<(&str, Vec<&Comparison>)> = Vec::new();
    for (_, class, comparison) in lines {
        match by_class.iter_mut().find(|(known, _)| known == class) {
            Some((_, of_class)) => of_class.push(comparison),
            None => by_class.push((class, vec![comparison])),
        }
    }
    by_class
        .into_iter()
        .map(|(class, of_class)| match of_class.as_slice() {
            [only] => line(class, class, 1, only),
            several => {
                let each: Vec<Comparison> = several.iter().map(|c| (*c).clone()).collect();
                let mut over = Comparison {
                    blocks: each.iter().flat_map(|c| c.blocks.clone()).collect(),
                    result: each.iter().find_map(|c| c.result.clone()),
                    ..whole.clone()
                };
                take_pooled(&mut over, pooled(&each, analysis).as_ref(), analysis);
                over.decide(None, analysis);
                line(class, class, each.len(), &over)
            }
        })
        .collect()
}

/// Equal verdicts once, others one by one.
fn words(lines: &[HostVerdict], pooled: Option<&RandomEffects>) -> String {
    let change = |l: &HostVerdict| l.change.map_or(String::new(), |c| format!(" ({c:.2})"));
    let mut text = match lines {
        [] => "no host has a block".to_owned(),
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|l| l.verdict == first.verdict) => {
            let each: Vec<String> = lines.iter().map(|l| format!("{}{}", l.name, change(l))).collect();
            format!("{} on each of {}", first.verdict, each.join(", "))
        }
        _ => {
            let each = |l: &HostVerdict| format!("{} on {}{}", l.verdict, l.name, change(l));
            lines.iter().map(each).collect::<Vec<_>>().join(", ")
        }
    };
    if let Some(pooled) = pooled.filter(|p| p.heterogeneity_p < HETEROGENEOUS) {
        text += &format!(
            "; the hosts differ by more than their noise (heterogeneity p = {:.2}, I² {:.0}%)",
            pooled.heterogeneity_p,
            100.0 * pooled.i_squared
        );
    }
    text
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
pub(crate) mod tests;
