//! Tables with a column per kernel: `Before After Change` above rows of a name
//! and its values, as plain columns or Markdown, aligned or not.

use crate::patch::claim::{Baseline, Delta, Deviation, Format, Measured};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::metric_name::is_unit;
use crate::patch::printed::Printed;
use crate::patch::token::Kind;

use super::finding::{BARREN, Finding, Match};
use super::quantity;
use super::role::{self, Role};

/// Rows a table may have.
const ROWS: usize = 2000;

/// A column heading.
struct Column {
    label: String,
    role: Role,
    /// A unit in brackets behind it.
    unit: Option<String>,
}

/// A heading: what the rows are named by, and the columns of values.
struct Header {
    rows: String,
    columns: Vec<Column>,
}

/// A value in a row.
struct Cell {
    value: Printed,
    unit: Option<String>,
    deviation: Option<Deviation>,
}

/// A row: its name, values and printed changes in order.
struct Row {
    name: String,
    cells: Vec<Cell>,
    deltas: Vec<Delta>,
}

/// Recognises a table whose heading names both sides.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let header = header(lines.first()?)?;
    let columns = &header.columns;
    let base = columns.iter().position(|c| c.role == Role::Before).unwrap_or(0);
    let mut findings = Vec::new();
    let mut group = String::new();
    let barred = lines[0].text.contains('|');
    let (mut taken, mut misses) = (1, 0);
    for (index, line) in lines.iter().enumerate().take(ROWS).skip(1) {
        let other = barred != line.text.contains('|') && !line.is_blank() && !is_rule(line);
        if other || starts_label(line) {
            break;
        }
        if is_rule(line) || line.is_blank() {
            misses += usize::from(line.is_blank());
        } else if let Some(row) = row(line).and_then(|row| fitted(row, columns.len(), line)) {
            claims(&header, base, &row, &group, index, &mut findings);
            taken = index + 1;
            misses = 0;
        } else if let Some(title) = sub_heading(line) {
            group = title;
        } else {
            misses += 2;
        }
        if misses > 2 || (findings.is_empty() && index > BARREN) {
            break;
        }
    }
    (!findings.is_empty()).then_some(Match { lines: taken, findings })
}

/// A line such as `Before: 100 s` belongs to the label family.
fn starts_label(line: &Line<'_>) -> bool {
    role::heading(line, 0).is_some_and(|heading| heading.role != Role::Other)
}

/// The columns of a heading line without numbers.
fn header(line: &Line<'_>) -> Option<Header> {
    let tokens = &line.tokens;
    if tokens.len() > 24 || line.text.trim_end().ends_with(['.', ',']) {
        return None;
    }
    let mut columns: Vec<Column> = Vec::new();
    let mut open = false;
    let mut start = line.text.len();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.text(line.text);
        let bracketed = at > 0 && tokens[at - 1].is_symbol('(');
        match token.kind {
            Kind::Word if role::is_change(word) => open = false,
            Kind::Word if bracketed && is_unit(word) => {
                if let Some(last) = columns.last_mut() {
                    last.unit = Some(word.to_owned());
                }
            }
            Kind::Word => {
                let role = role::role_of(word);
                let qualifies =
                    columns.last().is_some_and(|c| open && (c.role == role || role == Role::Other));
                match columns.last_mut() {
                    Some(last) if qualifies && gap(line, last, token.start) < 2 => {
                        last.label.push(' ');
                        last.label.push_str(word);
                    }
                    _ if role != Role::Other => {
                        start = start.min(token.start);
                        columns.push(Column { label: word.to_owned(), role, unit: None });
                        open = true;
                    }
                    _ => {}
                }
            }
            Kind::Symbol('|') => open = false,
            Kind::Symbol('(' | ')' | ':' | '%' | '/' | '-' | '+' | ',' | '*' | '`') => {}
            _ => return None,
        }
    }
    let sides = |role: Role| columns.iter().any(|c| c.role == role);
    let both = sides(Role::Before) && sides(Role::After);
    let rows = line.text[..start].trim_matches(|c: char| c.is_whitespace() || matches!(c, '|' | ':' | '*'));
    (both && columns.len() <= 8).then(|| Header { rows: rows.chars().take(40).collect(), columns })
}

/// Spaces between a column's label and a word.
fn gap(line: &Line<'_>, column: &Column, start: usize) -> usize {
    let last = column.label.rsplit(' ').next().unwrap_or("");
    let before = line.text[..start].trim_end();
    if before.ends_with(last) { start - before.len() } else { 9 }
}

/// A row with one value too many has a number, such as a size, for its name.
fn fitted(mut row: Row, columns: usize, line: &Line<'_>) -> Option<Row> {
    if row.cells.len() == columns + 1 && row.name.is_empty() {
        row.cells.remove(0);
        row.name = line.text.trim().trim_start_matches(['|', ' ']).split([' ', '\t', '|']).next()?.to_owned();
    }
    (2..=columns).contains(&row.cells.len()).then_some(row)
}

pub(super) fn is_rule(line: &Line<'_>) -> bool {
    let text = line.text.trim();
    !text.is_empty() && text.bytes().all(|b| matches!(b, b'-' | b'=' | b'|' | b'+' | b':' | b' ' | b'_'))
}

