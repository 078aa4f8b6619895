//! What a recogniser hands back: claims without their surroundings yet.

use crate::patch::claim::{
    Baseline, Claim, ClaimMetric, Delta, Deviation, Format, Measured, Reading, Runs, Scope, Span, Wording,
};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::printed::Printed;

/// A claim as one recogniser sees it; line numbers are relative to its first line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub format: Format,
    pub metric: ClaimMetric,
    pub scope: Scope,
    pub baseline: Baseline,
    pub before: Option<Measured>,
    pub after: Option<Measured>,
    pub delta: Delta,
    pub wording: Option<Wording>,
    pub readings: Vec<Reading>,
    pub runs: Option<Runs>,
    pub first: usize,
    pub last: usize,
}

impl Finding {
    /// A finding with nothing but its metric and delta.
    pub(crate) fn new(format: Format, metric: ClaimMetric, delta: Delta) -> Self {
        Finding {
            format,
            metric,
            scope: Scope::Unstated,
            baseline: Baseline::Unstated,
            before: None,
            after: None,
            delta,
            wording: None,
            readings: Vec::new(),
            runs: None,
            first: 0,
            last: 0,
        }
    }

    pub(crate) fn with_values(mut self, before: Measured, after: Measured) -> Self {
        self.before = Some(before);
        self.after = Some(after);
        self
    }

    /// The claim as far as its own lines tell.
    pub(crate) fn into_claim(self) -> Claim {
        Claim {
            id: String::new(),
            message: 0,
            format: self.format,
            metric: self.metric,
            scope: self.scope,
            baseline: self.baseline,
            before: self.before,
            after: self.after,
            delta: self.delta,
            wording: self.wording,
            readings: self.readings,
            runs: self.runs,
            setting: None,
            quoted: 0,
            repeats: 0,
            span: Span { start: 0, end: 0 },
            text: String::new(),
        }
    }

    pub(crate) fn at(mut self, first: usize, last: usize) -> Self {
        (self.first, self.last) = (first, last);
        self
    }
}

/// Lines a table may go on without a row before it is given up: what bounds the
/// work that is done for nothing.
pub(crate) const BARREN: usize = 24;

/// Lines a recogniser took, at least one, and what it found in them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Match {
    pub lines: usize,
    pub findings: Vec<Finding>,
}

/// A family's entry: looks at the head of the lines and takes some, or none.
pub(crate) type Recogniser = fn(&[Line<'_>]) -> Option<Match>;

/// A value with its name, as a line prints it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedValue {
    pub name: String,
    pub unit: Option<String>,
    pub value: Printed,
    pub deviation: Option<Deviation>,
    pub delta: Delta,
    pub format: Format,
    /// Other meanings the value may have, when its column is not named.
    pub meanings: Vec<String>,
    pub runs: Option<u32>,
}

impl NamedValue {
    pub(crate) fn new(name: &str, unit: Option<&str>, value: Printed, format: Format) -> Self {
        NamedValue {
            name: name.trim().to_owned(),
            unit: unit.map(str::to_owned),
            value,
            deviation: None,
            delta: Delta::Missing,
            format,
            meanings: Vec::new(),
            runs: None,
        }
    }

    pub(crate) fn metric(&self) -> ClaimMetric {
        // "Avg: 10 qps" names a statistic; the unit names the metric.
        let statistic = ["avg", "average", "mean", "median", "result", "total"];
        let name = if statistic.contains(&self.name.to_lowercase().as_str()) { "" } else { &self.name };
        metric_name::metric(name, self.unit.as_deref())
    }

    pub(crate) fn measured(&self, label: &str) -> Measured {
        Measured { label: label.to_owned(), value: self.value, deviation: self.deviation }
    }
}
