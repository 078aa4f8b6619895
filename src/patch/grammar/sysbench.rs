//! sysbench: its report, and its lines quoted alone, such as
//! `transactions: 145470 (4849.00 per sec.)`.

use crate::patch::claim::Format;
use crate::patch::lines::Line;
use crate::patch::token::Kind;

use super::finding::NamedValue;
use super::tool::Tool;

/// The report from `SQL statistics:` or `Running the test` on.
pub(super) const BLOCK: Tool = Tool { opens, line };

/// A line of its own.
pub(crate) fn values(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    rate(lines.first()?).map(|found| (1, vec![found]))
}

/// The rate in brackets; the count in front depends on the run's length.
fn rate(line: &Line<'_>) -> Option<NamedValue> {
    let name = line.tokens.first()?.text(line.text);
    if !["transactions", "queries", "events", "total", "Total"].contains(&name) {
        return None;
    }
    let word = |i: usize| line.tokens.get(i).map_or("", |t| t.text(line.text));
    let per = (2..line.tokens.len()).find(|at| {
        let second = word(*at + 1).starts_with("sec") && word(*at) == "per";
        line.tokens[*at].kind == Kind::Word && (second || word(*at) == "per second")
    })?;
    let rate = line.tokens[per - 1].number()?;
    let name = if name.eq_ignore_ascii_case("total") { "operations" } else { name };
    Some(NamedValue::new(name, Some("per sec"), rate, Format::Sysbench))
}

fn opens(line: &Line<'_>) -> bool {
    let text = line.text.trim();
    ["SQL statistics:", "General statistics:", "CPU speed:", "Threads started!"].contains(&text)
        || text.starts_with("sysbench 1.")
        || text.starts_with("Running the test with following options")
}

fn line(line: &Line<'_>, found: &mut Vec<NamedValue>) -> bool {
    const CHATTER: &[&str] = &[
        "sysbench 1.",
        "Running the test",
        "Number of threads",
        "Initializing",
        "Threads started",
        "SQL statistics",
        "General statistics",
        "queries performed",
        "read:",
        "write:",
        "other:",
        "total:",
        "total time",
        "total number of events",
        "ignored errors",
        "reconnects",
        "Latency (ms)",
        "min:",
        "max:",
        "sum:",
        "Threads fairness",
        "events (avg/stddev)",
        "execution time (avg/stddev)",
        "CPU speed",
        "Throughput:",
        "time elapsed",
        "Report intermediate",
    ];
    let text = line.text.trim_start();
    if let Some(rate) = rate(line) {
        // A rate of zero errors is no result.
        if rate.value.value > 0.0 {
            found.push(rate);
        }
        return true;
    }
    let last = line.tokens.last().and_then(|t| t.number());
    let named = [("avg:", "avg latency", "ms"), ("95th percentile:", "p95 latency", "ms")];
    for (start, name, unit) in named {
        if let (true, Some(value)) = (text.starts_with(start), last) {
            found.push(NamedValue::new(name, Some(unit), value, Format::Sysbench));
            return true;
        }
    }
    if let (true, Some(value)) = (text.starts_with("events per second:"), last) {
        found.push(NamedValue::new("events", Some("per sec"), value, Format::Sysbench));
        return true;
    }
    CHATTER.iter().any(|start| text.starts_with(start))
}
