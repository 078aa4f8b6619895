//! Tables of mmtests: `Hmean 64 732.14 ( 0.00%) 730.45 ( -0.23%)`. Its
//! percentages are positive when better, for times too.

use crate::patch::claim::{Baseline, Delta, Format, Measured};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::printed::Printed;
use crate::patch::token::Kind;

use super::finding::{Finding, Match};

const OPERATIONS: &[&str] =
    &["Hmean", "Amean", "Gmean", "BHmean", "BAmean", "Min", "Max", "1st-qrtle", "2nd-qrtle", "3rd-qrtle"];
/// Rows that describe the spread of others.
const SPREADS: &[&str] =
    &["Stddev", "CoeffVar", "BStddev", "BCoeffVar", "BShmean", "Max-90%", "Max-95%", "Max-99%"];

struct Row {
    operation: String,
    name: String,
    cells: Vec<(Printed, Option<Printed>)>,
}

/// Recognises consecutive rows.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let first = row(lines.first()?)?;
    let mut findings = Vec::new();
    let mut taken = 0;
    let mut pending = Some(first);
    for (index, line) in lines.iter().enumerate().take(2000) {
        let Some(row) = pending.take().or_else(|| row(line)) else {
            if line.is_blank() && lines.get(index + 1).is_some_and(|next| self::row(next).is_some()) {
                continue;
            }
            break;
        };
        taken = index + 1;
        if !SPREADS.contains(&row.operation.as_str()) {
            findings.extend(claims(&row).into_iter().map(|f| f.at(index, index)));
        }
    }
    Some(Match { lines: taken, findings })
}

fn row(line: &Line<'_>) -> Option<Row> {
    let tokens = &line.tokens;
    let head = tokens.first()?.text(line.text);
    let operation = head.split('-').next().unwrap_or(head);
    if ["Duration", "Ops"].contains(&head) {
        return plain_row(line);
    }
    let known = OPERATIONS.contains(&head) || OPERATIONS.contains(&operation);
    let spread = SPREADS.iter().any(|s| head.starts_with(s.trim_end_matches('%')));
    if !known && !spread {
        return None;
    }
    let opens = |at: usize| tokens.get(at).is_some_and(|t| t.is_symbol('(') || t.is_symbol('*'));
    let number = |at: usize| tokens.get(at).and_then(super::super::token::Token::number);
    let mut at =
        (1..tokens.len().min(8)).find(|i| number(*i).is_some() && (opens(i + 1) || !is_label(tokens, *i)))?;
    let name = line.text[tokens[0].end..tokens[at].start].trim().to_owned();
    let mut cells = Vec::new();
    while let Some(value) = number(at).filter(|_| cells.len() < 12) {
        let percent =
            tokens.get(at + 2).and_then(super::super::token::Token::percent).filter(|_| opens(at + 1));
        cells.push((value, percent));
        at += if percent.is_some() { 4 } else { 1 };
    }
    let operation = if spread { SPREADS[0].to_owned() } else { head.to_owned() };
    (cells.len() >= 2).then_some(Row { operation, name, cells })
}

/// `Duration System 1880.55 1733.10`: values without percentages.
fn plain_row(line: &Line<'_>) -> Option<Row> {
    let words = line.tokens.iter().skip(1).take(6).take_while(|t| t.kind == Kind::Word).count();
    let first = line.tokens.get(1 + words).filter(|_| words > 0)?;
    let cells: Option<Vec<_>> = line.tokens[1 + words..].iter().map(|t| Some((t.number()?, None))).collect();
    let cells = cells.filter(|cells| (2..=12).contains(&cells.len()))?;
    let head = line.tokens[0].text(line.text).to_owned();
    Some(Row { operation: head, name: line.text[line.tokens[1].start..first.start].trim().to_owned(), cells })
}

/// A number in front of another number or word is part of the row's name.
fn is_label(tokens: &[super::super::token::Token], at: usize) -> bool {
    matches!(tokens.get(at + 1).map(|t| t.kind), Some(Kind::Number(_)))
        && tokens.iter().skip(at).any(|t| t.is_symbol('('))
}

fn claims(row: &Row) -> Vec<Finding> {
    let side =
        |at: usize| Measured { label: format!("column {}", at + 1), value: row.cells[at].0, deviation: None };
    let name = format!("{} {}", row.operation, row.name);
    let claim = |at: usize| {
        let delta = row.cells[at].1.map_or(Delta::Missing, |change| Delta::Percent { change });
        let metric = metric_name::metric(name.trim(), None);
        let mut finding = Finding::new(Format::Mmtests, metric, delta).with_values(side(0), side(at));
        finding.baseline = Baseline::FirstColumn;
        finding
    };
    (1..row.cells.len()).map(claim).collect()
}
