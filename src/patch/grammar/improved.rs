//! Tables of the scheduler's testers, `value [improvement](variation)` for each
//! kernel: `16-groups  1.00 [ -0.00]( 1.02)  0.92 [  8.04]( 1.31)`. Plus is better.

use crate::patch::claim::{Baseline, Delta, Deviation, DeviationKind, Direction, Format, Measured};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::printed::Printed;
use crate::patch::token::{Kind, Token};

use super::finding::{Finding, Match};

/// A value, its printed improvement and its variation in percent.
type Cell = (Printed, Printed, Printed);

/// Facts of the lines above the rows.
#[derive(Default)]
struct Heading {
    test: String,
    direction: Option<Direction>,
}

/// Recognises the block from `Test :` or from its heading of columns on.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let head = lines.first()?.text;
    if !(named(head, "Test").is_some() || head.contains("[pct imp]")) {
        return None;
    }
    let mut heading = Heading::default();
    let mut findings = Vec::new();
    let mut labels: Vec<String> = Vec::new();
    let mut taken = 0;
    for (index, line) in lines.iter().enumerate().take(200) {
        if let Some((name, cells)) = row(line).filter(|_| !labels.is_empty()) {
            findings.extend(claims(&heading, &labels, &name, &cells, index));
            taken = index + 1;
        } else if line.text.contains("[pct imp]") {
            labels = columns(line.text);
        } else if !heading.take(line.text) && !super::columns::is_rule(line) {
            break;
        }
    }
    (!findings.is_empty()).then_some(Match { lines: taken, findings })
}

impl Heading {
    fn take(&mut self, text: &str) -> bool {
        if let Some(test) = named(text, "Test") {
            test.clone_into(&mut self.test);
        } else if let Some(text) = named(text, "Interpretation") {
            let lower = text.to_lowercase();
            self.direction = if lower.contains("lower is better") {
                Some(Direction::LowerIsBetter)
            } else {
                lower.contains("higher is better").then_some(Direction::HigherIsBetter)
            };
        } else {
            return ["Units", "Statistic"].iter().any(|name| named(text, name).is_some());
        }
        true
    }
}

/// The text behind `Name :`.
fn named<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.trim_start().strip_prefix(name)?.trim_start().strip_prefix(':').map(str::trim)
}

/// `tip[pct imp](CV)  series[pct imp](CV)`.
fn columns(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split("[pct imp]").collect();
    let label = |part: &&str| part.split_whitespace().next_back().unwrap_or("").to_owned();
    parts[..parts.len() - 1].iter().take(8).map(label).collect()
}

fn row(line: &Line<'_>) -> Option<(String, Vec<Cell>)> {
    let tokens = &line.tokens;
    let first = (0..tokens.len().min(6)).find(|at| cell(tokens, *at).is_some())?;
    let name = line.text[..tokens[first].start].trim().trim_end_matches(':').to_owned();
    let mut cells = Vec::new();
    let mut at = first;
    while let Some((cell, next)) = cell(tokens, at).filter(|_| cells.len() < 8) {
        cells.push(cell);
        at = next;
    }
    (cells.len() >= 2 && at == tokens.len() && !name.is_empty()).then_some((name, cells))
}

/// `0.92 [  8.04]( 1.31)`.
fn cell(tokens: &[Token], at: usize) -> Option<(Cell, usize)> {
    let number = |i: usize| match tokens.get(i)?.kind {
        Kind::Number(n) | Kind::Percent(n) => Some(n),
        _ => None,
    };
    let symbol = |i: usize, c: char| tokens.get(i).is_some_and(|t| t.is_symbol(c));
    let shaped = symbol(at + 1, '[') && symbol(at + 3, ']') && symbol(at + 4, '(') && symbol(at + 6, ')');
    let cell = (number(at)?, number(at + 2)?, number(at + 5)?);
    shaped.then_some((cell, at + 7))
}

fn claims(heading: &Heading, labels: &[String], name: &str, cells: &[Cell], index: usize) -> Vec<Finding> {
    let side = |at: usize| Measured {
        label: labels.get(at).cloned().unwrap_or_else(|| format!("column {}", at + 1)),
        value: cells[at].0,
        deviation: Some(Deviation {
            value: cells[at].2,
            relative: true,
            kind: DeviationKind::AcrossRuns,
            samples: None,
        }),
    };
    let claim = |at: usize| {
        let full = format!("{} {name}", heading.test);
        let mut metric = metric_name::metric(full.trim(), None);
        metric.direction = heading.direction.unwrap_or(metric.direction);
        let delta = Delta::Percent { change: cells[at].1 };
        let mut finding =
            Finding::new(Format::Improvement, metric, delta).with_values(side(0), side(at)).at(index, index);
        finding.baseline = Baseline::FirstColumn;
        finding
    };
    (1..cells.len()).map(claim).collect()
}
