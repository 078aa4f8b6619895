//! Tables with a row for each kernel and a column for each metric:
//! ```text
//! nr_cgroups   kernel    ops/s
//! 16           base      812402
//! 16           patched   845120
//! ```

use crate::patch::claim::{Delta, Format, Measured};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::token::Kind;

use super::finding::{Finding, Match};
use super::quantity::{self, Quantity};
use super::role::{self, Role};

/// Rows such a table may have.
const ROWS: usize = 400;

/// A row: what stands left of the kernel, the kernel, and the values.
struct Row {
    condition: String,
    role: Role,
    label: String,
    values: Vec<Quantity>,
    deltas: Vec<Delta>,
}

/// Recognises a heading of metrics above rows that each open with a kernel.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let columns = heading(lines.first()?)?;
    let mut findings = Vec::new();
    let mut befores: Vec<Row> = Vec::new();
    let mut taken = 0;
    for (index, line) in lines.iter().enumerate().take(ROWS).skip(1) {
        if super::columns::is_rule(line) {
            continue;
        }
        let Some(row) = row(line).filter(|row| (1..=columns.len()).contains(&row.values.len())) else {
            break;
        };
        match row.role {
            Role::After => {
                let before = befores
                    .iter()
                    .rev()
                    .find(|b| b.condition == row.condition && b.values.len() == row.values.len());
                findings.extend(before.iter().flat_map(|before| claims(&columns, before, &row, index)));
            }
            _ if befores.len() < 64 => befores.push(row),
            _ => break,
        }
        taken = index + 1;
    }
    (!findings.is_empty()).then_some(Match { lines: taken, findings })
}

/// Names of columns: words parted by two spaces, tabs or bars, no kernel among them.
fn heading(line: &Line<'_>) -> Option<Vec<String>> {
    let numbers = line.tokens.iter().any(|t| t.number().is_some());
    if numbers || line.tokens.len() < 2 || line.tokens.len() > 40 {
        return None;
    }
    let text = line.text.trim().trim_matches('|');
    let cells: Vec<String> = if text.contains('|') {
        text.split('|').map(|c| c.trim().to_owned()).collect()
    } else {
        text.replace('\t', "  ").split("  ").map(|c| c.trim().to_owned()).filter(|c| !c.is_empty()).collect()
    };
    let kernels = cells.iter().filter(|c| role::role_of(c) != Role::Other).count();
    let named = cells.iter().filter(|c| c.starts_with(|c: char| c.is_alphabetic())).count();
    (cells.len() >= 2 && named >= 2 && kernels == 0 && !text.ends_with(['.', ':'])).then_some(cells)
}

/// `16  base  812402  12.4`; the kernel is one of the first three words.
fn row(line: &Line<'_>) -> Option<Row> {
    let tokens: Vec<_> = line.tokens.iter().filter(|t| !t.is_symbol('|')).copied().collect();
    let kernel = (0..tokens.len().min(3)).find(|at| {
        tokens[*at].kind == Kind::Word && role::role_of(tokens[*at].text(line.text)) != Role::Other
    })?;
    let condition = if kernel == 0 { "" } else { &line.text[tokens[0].start..tokens[kernel - 1].end] };
    let first = (kernel + 1..tokens.len().min(kernel + 4)).find(|at| tokens[*at].kind != Kind::Word)?;
    let mut row = Row {
        condition: condition.to_owned(),
        role: role::role_of(tokens[kernel].text(line.text)),
        label: line.text[tokens[kernel].start..tokens[first - 1].end].to_owned(),
        values: Vec::new(),
        deltas: Vec::new(),
    };
    let mut at = first;
    while at < tokens.len() {
        if let Some((delta, next)) = quantity::delta(&tokens, at).filter(|_| !row.values.is_empty()) {
            row.deltas.resize(row.values.len() - 1, Delta::Missing);
            row.deltas.push(delta);
            at = next;
        } else {
            let value = quantity::quantity(line.text, &tokens, at)?;
            at = value.next;
            row.values.push(value);
        }
    }
    Some(row)
}

fn claims(columns: &[String], before: &Row, after: &Row, index: usize) -> Vec<Finding> {
    // The last columns are the values'.
    let names = &columns[columns.len() - after.values.len()..];
    let side = |row: &Row, at: usize| Measured {
        label: row.label.clone(),
        value: row.values[at].value,
        deviation: row.values[at].deviation,
    };
    let claim = |at: usize| {
        let column = names[at].as_str();
        let whole = || metric_name::is_unit(column).then(|| column.to_owned());
        let unit = after.values[at].unit.clone().or_else(|| metric_name::unit_in(column)).or_else(whole);
        let numbered = after.condition.starts_with(|c: char| c.is_ascii_digit());
        let of = if numbered { columns[0].as_str() } else { "" };
        let name = [of, after.condition.as_str(), column].join(" ");
        let delta = after.deltas.get(at).cloned().unwrap_or(Delta::Missing);
        let metric = metric_name::metric(name.trim(), unit.as_deref());
        let mut finding = Finding::new(Format::Columns, metric, delta)
            .with_values(side(before, at), side(after, at))
            .at(0, index);
        finding.scope = role::scope(&after.label);
        finding.baseline = role::baseline(&before.label);
        finding
    };
    (0..after.values.len()).map(claim).collect()
}
