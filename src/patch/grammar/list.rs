//! Lists of changes: `* page_fault1: +4.9% (812044 => 851990)`, `- compile time: -3.1%`.

use crate::patch::claim::{Delta, Format, Measured};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::token::{Kind, Token};

use super::finding::{Finding, Match};
use super::{quantity, words};

/// A name, a colon and a change with its sign, in a list or of a known noun.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let line = lines.first()?;
    let tokens = &line.tokens;
    let colon = tokens.iter().take(10).position(|t| t.is_symbol(':'))?;
    let first = tokens.iter().position(|t| t.kind == Kind::Word).filter(|at| *at < colon)?;
    let listed = first > 0 && matches!(tokens[0].text(line.text), "-" | "*" | "o" | "•");
    let name = &line.text[tokens[first].start..tokens[colon - 1].end];
    let noun = tokens[first..colon].iter().any(|t| words::is_noun(t.text(line.text)));
    let (delta, next) = quantity::delta(tokens, colon + 1)?;
    let signed = match &delta {
        Delta::Percent { change } => change.sign.is_some(),
        Delta::Interval { low, .. } => low.sign.is_some(),
        _ => false,
    };
    let rest = &tokens[next..];
    if !(listed || noun) || !signed || rest.len() > 12 || rest.iter().any(|t| t.percent().is_some()) {
        return None;
    }
    let values = rest.iter().position(|t| t.kind == Kind::Arrow).and_then(|at| values(line, next + at));
    let unit = values.as_ref().and_then(|(_, _, unit)| unit.as_deref());
    let mut finding = Finding::new(Format::Label, metric_name::metric(name, unit), delta);
    if let Some((before, after, _)) = values {
        finding = finding.with_values(before, after);
    }
    Some(Match { lines: 1, findings: vec![finding] })
}

/// The quantities on both sides of an arrow.
fn values(line: &Line<'_>, arrow: usize) -> Option<(Measured, Measured, Option<String>)> {
    let tokens: &[Token] = &line.tokens;
    let start = arrow
        .checked_sub(1)
        .map(|at| if tokens[at].kind == Kind::Word { at.saturating_sub(1) } else { at })?;
    let before = quantity::quantity(line.text, tokens, start).filter(|q| q.next == arrow)?;
    let after = quantity::quantity(line.text, tokens, arrow + 1)?;
    let side = |label: &str, read: &quantity::Quantity| Measured {
        label: label.to_owned(),
        value: read.value,
        deviation: read.deviation,
    };
    let unit = after.unit.clone().or_else(|| before.unit.clone());
    Some((side("left of the arrow", &before), side("right of the arrow", &after), unit))
}
