//! fio's human output: `bw (MiB/s): min=…, avg=…` blocks and run-status lines.
//! Their `stdev` is over samples within one run.

use crate::patch::claim::{Deviation, DeviationKind, Format};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::printed::Printed;
use crate::patch::token::{Kind, Token};

use super::finding::NamedValue;

/// One `key=value` with the unit behind the value.
struct Pair {
    key: String,
    value: Printed,
    unit: Option<String>,
}

/// Values of an fio line and the lines it wraps over.
pub(crate) fn values(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let terse = || lines.first().and_then(terse).map(|found| (1, found));
    statistics(lines).or_else(|| status(lines)).or_else(terse)
}

/// Version 3 of `fio --minimal`: totals, KiB/s, IOPS at fixed places between semicolons.
fn terse(line: &Line<'_>) -> Option<Vec<NamedValue>> {
    let rest = line.text.trim_start().strip_prefix("3;fio-")?;
    let fields: Vec<&str> = rest.split(';').take(130).collect();
    let mut found = Vec::new();
    for (name, bandwidth) in [("read", 5), ("write", 46)] {
        for (what, at, unit) in [("bw", bandwidth, "KiB/s"), ("iops", bandwidth + 1, "IOPS")] {
            let value = fields.get(at).and_then(|field| Printed::parse(field))?;
            if value.value > 0.0 {
                found.push(NamedValue::new(&format!("{name} {what}"), Some(unit), value, Format::Fio));
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// `bw (  MiB/s): min=  500, max=  700, avg=612.34, stdev= 1.90, samples=960`.
fn statistics(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let line = lines.first()?;
    let name = line.tokens.first()?.text(line.text);
    if !["bw", "iops", "clat", "slat", "lat"].contains(&name) {
        return None;
    }
    let colon = line.tokens.iter().take(8).position(|t| t.is_symbol(':'))?;
    let unit: String = line.tokens[1..colon]
        .iter()
        .filter(|t| t.kind == Kind::Word)
        .map(|t| t.text(line.text))
        .collect::<Vec<_>>()
        .join(" ");
    let unit = match (name, unit.as_str()) {
        ("iops", _) => Some("IOPS"),
        (_, "") => None,
        (_, unit) => Some(unit),
    };
    let (taken, pairs) = pairs(lines, colon + 1);
    let find = |key: &str| pairs.iter().find(|pair| pair.key == key).map(|pair| pair.value);
    let mut value = NamedValue::new(name, unit, find("avg")?, Format::Fio);
    value.deviation = find("stdev").map(|stdev| Deviation {
        value: stdev,
        relative: false,
        kind: DeviationKind::WithinRun,
        samples: find("samples").map(|s| s.value as u64),
    });
    Some((taken, vec![value]))
}

/// `READ: bw=500MiB/s (524MB/s), …` and `read: IOPS=128k, BW=500MiB/s (…)`.
fn status(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let line = lines.first()?;
    let name = line.tokens.first()?.text(line.text);
    let direction = ["read", "write", "trim"].iter().find(|d| name.eq_ignore_ascii_case(d))?;
    if !line.tokens.get(1)?.is_symbol(':') {
        return None;
    }
    let (taken, pairs) = pairs(lines, 2);
    let mut found = Vec::new();
    for pair in &pairs {
        let unit = match pair.key.to_ascii_lowercase().as_str() {
            "iops" => Some("IOPS"),
            "bw" => pair.unit.as_deref(),
            _ => continue,
        };
        let name = format!("{direction} {}", pair.key.to_ascii_lowercase());
        found.push(NamedValue::new(&name, unit, pair.value, Format::Fio));
    }
    (!found.is_empty()).then_some((taken, found))
}

/// `key=value` pairs from a token on; a line that ends in a comma, or has too
/// few pairs, goes on on the next.
fn pairs(lines: &[Line<'_>], from: usize) -> (usize, Vec<Pair>) {
    let mut found = Vec::new();
    let mut taken = 0;
    for (index, line) in lines.iter().take(4).enumerate() {
        let start = if index == 0 { from } else { 0 };
        if index > 0 && !continues(line) {
            break;
        }
        line_pairs(line, start, &mut found);
        taken = index + 1;
        if !line.text.trim_end().ends_with([',', '=']) && !next_continues(lines, index) {
            break;
        }
    }
    (taken, found)
}

/// Whether a line is the rest of a wrapped one: it opens with `key=` and is no new block.
fn continues(line: &Line<'_>) -> bool {
    let Some(first) = line.tokens.first() else { return false };
    let name = first.text(line.text);
    let block = ["bw", "iops", "clat", "slat", "lat"].contains(&name)
        && line.tokens.get(1).is_some_and(|t| t.is_symbol('(') || t.is_symbol(':'));
    let pair = line.tokens.get(1).is_some_and(|t| t.is_symbol('='));
    !block && (pair || first.number().is_some() || first.is_symbol('('))
}

fn next_continues(lines: &[Line<'_>], index: usize) -> bool {
    lines.get(index + 1).is_some_and(|line| {
        let pair = line.tokens.get(1).is_some_and(|t| t.is_symbol('='));
        pair && continues(line)
    })
}

fn line_pairs(line: &Line<'_>, from: usize, found: &mut Vec<Pair>) {
    let tokens = &line.tokens;
    for at in from..tokens.len() {
        if !tokens[at].is_symbol('=') || at == 0 || found.len() > 40 {
            continue;
        }
        let Some((value, behind)) = scaled(line.text, tokens, at + 1) else { continue };
        let unit = tokens.get(behind).filter(|t| {
            let glued = t.start == tokens[behind - 1].end;
            t.kind == Kind::Word && (glued || metric_name::is_unit(t.text(line.text)))
        });
        found.push(Pair {
            key: tokens[at - 1].text(line.text).to_owned(),
            value,
            unit: unit.map(|t| t.text(line.text).to_owned()),
        });
    }
}

/// A number; `128k` is scaled.
fn scaled(text: &str, tokens: &[Token], at: usize) -> Option<(Printed, usize)> {
    let value = tokens.get(at)?.number()?;
    let suffix = tokens.get(at + 1).filter(|t| t.kind == Kind::Word && t.start == tokens[at].end);
    match suffix.map(|t| t.text(text)) {
        Some("k" | "K") => Some((value.scaled(1e3), at + 2)),
        Some("M") => Some((value.scaled(1e6), at + 2)),
        _ => Some((value, at + 1)),
    }
}
