//! All charts of a campaign.

use super::error::ChartError;
use super::frame::{Frame, Key};
use super::picture::Picture;
use super::theme::{ArmStyle, arm_style};
use super::{
    claim, counter_lines, counters, distribution, forest, hosts, latency, over_time, probe, sequential,
    variance,
};
use crate::analyze::{CampaignAnalysis, Comparison};
use crate::config::ArmRole;
use crate::report::series::BlockSeries;

/// What charts are made from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub analysis: &'a CampaignAnalysis,
    /// Counter samples of one block.
    pub series: Option<&'a BlockSeries>,
}

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Name of its files, without extension.
    pub name: String,
    /// The finding, which is also its text for readers who see no image.
    pub title: String,
    pub picture: Picture,
}

/// The charts that the data allow, and why others are missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gallery {
    pub charts: Vec<Chart>,
    /// Chart and reason, for charts that were refused.
    pub refused: Vec<(String, String)>,
}

impl Chart {
    pub(super) fn new(name: impl Into<String>, title: impl Into<String>, frame: Frame) -> Self {
        Chart { name: name.into(), title: title.into(), picture: frame.picture }
    }
}

impl Source<'_> {
    /// The look of an arm.
    pub(super) fn style(&self, arm: &str) -> ArmStyle {
        let mut candidates = 0;
        for line in &self.analysis.arms {
            if line.name == arm {
                return arm_style(line.role, candidates);
            }
            candidates += usize::from(line.role == ArmRole::Candidate);
        }
        arm_style(ArmRole::Candidate, candidates)
    }

    /// The deciding comparison of a workload and metric that charts of one metric are about.
    pub(super) fn primary(&self) -> Vec<&Comparison> {
        let mut first: Vec<&Comparison> = Vec::new();
        for comparison in self.analysis.deciding() {
            let same =
                |c: &&Comparison| c.workload == comparison.workload && c.metric.id == comparison.metric.id;
            if !first.iter().any(same) {
                first.push(comparison);
            }
        }
        first
    }

    /// Every arm's values of the metric of `comparison`, baseline first.
    pub(super) fn arms_of<'c>(&'c self, comparison: &'c Comparison) -> Vec<&'c crate::analyze::ArmValues> {
        let same = |c: &&Comparison| {
            c.workload == comparison.workload
                && c.metric.id == comparison.metric.id
                && c.primary == comparison.primary
        };
        let candidates = self.analysis.comparisons.iter().filter(same).map(|c| &c.candidate);
        std::iter::once(&comparison.baseline).chain(candidates).filter(|a| !a.values.is_empty()).collect()
    }

    pub(super) fn key(&self, arm: &str, text: impl Into<String>) -> Key {
        Key { style: self.style(arm), text: text.into() }
    }
}

type Draw = fn(&Source<'_>) -> Result<Vec<Chart>, ChartError>;

/// In the order in which a page shows them.
const KINDS: [(&str, Draw); 11] = [
    ("forest", forest::draw),
    ("hosts", hosts::draw),
    ("claim", claim::draw),
    ("trials", over_time::draw),
    ("distribution", distribution::draw),
    ("sequential", sequential::draw),
    ("latency", latency::draw),
    ("probe", probe::draw),
    ("counters", counters::draw),
    ("counter-lines", counter_lines::draw),
    ("variance", variance::draw),
];

/// Draws every kind that has data.
pub fn gallery(source: &Source<'_>) -> Gallery {
    let mut gallery = Gallery::default();
    for (name, draw) in KINDS {
        match draw(source) {
            Ok(charts) => gallery.charts.extend(charts),
            Err(error) => gallery.refused.push((name.to_owned(), error.to_string())),
        }
    }
    gallery
}

/// Names a chart of one metric among several of its kind.
pub(super) fn file_name(kind: &str, comparison: &Comparison, several: bool) -> String {
    if several { format!("{kind}-{}-{}", comparison.workload, comparison.metric.id) } else { kind.to_owned() }
}

#[cfg(test)]
#[path = "gallery_tests.rs"]
mod tests;
