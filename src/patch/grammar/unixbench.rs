//! UnixBench: a rate for each test, and the index score.

use crate::patch::claim::Format;
use crate::patch::lines::Line;

use super::finding::NamedValue;
use super::tool::Tool;

pub(super) const BLOCK: Tool = Tool { opens, line };

const UNITS: &[&str] = &["lps", "lpm", "KBps", "MWIPS"];

fn opens(line: &Line<'_>) -> bool {
    let text = line.text.trim_start();
    text.starts_with("Benchmark Run:") || text.starts_with("System Benchmarks ") || test(line).is_some()
}

fn line(line: &Line<'_>, found: &mut Vec<NamedValue>) -> bool {
    let text = line.text.trim();
    if let Some(value) = test(line) {
        found.push(value);
        return true;
    }
    if text.starts_with("System Benchmarks Index Score") {
        let score = line.tokens.last().and_then(|t| t.number());
        found.extend(score.map(|s| NamedValue::new("index score", None, s, Format::Label)));
        return score.is_some();
    }
    // A row of the index repeats a rate above.
    let indexed = line.tokens.len() > 3 && line.tokens.iter().rev().take(3).all(|t| t.number().is_some());
    text.starts_with("Benchmark Run:")
        || text.starts_with("System Benchmarks ")
        || text.contains("CPUs in system; running")
        || text.bytes().all(|b| b == b'=')
        || (indexed && !found.is_empty())
}

/// `Pipe Throughput  1741000.0 lps   (10.0 s, 7 samples)`.
fn test(line: &Line<'_>) -> Option<NamedValue> {
    let samples = line.text.contains(" samples)");
    let at = line.tokens.iter().position(|t| samples && UNITS.contains(&t.text(line.text)))?;
    let value = line.tokens.get(at.checked_sub(1)?)?;
    let name = line.text.get(..value.start)?.trim();
    let unit = line.tokens[at].text(line.text);
    Some(NamedValue::new(name, Some(unit), value.number()?, Format::Label))
}
