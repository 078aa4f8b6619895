//! Rows of memtier_benchmark's table, whose columns are known by position only.

use crate::patch::claim::Format;
use crate::patch::lines::Line;
use crate::patch::printed::Printed;

use super::finding::NamedValue;

/// Column names by the number of values in the row.
const LAYOUTS: &[(usize, &[&str])] = &[
    (5, &["Ops/sec", "Hits/sec", "Misses/sec", "latency ms", "KB/sec"]),
    (8, &["Ops/sec", "Hits/sec", "Misses/sec", "latency ms", "p50 ms", "p99 ms", "p99.9 ms", "KB/sec"]),
    (
        10,
        &[
            "Ops/sec",
            "Hits/sec",
            "Misses/sec",
            "MOVED/sec",
            "ASK/sec",
            "latency ms",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "KB/sec",
        ],
    ),
];

/// `Totals 5000.10 0.00 0.00 5.20 1.10 38.9 59.6 5200.0`.
pub(crate) fn values(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let line = lines.first()?;
    let row = line.tokens.first()?.text(line.text);
    if !["Totals", "Sets", "Gets"].contains(&row) {
        return None;
    }
    let numbers: Vec<Option<Printed>> = line.tokens[1..]
        .iter()
        .filter(|t| t.number().is_some() || t.text(line.text).starts_with("---"))
        .map(|t| t.number())
        .collect();
    if numbers.len() < 3 || numbers.len() + 1 < line.tokens.len() {
        return None;
    }
    let layout = LAYOUTS.iter().find(|(count, _)| *count == numbers.len()).map(|(_, names)| *names);
    let mut found = Vec::new();
    match layout {
        Some(names) => {
            for (name, number) in names.iter().zip(&numbers) {
                let Some(number) = number.filter(|n| n.value > 0.0) else { continue };
                let (title, unit) = name.split_once(' ').map_or(("", *name), |(title, unit)| (title, unit));
                let value = NamedValue::new(&format!("{row} {title}"), Some(unit), number, Format::Memtier);
                found.push(value);
            }
        }
        // Only the first column is the same in every version.
        None => {
            let first = (*numbers.first()?)?;
            let mut value = NamedValue::new(row, Some("Ops/sec"), first, Format::Memtier);
            value.meanings = vec![
                format!("operations per second, the first of {} unnamed columns", numbers.len()),
                "another column of a table whose heading was cut off".to_owned(),
            ];
            found.push(value);
        }
    }
    Some((1, found))
}
