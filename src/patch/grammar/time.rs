//! Elapsed times: the shell's `time`, GNU time, and lines of seconds.

use crate::patch::claim::Format;
use crate::patch::lines::Line;
use crate::patch::printed::Printed;
use crate::patch::token::{Kind, Token};

use super::finding::NamedValue;

/// Times on one line.
pub(crate) fn values(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let line = lines.first()?;
    let found = gnu_default(line).or_else(|| named(line)).or_else(|| verbose(line))?;
    Some((1, found))
}

/// `real 0m12.337s`, `user 1.20`, `sys: 3.4 s`.
fn named(line: &Line<'_>) -> Option<Vec<NamedValue>> {
    let name = line.tokens.first()?.text(line.text);
    let known = ["real", "user", "sys", "elapsed", "Elapsed"].iter().find(|n| **n == name)?;
    let skip = 1 + usize::from(line.tokens.get(1)?.is_symbol(':') || line.tokens.get(1)?.is_symbol('='));
    let token = line.tokens.get(skip)?;
    let seconds = seconds_of(token)?;
    // Anything but a unit behind it makes this a sentence or a table row.
    let rest = &line.tokens[skip + 1..];
    let unit = rest.iter().all(|t| matches!(t.text(line.text), "s" | "sec" | "secs" | "seconds"));
    (rest.len() <= 1 && unit).then(|| vec![value(known, seconds)])
}

/// `Elapsed (wall clock) time (h:mm:ss or m:ss): 39:42.90`.
fn verbose(line: &Line<'_>) -> Option<Vec<NamedValue>> {
    let names = [
        ("Elapsed (wall clock) time", "real"),
        ("User time (seconds)", "user"),
        ("System time (seconds)", "sys"),
    ];
    let trimmed = line.text.trim_start();
    let (_, name) = names.iter().find(|(start, _)| trimmed.starts_with(start))?;
    let seconds = seconds_of(line.tokens.last()?)?;
    Some(vec![value(name, seconds)])
}

/// `12.34user 5.6system 0:10.20elapsed 176%CPU`.
fn gnu_default(line: &Line<'_>) -> Option<Vec<NamedValue>> {
    let word = line.text.trim_start();
    if !word.contains("user ") || !word.contains("elapsed") || word.len() > 200 {
        return None;
    }
    let mut found = Vec::new();
    for part in word.split_whitespace() {
        for (suffix, name) in [("user", "user"), ("system", "sys"), ("elapsed", "real")] {
            let Some(number) = part.strip_suffix(suffix) else { continue };
            let (minutes, seconds) = number.split_once(':').unwrap_or(("0", number));
            let seconds = Printed::parse(seconds)?.plus(60.0 * minutes.parse::<f64>().ok()?);
            found.push(value(name, seconds));
        }
    }
    (!found.is_empty()).then_some(found)
}

fn seconds_of(token: &Token) -> Option<Printed> {
    match token.kind {
        Kind::Seconds(seconds) | Kind::Clock(seconds) | Kind::Number(seconds) => Some(seconds),
        _ => None,
    }
}

fn value(name: &str, seconds: Printed) -> NamedValue {
    NamedValue::new(name, Some("s"), seconds, Format::Time)
}
