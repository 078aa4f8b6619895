//! `throughput: 1000 MB/s -> 1100 MB/s (+10%)`, also `=>` and `→`; and `A vs B`,
//! whose order only words in front can tell.

use crate::patch::claim::{Baseline, Delta, Format, Measured, Reading};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::token::{Kind, Token};

use super::finding::{Finding, Match};
use super::quantity;

/// One claim for each arrow between two quantities.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let line = lines.first()?;
    let mut findings = Vec::new();
    let mut from = 0;
    for at in 1..line.tokens.len() {
        let versus = line.tokens[at].text(line.text) == "vs";
        if (versus || line.tokens[at].kind == Kind::Arrow)
            && findings.len() < 16
            && let Some((mut finding, next)) = claim(line, from, at)
        {
            if versus {
                order(&mut finding, line.text);
            }
            findings.push(finding);
            from = next;
        }
    }
    (!findings.is_empty()).then_some(Match { lines: 1, findings })
}

fn claim(line: &Line<'_>, from: usize, arrow: usize) -> Option<(Finding, usize)> {
    let tokens = &line.tokens;
    let start = (from.max(arrow.saturating_sub(5))..arrow)
        .find(|at| quantity::quantity(line.text, tokens, *at).is_some_and(|q| q.next == arrow))?;
    let before = quantity::quantity(line.text, tokens, start)?;
    let after = quantity::quantity(line.text, tokens, arrow + 1)?;
    let (delta, next) = delta_near(tokens, after.next);
    let name = name(line, from, start);
    let unit = after.unit.clone().or_else(|| before.unit.clone()).or_else(|| metric_name::unit_in(&name));
    let unit = unit.as_deref();
    // A version or a setting that changed is no result.
    if delta == Delta::Missing && (unit.is_none() || name.is_empty()) {
        return None;
    }
    let side = |label: &str, read: &quantity::Quantity| Measured {
        label: label.to_owned(),
        value: read.value,
        deviation: read.deviation,
    };
    let finding = Finding::new(Format::Arrow, metric_name::metric(&name, unit), delta)
        .with_values(side("left of the arrow", &before), side("right of the arrow", &after));
    Some((finding, next))
}

/// Turns the sides of `A vs B` where the line names them, else keeps both readings.
fn order(finding: &mut Finding, text: &str) {
    let lower = text.to_lowercase();
    let names = |pairs: &[&str]| pairs.iter().any(|pair| lower.contains(pair));
    let (first, second) = (finding.before.take(), finding.after.take());
    let forward = names(&["before and after", "without and with", "unpatched and patched", "base and "]);
    let backward = names(&["after and before", "with and without", "patched and unpatched"]);
    let label = |side: &Option<Measured>, label: &str| {
        side.clone().map(|m| Measured { label: label.to_owned(), ..m })
    };
    let (ahead, turned) = (
        (label(&first, "first"), label(&second, "second")),
        (label(&second, "second"), label(&first, "first")),
    );
    (finding.before, finding.after) = if backward && !forward { turned.clone() } else { ahead.clone() };
    if forward == backward {
        let reading = |meaning: &str, sides: &(Option<Measured>, Option<Measured>)| Reading {
            meaning: meaning.to_owned(),
            baseline: Baseline::Unstated,
            before: sides.0.clone(),
            after: sides.1.clone(),
        };
        finding.readings =
            vec![reading("before, then after", &ahead), reading("after, then before", &turned)];
    }
}

/// A delta a few tokens behind.
fn delta_near(tokens: &[Token], at: usize) -> (Delta, usize) {
    for skip in 0..5 {
        if let Some((delta, next)) = quantity::delta(tokens, at + skip) {
            return (delta, next);
        }
        let stops = tokens.get(at + skip).is_none_or(|t| matches!(t.kind, Kind::Arrow | Kind::Number(_)));
        if stops {
            break;
        }
    }
    (Delta::Missing, at)
}

fn name(line: &Line<'_>, from: usize, start: usize) -> String {
    let Some(first) = line.tokens.get(from) else { return String::new() };
    let text = line.text.get(first.start..line.tokens[start].start).unwrap_or("");
    let marks =
        |c: char| c.is_whitespace() || matches!(c, '-' | '*' | ':' | '|' | '(' | ')' | ',' | ';' | '`' | '.');
    let text = text.trim_matches(marks);
    let open = text.contains('(') && !text.contains(')');
    text.chars().take(100).chain(open.then_some(')')).collect()
}
