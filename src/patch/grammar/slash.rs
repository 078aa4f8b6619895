//! Tables whose cells hold several values: `48 / 768M / 7G | 1100 / 580 / -47.3%`.

use crate::patch::claim::{Baseline, Delta, Format, Measured, Reading};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::printed::Printed;
use crate::patch::token::{Kind, Token};

use super::finding::{BARREN, Finding, Match};
use super::quantity;
use super::role::{self, Role};

/// Where the sides stand inside a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Places {
    before: usize,
    after: usize,
}

/// Column names and places of one heading.
struct Heading {
    names: Vec<String>,
    /// Units in brackets, for columns that have one.
    units: Vec<Option<String>>,
    places: Vec<Option<Places>>,
    lines: usize,
}

/// Recognises a heading of slash cells and its rows, or rows without a heading.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    if !lines.first()?.text.contains('|') {
        return None;
    }
    let heading = heading(lines);
    let skip = heading.as_ref().map_or(0, |h| h.lines);
    let mut findings = Vec::new();
    let mut group = String::new();
    let (mut taken, mut misses) = (0, 0);
    for (index, line) in lines.iter().enumerate().take(1000).skip(skip) {
        let cells = cells(line);
        let rows = row_claims(&cells, heading.as_ref(), &group, line);
        if !rows.is_empty() {
            findings.extend(rows.into_iter().map(|f| f.at(index, index)));
            taken = index + 1;
            misses = 0;
        } else if heading.is_none() && index == 0 {
            // Without a heading the first line itself must be a row.
            return None;
        } else if line.text.trim().ends_with(':') && line.text.len() < 80 {
            group = line.text.trim().trim_end_matches(':').to_owned();
        } else if !line.text.trim().is_empty() {
            misses += 1;
        } else if heading.is_none() {
            break;
        }
        if misses > 1 || (findings.is_empty() && index > BARREN / 3) {
            break;
        }
    }
    (!findings.is_empty()).then_some(Match { lines: taken, findings })
}

/// A heading whose cells name both sides; the line above may name the metrics.
fn heading(lines: &[Line<'_>]) -> Option<Heading> {
    for (index, line) in lines.iter().enumerate().take(3) {
        let cells: Vec<&str> = line.text.split('|').collect();
        let places: Vec<Option<Places>> = cells.iter().map(|cell| places(cell)).collect();
        if !places.iter().any(Option::is_some) {
            if !line.text.contains('|') {
                return None;
            }
            continue;
        }
        let above: Vec<&str> = match index.checked_sub(1).map(|i| lines[i].text) {
            Some(text) if text.split('|').count() == cells.len() => text.split('|').collect(),
            _ => Vec::new(),
        };
        let name = |at: usize| {
            let inside = cells[at].split('(').next().unwrap_or("").trim();
            let own = if places[at].is_some() && !inside.contains('/') { inside } else { "" };
            let over = above.get(at).map_or("", |a| a.trim());
            if own.is_empty() { over.to_owned() } else { own.to_owned() }
        };
        let names = (0..cells.len()).map(name).collect();
        let units = cells.iter().map(|cell| bracketed_unit(cell)).collect();
        return Some(Heading { names, units, places, lines: index + 1 });
    }
    None
}

/// The unit in `Before / After (s) / Delta`.
fn bracketed_unit(cell: &str) -> Option<String> {
    cell.split('(').skip(1).take(4).find_map(|part| {
        let inner = part.split(')').next()?.trim();
        metric_name::is_unit(inner).then(|| inner.to_owned())
    })
}

/// `(Before / After / Delta)`.
fn places(cell: &str) -> Option<Places> {
    let inner = match cell.trim().split_once('(') {
        Some((_, inside))
            if inside.contains(" / ") && !cell.trim_start().starts_with(char::is_alphabetic) =>
        {
            inside
        }
        Some((_, inside)) if inside.trim_end().ends_with(')') && inside.matches('/').count() > 1 => inside,
        _ => cell,
    };
    let inner = inner.trim().trim_end_matches(')');
    let parts: Vec<&str> = inner.split('/').map(str::trim).collect();
    if parts.len() < 2 || parts.len() > 6 {
        return None;
    }
    let find = |role: Role| parts.iter().position(|p| p.split(' ').any(|w| role::role_of(w) == role));
    Some(Places { before: find(Role::Before)?, after: find(Role::After)? })
}

/// The tokens of a line between its bars, parted by slashes.
fn cells<'a>(line: &'a Line<'_>) -> Vec<Vec<&'a [Token]>> {
    if line.tokens.len() > 200 {
        return Vec::new();
    }
    let bars = line.tokens.split(|t| t.is_symbol('|'));
    bars.map(|cell| cell.split(|t| t.is_symbol('/')).collect()).collect()
}

fn row_claims(
    cells: &[Vec<&[Token]>],
    heading: Option<&Heading>,
    group: &str,
    line: &Line<'_>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let condition = cells.first().and_then(|cell| {
        let (first, last) =
            (cell.iter().flat_map(|p| p.iter()).next()?, cell.iter().flat_map(|p| p.iter()).last()?);
        Some(line.text[first.start..last.end].to_owned())
    });
    for (at, cell) in cells.iter().enumerate() {
        let place = heading.and_then(|h| h.places.get(at).copied().flatten());
        if cell.len() < 2 || cell.len() > 6 || (heading.is_some() && place.is_none()) {
            continue;
        }
        let name = heading.and_then(|h| h.names.get(at)).map_or("", String::as_str);
        let context: Vec<&str> = [group, condition.as_deref().filter(|_| at > 0).unwrap_or(""), name]
            .into_iter()
            .filter(|t| !t.is_empty())
            .collect();
        if let Some(mut finding) = cell_claim(cell, place, &context.join(" | "), line) {
            let stated = heading.and_then(|h| h.units.get(at).cloned().flatten());
            if let (None, Some(unit)) = (&finding.metric.unit, stated) {
                finding.metric = metric_name::metric(&finding.metric.name, Some(&unit));
            }
            found.push(finding);
        }
    }
    found
}

