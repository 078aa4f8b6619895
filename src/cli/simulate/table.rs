//! Counters and events of the cases side by side, in text.

use crate::model::counter::{Counter, Counters};
use crate::model::event::Event;
use crate::model::simulation::PhaseOutcome;

use super::case::Simulated;

/// Levels at the end of a run, in bytes.
const LEVELS: [&str; 10] = [
    "anon",
    "file",
    "file_dirty",
    "active_anon",
    "inactive_anon",
    "active_file",
    "inactive_file",
    "unevictable",
    "memory.current",
    "memory.swap.current",
];

/// Least width of the names, so that sections stand below each other.
const NAMES: usize = 28;

/// One line: a name, and what each case counted.
type Row = (String, Vec<u64>);

/// All phases, then the lists as they stand at the end.
pub fn text(runs: &[Simulated], events: bool) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.case.name.as_str()).collect();
    let phases = runs.iter().map(|run| run.outcome.phases.len()).min().unwrap_or(0);
    let mut text = String::new();
    for phase in 0..phases {
        let of: Vec<&PhaseOutcome> = runs.iter().map(|run| &run.outcome.phases[phase]).collect();
        let accesses = of.iter().map(|phase| phase.accesses.to_string()).collect::<Vec<_>>();
        let same = accesses.windows(2).all(|pair| pair[0] == pair[1]);
        let accesses = if same { accesses[..1].join("") } else { accesses.join(", ") };
        text += &format!("\nphase {}: {accesses} accesses\n", of[0].name);
        text += &section("memory.stat", &names, &memcg_rows(&of));
        text += &section("/proc/vmstat", &names, &vmstat_rows(&of));
        if events {
            text += &section("events", &names, &event_rows(&of));
        }
    }
    text += &section("\nat the end (bytes)", &names, &level_rows(runs));
    text
}

/// The sum over memcgs; streams of the command have one.
pub fn memory_stat(phase: &PhaseOutcome) -> Counters {
    let mut sum = Counters::default();
    for counters in &phase.memcgs {
        counters.iter().for_each(|(counter, count)| sum.add(counter, count));
    }
    sum
}

fn alive(rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
    rows.into_iter().filter(|(_, counts)| counts.iter().any(|count| *count > 0)).collect()
}

fn memcg_rows(phases: &[&PhaseOutcome]) -> Vec<Row> {
    let all: Vec<Counters> = phases.iter().map(|phase| memory_stat(phase)).collect();
    let of = |count: fn(&Counters) -> u64| all.iter().map(count).collect::<Vec<u64>>();
    let sums = [("pgscan".to_owned(), of(Counters::pgscan)), ("pgsteal".to_owned(), of(Counters::pgsteal))];
    let each = Counter::ALL.iter().map(|counter| {
        let name = match counter {
            Counter::MemcgMax | Counter::MemcgOom => format!("memory.events {}", counter.name()),
            _ => counter.name().to_owned(),
        };
        (name, all.iter().map(|counters| counters.get(*counter)).collect())
    });
    alive(sums.into_iter().chain(each))
}

/// What the machine counts and a memcg does not.
fn vmstat_rows(phases: &[&PhaseOutcome]) -> Vec<Row> {
    let own = |counter: &&Counter| phases.iter().all(|phase| memory_stat(phase).get(**counter) == 0);
    alive(Counter::ALL.iter().filter(own).map(|counter| {
        (counter.name().to_owned(), phases.iter().map(|phase| phase.vmstat.get(*counter)).collect())
    }))
}

fn event_rows(phases: &[&PhaseOutcome]) -> Vec<Row> {
    alive(Event::ALL.iter().map(|event| {
        let name = format!("E{} {}", event.number(), event.name());
        (name, phases.iter().map(|phase| phase.events.get(*event)).collect())
    }))
}

fn level_rows(runs: &[Simulated]) -> Vec<Row> {
    let last = |run: &Simulated, name: &str| {
        run.outcome.series.column(name).and_then(|values| values.last().map(|(_, value)| *value)).unwrap_or(0)
    };
    alive(LEVELS.iter().map(|name| ((*name).to_owned(), runs.iter().map(|run| last(run, name)).collect())))
}

/// A table with the first case as it is and the others with their difference from it.
fn section(title: &str, names: &[&str], rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = vec![header(title, names)];
    for (name, counts) in rows {
        let mut cells = vec![format!("  {name}"), counts[0].to_string()];
        for count in &counts[1..] {
            cells.push(count.to_string());
            cells.push(difference(counts[0], *count));
        }
        table.push(cells);
    }
    let columns = table[0].len();
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> =
        (0..columns).map(|column| if column == 0 { width(0).max(NAMES) } else { width(column) }).collect();
    let mut text = String::new();
    for row in &table {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line += &format!("  {cell:>width$}");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn header(title: &str, names: &[&str]) -> Vec<String> {
    let mut cells = vec![title.to_owned()];
    for (i, name) in names.iter().enumerate() {
        cells.push((*name).to_owned());
        if i > 0 {
            cells.push("difference".to_owned());
        }
    }
    cells
}

fn difference(from: u64, to: u64) -> String {
    let (from, to) = (i128::from(from), i128::from(to));
    match (from, to - from) {
        (_, 0) => "0".to_owned(),
        (0, difference) => format!("{difference:+}"),
        (_, difference) => format!("{difference:+} ({:+.2}%)", 100.0 * difference as f64 / from as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_need() {
        let rows = vec![("pgscan".to_owned(), vec![1000, 1015]), ("pgfault".to_owned(), vec![0, 7])];
        insta::assert_snapshot!(section("memory.stat", &["a", "a + flags"], &rows), @r"
        memory.stat                      a  a + flags    difference
          pgscan                      1000       1015  +15 (+1.50%)
          pgfault                        0          7            +7
        ");
        assert_eq!(section("x", &["a"], &[]), "");
    }

    #[test]
    fn differences_have_a_sign_and_a_share() {
        assert_eq!(difference(5, 5), "0");
        assert_eq!(difference(0, 5), "+5");
        assert_eq!(difference(400, 100), "-300 (-75.00%)");
    }
}
