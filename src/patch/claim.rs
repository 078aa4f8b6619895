//! What a mail claims: a before/after pair with every context it came with.

use serde::{Deserialize, Serialize};

use super::printed::Printed;

/// A byte range in the decoded body of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// The family of formats a claim was printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    Label,
    Fio,
    Memtier,
    Lkp,
    LkpHeadline,
    Mmtests,
    Columns,
    /// A percentage in brackets that is plus when better.
    Improvement,
    Ministat,
    SlashCells,
    Sysbench,
    Time,
    Arrow,
    Prose,
}

/// Which way is better, as far as metric and unit tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    HigherIsBetter,
    LowerIsBetter,
    Unknown,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimMetric {
    /// The name in the mail's own words, such as `Ops/sec` or `will-it-scale.per_process_ops`.
    pub name: String,
    pub unit: Option<String>,
    pub direction: Direction,
}

/// What a printed deviation is a deviation of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviationKind {
    /// Periodic samples inside one run; says nothing about repeated runs.
    WithinRun,
    AcrossRuns,
    /// Of the mean over the runs: that of the runs divided by the root of their number.
    OfTheMean,
    Unstated,
}

/// A printed deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    pub value: Printed,
    /// The value is in percent of the mean.
    pub relative: bool,
    pub kind: DeviationKind,
    /// Samples the tool itself counted inside the run.
    pub samples: Option<u64>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The label or column heading, in the mail's own words.
    pub label: String,
    pub value: Printed,
    pub deviation: Option<Deviation>,
}

/// The change as printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delta {
    Percent {
        change: Printed,
    },
    Interval {
        low: Printed,
        high: Printed,
    },
    /// A difference without a percent sign, in the metric's own unit.
    Difference {
        change: Printed,
    },
    /// A factor, such as `2.5x`.
    Factor {
        factor: Printed,
    },
    /// "No change", "almost identical".
    Null {
        words: String,
    },
    /// Nothing printed; not zero.
    Missing,
}

/// How a sentence qualifies its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wording {
    Better,
    Worse,
    Up,
    Down,
    Unchanged,
}

/// What the "before" is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// The kernel without the series.
    BaseKernel,
    /// The series up to the patch before.
    PreviousPatch,
    /// The first column of a table with several.
    FirstColumn,
    /// Another setting of one kernel.
    OtherSetting,
    /// The state a fix repairs, which is not the original kernel.
    BeforeFix,
    Unstated,
}

/// What of a series the "after" holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    ThisPatch,
    Patches { first: u32, last: u32 },
    Series,
    Unstated,
}

/// Which statistic of the runs is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    Mean,
    Median,
    Best,
    Unstated,
}

/// The stated number of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    pub count: u32,
    pub statistic: Statistic,
    /// The words it was read from.
    pub text: String,
}

/// One of several possible readings of an ambiguous text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub meaning: String,
    pub baseline: Baseline,
    pub before: Option<Measured>,
    pub after: Option<Measured>,
}

/// A result a mail prints, with its context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// `c1`, `c2`, … in the order of the mails.
    pub id: String,
    /// Index of the message.
    pub message: usize,
    pub format: Format,
    pub metric: ClaimMetric,
    pub scope: Scope,
    pub baseline: Baseline,
    pub before: Option<Measured>,
    pub after: Option<Measured>,
    pub delta: Delta,
    pub wording: Option<Wording>,
    /// Empty unless the text can be read in more than one way.
    pub readings: Vec<Reading>,
    pub runs: Option<Runs>,
    /// Index of the setting (machine, limits, commands) it was measured in.
    pub setting: Option<usize>,
    /// Levels of quotation around it; 0 for the author's own words.
    pub quoted: u8,
    /// Other places in the mails that repeat it.
    pub repeats: u32,
    pub span: Span,
    pub text: String,
}

impl Claim {
    /// Whether more than one reading is possible.
    pub fn is_ambiguous(&self) -> bool {
        self.readings.len() > 1
    }
}