/// The claim of one cell. Without a heading the change must fit the two values.
fn cell_claim(cell: &[&[Token]], place: Option<Places>, name: &str, line: &Line<'_>) -> Option<Finding> {
    let values: Vec<(Printed, Option<String>)> = cell
        .iter()
        .map_while(|part| {
            quantity::quantity(line.text, part, 0)
                .filter(|_| part.first().is_some_and(|t| t.percent().is_none()))
                .map(|q| (q.value, q.unit))
        })
        .collect();
    let delta = cell.iter().flat_map(|part| quantity::deltas(part, 0, true)).next();
    let delta = delta.or_else(|| signed_number(cell)).unwrap_or(Delta::Missing);
    let guessed = place.unwrap_or(Places { before: 0, after: 1 });
    let (before, unit) = values.get(guessed.before)?.clone();
    let (after, after_unit) = values.get(guessed.after)?.clone();
    let unit = after_unit.or(unit).or_else(|| metric_name::unit_in(name));
    let side = |label: &str, value: Printed| Measured { label: label.to_owned(), value, deviation: None };
    let metric = metric_name::metric(name, unit.as_deref());
    let mut finding = Finding::new(Format::SlashCells, metric, delta.clone())
        .with_values(side("before", before), side("after", after));
    if place.is_none() {
        let Delta::Percent { change } = delta else { return None };
        let fits = |a: f64, b: f64| (100.0 * (b / a - 1.0) - change.value).abs() <= 0.15 + change.half_step;
        let (forward, backward) = (fits(before.value, after.value), fits(after.value, before.value));
        if !forward && !backward {
            return None;
        }
        finding.readings = vec![
            Reading {
                meaning: "before, then after, by position".to_owned(),
                baseline: Baseline::Unstated,
                before: finding.before.clone(),
                after: finding.after.clone(),
            },
            Reading {
                meaning: "after, then before, by position".to_owned(),
                baseline: Baseline::Unstated,
                before: finding.after.clone(),
                after: finding.before.clone(),
            },
        ];
        finding.readings.retain(|r| if r.meaning.starts_with("before") { forward } else { backward });
        if let ([only], false) = (finding.readings.as_slice(), forward) {
            (finding.before, finding.after) = (only.before.clone(), only.after.clone());
        }
        if finding.readings.len() == 1 {
            finding.readings.clear();
        }
    }
    Some(finding)
}

fn signed_number(cell: &[&[Token]]) -> Option<Delta> {
    let token = cell.get(2)?.first()?;
    match token.kind {
        Kind::Number(change) if change.sign.is_some() => Some(Delta::Difference { change }),
        _ => None,
    }
}