/// A line of words that heads the rows below it.
fn sub_heading(line: &Line<'_>) -> Option<String> {
    let text = line.text.trim().trim_matches('|').trim();
    let plain = text.len() < 80 && line.tokens.iter().all(|t| t.number().is_none());
    (plain && text.ends_with(':')).then(|| text.trim_end_matches(':').to_owned())
}

/// `name value value (delta)`, with `|` between cells or not.
fn row(line: &Line<'_>) -> Option<Row> {
    let tokens = &line.tokens;
    if tokens.len() < 3 || tokens.len() > 60 {
        return None;
    }
    let first = first_value(line)?;
    let name =
        line.text[..tokens[first].start].trim().trim_matches(|c: char| c == '|' || c == ':' || c == ' ');
    let name = name.split('|').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let mut row = Row { name, cells: Vec::new(), deltas: Vec::new() };
    let mut at = first;
    while at < tokens.len() {
        if row.cells.len() >= 2
            && let Some((delta, next)) = quantity::delta(tokens, at)
        {
            row.deltas.push(delta);
            at = next;
            continue;
        }
        if let Some(read) = quantity::quantity(line.text, tokens, at) {
            row.cells.push(Cell { value: read.value, unit: read.unit, deviation: read.deviation });
            at = read.next;
            continue;
        }
        match tokens[at].kind {
            Kind::Symbol(_) => at += 1,
            Kind::Word if row.cells.len() >= 2 && tokens.len() - at <= 4 => at += 1,
            _ => return None,
        }
    }
    (row.name.len() <= 100).then_some(row)
}

/// The first of the trailing run of values: a number in the name is left of a word.
fn first_value(line: &Line<'_>) -> Option<usize> {
    let tokens = &line.tokens;
    let valued = |i: usize| matches!(tokens[i].kind, Kind::Number(_) | Kind::Seconds(_) | Kind::Percent(_));
    let mut first = None;
    let mut at = 0;
    while at < tokens.len() {
        if valued(at) {
            let read = quantity::quantity(line.text, tokens, at);
            first = first.or(Some(at));
            at = read.map_or(at + 1, |q| q.next);
        } else {
            let trailing = tokens.len() - at <= 3;
            if tokens[at].kind == Kind::Word && !trailing {
                first = None;
            }
            at += 1;
        }
    }
    first
}

fn claims(header: &Header, base: usize, row: &Row, group: &str, index: usize, out: &mut Vec<Finding>) {
    let columns = &header.columns;
    // A number such as a size means nothing without its column's name.
    let numbered = row.name.starts_with(|c: char| c.is_ascii_digit()) && !header.rows.is_empty();
    let plain = if numbered { format!("{} {}", header.rows, row.name) } else { row.name.clone() };
    let name = if group.is_empty() { plain } else { format!("{group}: {plain}") };
    let Some(before) = row.cells.get(base) else { return };
    let mut nth = 0;
    for (at, cell) in row.cells.iter().enumerate().filter(|(at, _)| *at != base) {
        let Some(column) = columns.get(at).filter(|c| c.role == Role::After) else { continue };
        let stated = || column.unit.clone().or_else(|| metric_name::unit_in(&name));
        let unit = cell.unit.clone().or_else(|| before.unit.clone()).or_else(stated);
        let unit = unit.as_deref();
        let delta = row.deltas.get(nth).cloned().unwrap_or(Delta::Missing);
        nth += 1;
        let mut finding = Finding::new(Format::Columns, metric_name::metric(&name, unit), delta)
            .with_values(measured(&columns[base].label, before), measured(&column.label, cell))
            .at(index, index);
        finding.scope = role::scope(&column.label);
        finding.baseline = role::baseline(&columns[base].label);
        if finding.baseline == Baseline::Unstated && columns.len() > 2 {
            finding.baseline = Baseline::FirstColumn;
        }
        out.push(finding);
    }
}

fn measured(label: &str, cell: &Cell) -> Measured {
    Measured { label: label.to_owned(), value: cell.value, deviation: cell.deviation }
}

/// A lone row `name a b +c%` without a heading: a claim only when the printed
/// change is the one its two values give.
pub(crate) fn recognise_row(lines: &[Line<'_>]) -> Option<Match> {
    let row = row(lines.first()?)?;
    let [before, after] = row.cells.as_slice() else { return None };
    let [Delta::Percent { change }] = row.deltas.as_slice() else { return None };
    let recomputed = 100.0 * (after.value.value / before.value.value - 1.0);
    let fits = (recomputed.abs() - change.value.abs()).abs() <= 0.15 + change.half_step;
    if !fits || row.name.is_empty() || before.unit != after.unit || before.value.value == 0.0 {
        return None;
    }
    let metric = metric_name::metric(&row.name, after.unit.as_deref());
    let mut finding = Finding::new(Format::Columns, metric, row.deltas[0].clone())
        .with_values(measured("first column", before), measured("second column", after));
    finding.baseline = Baseline::FirstColumn;
    Some(Match { lines: 1, findings: vec![finding] })
}
