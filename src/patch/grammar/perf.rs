//! `perf bench` and `perf stat`. The deviation that `perf stat -r` prints is of
//! the mean over its runs.

use crate::patch::claim::{Deviation, DeviationKind, Format};
use crate::patch::lines::Line;
use crate::patch::token::Kind;

use super::finding::NamedValue;
use super::quantity;
use super::tool::{Tool, first_word};

pub(super) const BENCH: Tool = Tool { opens: opens_bench, line: bench };
pub(super) const STAT: Tool = Tool { opens: opens_stat, line: stat };

fn opens_bench(line: &Line<'_>) -> bool {
    line.text.trim_start().starts_with("# Running '")
}

/// `Total time: 5.211 [sec]`, `5.211000 usecs/op`, `191901 ops/sec`.
fn bench(line: &Line<'_>, found: &mut Vec<NamedValue>) -> bool {
    let text = line.text.trim_start();
    if text.starts_with('#') {
        return true;
    }
    if text.starts_with("Total time:") {
        let seconds = line.tokens.iter().find_map(|t| t.number());
        found.extend(seconds.map(|s| NamedValue::new("total time", Some("s"), s, Format::Time)));
        return seconds.is_some();
    }
    let value = line.tokens.first().and_then(|t| t.number());
    let unit = text.split_whitespace().nth(1).unwrap_or("");
    let rates = ["usecs/op", "ops/sec", "nsecs/op", "GB/sec", "MB/sec", "msecs/op"];
    match value.filter(|_| rates.contains(&unit) && line.tokens.len() <= 4) {
        Some(value) => {
            found.push(NamedValue::new("", Some(unit), value, Format::Label));
            true
        }
        None => false,
    }
}

fn opens_stat(line: &Line<'_>) -> bool {
    line.text.trim_start().starts_with("Performance counter stats for")
        || counter(line).is_some()
        || elapsed(line).is_some()
}

fn stat(line: &Line<'_>, found: &mut Vec<NamedValue>) -> bool {
    if line.text.trim_start().starts_with("Performance counter stats for") {
        return true;
    }
    let value = counter(line).or_else(|| elapsed(line));
    let belongs = value.is_some();
    found.extend(value);
    belongs || first_word(line) == "<not"
}

/// `41,234,567,890  cycles  # 3.340 GHz  ( +- 0.15% )`.
fn counter(line: &Line<'_>) -> Option<NamedValue> {
    let value = line.tokens.first()?.number().filter(|n| n.sign.is_none())?;
    let hash = line.text.find(" # ");
    let deviation = deviation(line);
    // A number and a word is not enough; perf's remark or its deviation must follow.
    if hash.is_none() && deviation.is_none() {
        return None;
    }
    let head = &line.text
        [line.tokens[0].end..hash.unwrap_or_else(|| line.text.rfind('(').unwrap_or(line.text.len()))];
    let words: Vec<&str> = head.split_whitespace().collect();
    let (unit, name) = match words.as_slice() {
        [unit @ ("msec" | "Joules"), name] => (Some(*unit), *name),
        [name] => (None, *name),
        _ => return None,
    };
    let mut found = NamedValue::new(name, unit, value, Format::Columns);
    found.deviation = deviation;
    Some(found)
}

/// `3.1562 +- 0.0112 seconds time elapsed ( +- 0.35% )`.
fn elapsed(line: &Line<'_>) -> Option<NamedValue> {
    let name = ["time elapsed", "user", "sys"].iter().find(|name| {
        let behind = format!("seconds {name}");
        line.text.contains(&behind)
    })?;
    let value = line.tokens.first()?.number()?;
    let short = line.tokens.len() <= 12;
    let mut found = NamedValue::new(name, Some("s"), value, Format::Time);
    found.deviation = deviation(line);
    short.then_some(found)
}

/// `( +- 0.35% )` at the end of a line.
fn deviation(line: &Line<'_>) -> Option<Deviation> {
    let at = line.tokens.iter().rposition(|t| t.kind == Kind::Spread)?;
    let (found, _) = quantity::spread(&line.tokens, at)?;
    found.relative.then_some(Deviation { kind: DeviationKind::OfTheMean, ..found })
}
