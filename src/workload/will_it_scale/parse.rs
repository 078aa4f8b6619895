//! What will-it-scale prints: a case's program, and the runner's table.

use std::num::ParseIntError;

use thiserror::Error;

/// A text that is not what will-it-scale prints, or says that it failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScaleParseError {
    #[error("there is no line {0:?}; the program ended before it had measured")]
    Missing(&'static str),
    #[error("line {line:?} holds no number")]
    Number { line: String, source: ParseIntError },
    #[error("line {0:?} is no row of the runner's table")]
    Row(String),
    #[error("the table has no row with results; the runner ended early")]
    NoRows,
    /// The runner prints -1 when a program is absent or printed nothing, and exits with 0.
    #[error("the row of {tasks} tasks has {value} for {column}: the case's program is absent or failed")]
    Failed { tasks: u64, column: &'static str, value: i64 },
}

/// One second of a program's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Second {
    /// Operations of the slowest and the fastest task, and of all.
    pub min: u64,
    pub max: u64,
    pub total: u64,
}

/// What a case's program printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    pub description: String,
    /// The measured seconds, after the warm-up.
    pub seconds: Vec<Second>,
    /// Operations per second of all tasks.
    pub average: u64,
}

/// Reads the output of `CASE_processes` or `CASE_threads`.
pub fn parse_program(text: &str) -> Result<ProgramOutput, ScaleParseError> {
    let (mut description, mut measuring) = (None, false);
    let (mut seconds, mut average) = (Vec::new(), None);
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("testcase:") {
            description = Some(rest.trim().to_owned());
        } else if line == "measurement" {
            measuring = true;
        } else if let Some(rest) = line.strip_prefix("average:") {
            average = Some(number(rest, line)?);
        } else if let (true, Some(second)) = (measuring, read_second(line)?) {
            seconds.push(second);
        }
    }
    Ok(ProgramOutput {
        description: description.ok_or(ScaleParseError::Missing("testcase:"))?,
        seconds,
        average: average.ok_or(ScaleParseError::Missing("average:"))?,
    })
}

fn read_second(line: &str) -> Result<Option<Second>, ScaleParseError> {
    let Some(rest) = line.strip_prefix("min:") else {
        return Ok(None);
    };
    let Some((min, rest)) = rest.split_once(" max:") else {
        return Ok(None);
    };
    let Some((max, total)) = rest.split_once(" total:") else {
        return Ok(None);
    };
    Ok(Some(Second { min: number(min, line)?, max: number(max, line)?, total: number(total, line)? }))
}

fn number(text: &str, line: &str) -> Result<u64, ScaleParseError> {
    text.trim().parse().map_err(|source| ScaleParseError::Number { line: line.to_owned(), source })
}

/// A row of the runner's table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    pub tasks: u64,
    /// Operations per second of all processes.
    pub processes: u64,
    pub processes_idle_percent: f64,
    pub threads: u64,
    pub threads_idle_percent: f64,
}

/// Reads the table of `runtest.py`; a failed row makes the whole table an error.
pub fn parse_table(text: &str) -> Result<Vec<Row>, ScaleParseError> {
    let mut rows = Vec::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells[0] == "tasks" {
            continue;
        }
        let bad = || ScaleParseError::Row(line.to_owned());
        let [tasks, processes, processes_idle, threads, threads_idle, _linear] = cells[..] else {
            return Err(bad());
        };
        let tasks: u64 = tasks.parse().map_err(|_| bad())?;
        let count = |text: &str, column| {
            let value: i64 = text.parse().map_err(|_| bad())?;
            u64::try_from(value).map_err(|_| ScaleParseError::Failed { tasks, column, value })
        };
        let percent = |text: &str| {
            let value: f64 = text.parse().map_err(|_| bad())?;
            if (0.0..=100.0).contains(&value) { Ok(value) } else { Err(bad()) }
        };
        let row = Row {
            tasks,
            processes: count(processes, "processes")?,
            processes_idle_percent: percent(processes_idle)?,
            threads: count(threads, "threads")?,
            threads_idle_percent: percent(threads_idle)?,
        };
        // The first row is that of no tasks, for plots.
        if tasks > 0 {
            rows.push(row);
        }
    }
    if rows.is_empty() { Err(ScaleParseError::NoRows) } else { Ok(rows) }
}
