//! schbench: percentiles of latencies with the samples behind each, and rates.

use crate::patch::claim::Format;
use crate::patch::lines::Line;

use super::finding::NamedValue;
use super::tool::Tool;

pub(super) const BLOCK: Tool = Tool { opens, line };

fn opens(line: &Line<'_>) -> bool {
    let lower = line.text.trim_start().to_lowercase();
    (lower.contains("latenc") || lower.starts_with("rps")) && lower.contains("percentiles")
}

fn line(line: &Line<'_>, found: &mut Vec<NamedValue>) -> bool {
    let text = line.text.trim().trim_start_matches(['*', ' ', '\t']);
    if opens(line) || text.starts_with("min=") {
        return true;
    }
    let percentile = text.split_once("th:").filter(|(rank, _)| rank.parse::<f64>().is_ok());
    if let Some((rank, _)) = percentile {
        let value = line.tokens.iter().skip_while(|t| !t.is_symbol(':')).find_map(|t| t.number());
        let unit = if found.iter().any(|v| v.unit.is_none()) { None } else { Some("us") };
        found.extend(
            value.map(|v| NamedValue::new(&format!("p{} latency", short(rank)), unit, v, Format::Label)),
        );
        return value.is_some();
    }
    if text.starts_with("average rps:") {
        let value = line.tokens.last().and_then(|t| t.number());
        found.extend(value.map(|v| NamedValue::new("average", Some("rps"), v, Format::Label)));
        return value.is_some();
    }
    false
}

/// `99.0` is the 99th, `99.9` stays.
fn short(rank: &str) -> &str {
    rank.strip_suffix(".0").unwrap_or(rank)
}
