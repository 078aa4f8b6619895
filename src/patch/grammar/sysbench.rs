//! sysbench's own lines: `transactions: 145470 (4849.00 per sec.)` and latencies.

use crate::patch::claim::Format;
use crate::patch::lines::Line;
use crate::patch::token::Kind;

use super::finding::NamedValue;

/// The rate in brackets; the count in front depends on the run's length.
pub(crate) fn values(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let line = lines.first()?;
    let name = line.tokens.first()?.text(line.text);
    if !["transactions", "queries", "events", "total"].contains(&name) {
        return None;
    }
    let per = (2..line.tokens.len()).find(|at| {
        let word = |i: usize| line.tokens.get(i).map_or("", |t| t.text(line.text));
        line.tokens[*at].kind == Kind::Word && word(*at) == "per" && word(*at + 1).starts_with("sec")
    })?;
    let rate = line.tokens[per - 1].number()?;
    Some((1, vec![NamedValue::new(name, Some("per sec"), rate, Format::Sysbench)]))
}
