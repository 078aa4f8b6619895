//! Comparison tables of the kernel test robot: one or more `%change %stddev`
//! pairs, all against the first column. Rows are read token by token, since
//! mail often loses the alignment. `±` is printed only above 2% of the mean.

use crate::patch::claim::{Baseline, Delta, Deviation, DeviationKind, Format, Measured};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::printed::Printed;
use crate::patch::token::{Kind, Token};

use super::finding::{BARREN, Finding, Match};

/// Rows one table may have.
const ROWS: usize = 5000;

/// A value with its relative deviation.
type Value = (Printed, Option<Deviation>);

struct Row<'a> {
    first: Value,
    columns: Vec<(Delta, Value)>,
    metric: &'a str,
}

/// Recognises a table from its heading on, or a lone quoted row.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let head = lines.first()?;
    let heading = head.text.contains("%stddev") && head.text.contains("%change");
    let commits = commit_columns(head);
    if !heading && commits.is_none() && row(head).is_none() {
        return None;
    }
    if head.text.contains("%reproduction") || head.text.contains("fail:runs") {
        return Some(failures(lines));
    }
    let labels = commits.unwrap_or_default();
    let mut findings = Vec::new();
    let (mut taken, mut misses) = (0, 0);
    for (index, line) in lines.iter().enumerate().take(ROWS) {
        if let Some(row) = row(line) {
            findings.extend(claims(&row, &labels).into_iter().map(|f| f.at(index, index)));
            taken = index + 1;
            misses = 0;
        } else if !is_ruler(line) {
            misses += 1;
        }
        let barren = findings.is_empty() && index > BARREN;
        if misses > 4 || barren || (misses > 0 && !heading && labels.is_empty()) {
            break;
        }
    }
    (!findings.is_empty()).then_some(Match { lines: taken, findings })
}

/// Failure counts are no measurements; the whole block is taken.
fn failures(lines: &[Line<'_>]) -> Match {
    let rows = lines.iter().take(200).take_while(|line| !line.is_blank()).count();
    Match { lines: rows.max(1), findings: Vec::new() }
}

fn is_ruler(line: &Line<'_>) -> bool {
    let text = line.text.trim();
    text.contains("%stddev") || text.bytes().all(|b| matches!(b, b'-' | b'=' | b'\\' | b'|' | b' ' | b'\t'))
}

/// `4a202aca7c7d9f99 3b7734aa8458b62ecbfd785ca79 …`: two or more commit ids alone.
fn commit_columns(line: &Line<'_>) -> Option<Vec<String>> {
    let words: Vec<&str> = line.text.split_whitespace().take(12).collect();
    let commit = |w: &&str| (12..=40).contains(&w.len()) && w.bytes().all(|b| b.is_ascii_hexdigit());
    let all = words.len() >= 2 && words.iter().all(commit);
    all.then(|| words.iter().map(|w| w[..12].to_owned()).collect())
}

/// One row; `None` when the tokens do not follow its grammar.
fn row<'a>(line: &Line<'a>) -> Option<Row<'a>> {
    let tokens = &line.tokens;
    let (first, mut at) = value(tokens, 0)?;
    let mut columns = Vec::new();
    while columns.len() < 12 {
        let Some(delta) = tokens.get(at).and_then(change) else { break };
        let (value, next) = value(tokens, at + 1)?;
        columns.push((delta, value));
        at = next;
    }
    let start = tokens.get(at).filter(|t| t.kind == Kind::Word)?.start;
    let metric = line.text[start..].split_whitespace().next()?;
    let rest = line.text[start + metric.len()..].trim_start();
    let marked = rest.is_empty() || rest.starts_with(['<', '(', '#', '*']);
    let named = metric.contains('.') && metric.len() > 3;
    (!columns.is_empty() && named && marked).then_some(Row { first, columns, metric })
}

/// `12708 ± 2%` or `12708`.
fn value(tokens: &[Token], at: usize) -> Option<(Value, usize)> {
    let number = tokens.get(at)?.number().filter(|n| n.sign.is_none())?;
    let spread = tokens.get(at + 1).is_some_and(|t| t.kind == Kind::Spread);
    let percent = tokens.get(at + 2).and_then(Token::percent);
    match (spread, percent) {
        (true, Some(value)) => {
            let deviation =
                Deviation { value, relative: true, kind: DeviationKind::AcrossRuns, samples: None };
            Some(((number, Some(deviation)), at + 3))
        }
        (true, None) => None,
        _ => Some(((number, None), at + 1)),
    }
}

/// `-5.7%` is relative; a signed number without a percent sign is a difference.
fn change(token: &Token) -> Option<Delta> {
    match token.kind {
        Kind::Percent(change) if change.sign.is_some() => Some(Delta::Percent { change }),
        Kind::Number(change) if change.sign.is_some() => Some(Delta::Difference { change }),
        _ => None,
    }
}

fn claims(row: &Row<'_>, labels: &[String]) -> Vec<Finding> {
    let label = |at: usize| labels.get(at).cloned().unwrap_or_else(|| format!("column {}", at + 1));
    let side = |at: usize, value: Value| Measured { label: label(at), value: value.0, deviation: value.1 };
    let claim = |(at, (delta, value)): (usize, &(Delta, Value))| {
        let mut finding = Finding::new(Format::Lkp, metric_name::metric(row.metric, None), delta.clone())
            .with_values(side(0, row.first), side(at + 1, *value));
        finding.baseline = Baseline::FirstColumn;
        finding
    };
    row.columns.iter().enumerate().map(claim).collect()
}
