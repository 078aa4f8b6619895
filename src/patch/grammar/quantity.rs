//! Small readers over tokens: a value with its unit and deviation, and deltas.

use crate::patch::claim::{Delta, Deviation, DeviationKind};
use crate::patch::metric_name::{is_unit, scale_of};
use crate::patch::printed::Printed;
use crate::patch::token::{Kind, Token};

/// Things that are counted per second, as in `requests per second`.
const COUNTED: &[&str] =
    &["requests", "operations", "ops", "transactions", "queries", "events", "messages", "packets", "reads"];

/// A value with unit and deviation, and the index behind it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantity {
    pub value: Printed,
    pub unit: Option<String>,
    pub deviation: Option<Deviation>,
    pub next: usize,
}

/// Reads `1000.5 MiB/s ± 3%` at `at`.
pub(crate) fn quantity(text: &str, tokens: &[Token], at: usize) -> Option<Quantity> {
    let token = tokens.get(at)?;
    let (mut value, mut unit) = match token.kind {
        Kind::Number(number) => (number, None),
        Kind::Seconds(seconds) => (seconds, Some("s".to_owned())),
        Kind::Percent(percent) if percent.sign.is_none() => (percent, Some("%".to_owned())),
        _ => return None,
    };
    let mut next = at + 1;
    if unit.is_none()
        && let Some((found, after)) = unit_at(text, tokens, next)
    {
        next = after;
        match (scale_of(&found), after_scale(text, tokens, next)) {
            (Some(factor), more) => {
                value = value.scaled(factor);
                if let Some((name, behind)) = more {
                    next = behind;
                    unit = Some(name);
                }
            }
            (None, _) => unit = Some(found),
        }
    }
    let deviation = spread(tokens, next);
    if let Some((_, after)) = deviation {
        next = after;
        if unit.is_none()
            && let Some((found, behind)) = unit_at(text, tokens, next)
        {
            unit = Some(found);
            next = behind;
        }
    }
    Some(Quantity { value, unit, deviation: deviation.map(|d| d.0), next })
}

/// A unit word, or `per sec`, at `at`.
pub(crate) fn unit_at(text: &str, tokens: &[Token], at: usize) -> Option<(String, usize)> {
    let word = |i: usize| tokens.get(i).filter(|t| t.kind == Kind::Word).map(|t| t.text(text));
    let first = word(at)?;
    let per = |i: usize| {
        let second = word(i).filter(|w| w.eq_ignore_ascii_case("per")).and_then(|_| word(i + 1))?;
        ["sec", "second", "s", "minute", "min", "hour", "op"]
            .contains(&second)
            .then(|| format!("per {second}"))
    };
    if let Some(rate) = per(at) {
        return Some((rate, at + 2));
    }
    if let Some(rate) = per(at + 1).filter(|_| COUNTED.contains(&first)) {
        return Some((format!("{first} {rate}"), at + 3));
    }
    let glued = at > 0 && tokens[at - 1].end == tokens[at].start;
    // A lone letter is a unit only when glued or well known.
    let letter = first.len() == 1 && !glued && first != "s";
    (is_unit(first) && !letter).then(|| (first.trim_end_matches('.').to_owned(), at + 1))
}

/// After `12.3k`, the real unit: `12.3k IOPS`.
fn after_scale(text: &str, tokens: &[Token], at: usize) -> Option<(String, usize)> {
    unit_at(text, tokens, at).filter(|(unit, _)| scale_of(unit).is_none())
}

/// `± 3%` or `± 12.5` at `at`.
pub(crate) fn spread(tokens: &[Token], at: usize) -> Option<(Deviation, usize)> {
    if tokens.get(at)?.kind != Kind::Spread {
        return None;
    }
    let (value, relative) = match tokens.get(at + 1)?.kind {
        Kind::Percent(value) => (value, true),
        Kind::Number(value) => (value, false),
        _ => return None,
    };
    Some((Deviation { value, relative, kind: DeviationKind::Unstated, samples: None }, at + 2))
}

/// The delta at `at`: `+1.8%`, `(+1.8%)`, `+[4, 6]%`, `[6, 8]%`, and the index behind it.
pub(crate) fn delta(tokens: &[Token], at: usize) -> Option<(Delta, usize)> {
    let token = tokens.get(at)?;
    match token.kind {
        Kind::Percent(change) => Some((Delta::Percent { change }, at + 1)),
        Kind::PercentRange(low, high) => Some((Delta::Interval { low, high }, at + 1)),
        Kind::Symbol('(') => {
            let (found, next) = delta(tokens, at + 1).filter(|_| !tokens[at + 1].is_symbol('('))?;
            let closed = tokens.get(next).is_some_and(|t| t.is_symbol(')'));
            closed.then_some((found, next + 1))
        }
        Kind::Symbol('[') => interval(tokens, at, 1.0),
        Kind::Symbol('+') => interval(tokens, at + 1, 1.0),
        Kind::Symbol('-' | '−') => interval(tokens, at + 1, -1.0),
        _ => None,
    }
}

fn interval(tokens: &[Token], at: usize, sign: f64) -> Option<(Delta, usize)> {
    let number = |i: usize| match tokens.get(i)?.kind {
        Kind::Number(n) | Kind::Percent(n) => Some(n),
        _ => None,
    };
    let symbol = |i: usize, c: char| tokens.get(i).is_some_and(|t| t.is_symbol(c));
    if !symbol(at, '[') || !symbol(at + 2, ',') || !symbol(at + 4, ']') {
        return None;
    }
    let (first, second) = (number(at + 1)?, number(at + 3)?);
    let percent_inside = tokens[at + 3].percent().is_some();
    let percent_behind = symbol(at + 5, '%');
    if !percent_inside && !percent_behind {
        return None;
    }
    let (a, b) = if sign < 0.0 { (first.negated(), second.negated()) } else { (first, second) };
    let (low, high) = if a.value <= b.value { (a, b) } else { (b, a) };
    Some((Delta::Interval { low, high }, at + 5 + usize::from(percent_behind)))
}

/// Every delta among the tokens; `bare` also takes percentages without sign or bracket.
pub(crate) fn deltas(tokens: &[Token], from: usize, bare: bool) -> Vec<Delta> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut at = from;
    while at < tokens.len() && found.len() < 16 {
        let spread = at > 0 && tokens[at - 1].kind == Kind::Spread;
        if let (Some((one, next)), false) = (delta(tokens, at), spread) {
            let signed = !matches!(one, Delta::Percent { change } if change.sign.is_none());
            if signed || bare || depth > 0 || tokens[at].is_symbol('(') {
                found.push(one);
            }
            at = next;
            continue;
        }
        if tokens[at].is_symbol('(') {
            depth += 1;
        } else if tokens[at].is_symbol(')') {
            depth = depth.saturating_sub(1);
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::token::tokens;

    fn read(text: &str) -> Option<Quantity> {
        quantity(text, &tokens(text), 0)
    }

    #[test]
    fn values_take_units_scales_and_spreads() {
        let plain = read("1000.5 MiB/s ± 3%").expect("a value");
        assert_eq!((plain.value.value, plain.unit.as_deref()), (1000.5, Some("MiB/s")));
        assert!(plain.deviation.is_some_and(|d| d.relative && d.value.value == 3.0));
        assert_eq!(
            read("12.5k IOPS").map(|q| (q.value.value, q.unit)),
            Some((12_500.0, Some("IOPS".into())))
        );
        assert_eq!(read("4849.0 per sec").and_then(|q| q.unit).as_deref(), Some("per sec"));
        assert_eq!(read("12.3 k apples").map(|q| q.value.value), Some(12.3));
        assert_eq!(read("0m12.5s").map(|q| (q.value.value, q.unit)), Some((12.5, Some("s".into()))));
    }

    #[test]
    fn deltas_of_every_shape() {
        let shapes = |text: &str| {
            let tokens = tokens(text);
            deltas(&tokens, 0, false)
                .into_iter()
                .map(|d| match d {
                    Delta::Percent { change } => format!("{}", change.value),
                    Delta::Interval { low, high } => format!("{}..{}", low.value, high.value),
                    other => format!("{other:?}"),
                })
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(shapes("(+5.0%, +3.0%)"), "5 3");
        assert_eq!(shapes("100 ± 3% (+1.8%) 7%"), "1.8");
        assert_eq!(shapes("+[4, 6]% -[4, 6]% [6%, 8%]"), "4..6 -6..-4 6..8");
        assert_eq!(shapes("(2.3%) [1, 2]"), "2.3");
    }

    proptest::proptest! {
        #[test]
        fn any_tokens_read(text in "([-+(\\[,\\]%)±x ]|[0-9]{1,3}|\\PC){0,40}") {
            let tokens = tokens(&text);
            for at in 0..tokens.len() {
                quantity(&text, &tokens, at);
                delta(&tokens, at);
            }
            deltas(&tokens, 0, true);
        }
    }
}
