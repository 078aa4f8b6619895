//! Lines of client programs with a sentence of their own: redis-benchmark,
//! dbench and tbench, and `t/io_uring` of fio.

use crate::patch::claim::Format;
use crate::patch::lines::Line;
use crate::patch::token::Kind;

use super::finding::NamedValue;
use super::{quantity, runs};

/// Values of such a line; a rate printed every second is read to its mean.
pub(super) fn values(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let line = lines.first()?;
    let one = redis(line).or_else(|| dbench(line));
    one.map(|found| (1, found)).or_else(|| io_uring(lines))
}

/// `GET: 101832.99 requests per second, p50=0.263 msec`.
fn redis(line: &Line<'_>) -> Option<Vec<NamedValue>> {
    let name = line.tokens.first().filter(|t| t.kind == Kind::Word)?.text(line.text);
    let colon = line.tokens.iter().position(|t| t.is_symbol(':'))?;
    let rate = quantity::quantity(line.text, &line.tokens, colon + 1)?;
    if rate.unit.as_deref() != Some("requests per second") {
        return None;
    }
    let mut found = vec![NamedValue::new(name, rate.unit.as_deref(), rate.value, Format::Label)];
    let middle = line.tokens.iter().position(|t| t.text(line.text) == "p50");
    if let Some(value) = middle.and_then(|at| quantity::quantity(line.text, &line.tokens, at + 2)) {
        found.push(NamedValue::new(
            &format!("{name} p50"),
            value.unit.as_deref(),
            value.value,
            Format::Label,
        ));
    }
    Some(found)
}

/// `Throughput 1811.42 MB/sec  16 clients  16 procs  max_latency=12.402 ms`.
fn dbench(line: &Line<'_>) -> Option<Vec<NamedValue>> {
    let name = line.tokens.first()?.text(line.text);
    let clients = line.text.contains(" clients ") || line.text.contains(" procs");
    let rate = quantity::quantity(line.text, &line.tokens, 1).filter(|_| clients && name == "Throughput")?;
    Some(vec![NamedValue::new(name, rate.unit.as_deref(), rate.value, Format::Label)])
}

/// `IOPS=7.81M, BW=3.81GiB/s, IOS/call=32/31`, once a second.
fn io_uring(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let of_second =
        |line: &Line<'_>| line.text.trim_start().starts_with("IOPS=") && line.text.contains("IOS/call=");
    let seconds = lines.iter().take(60).take_while(|line| of_second(line)).count();
    let mut found = Vec::new();
    for line in &lines[..seconds] {
        for (name, unit) in [("IOPS", Some("IOPS")), ("BW", None)] {
            let at = line.tokens.iter().position(|t| t.text(line.text) == name)?;
            let value = quantity::quantity(line.text, &line.tokens, at + 2)?;
            let unit = unit.or(value.unit.as_deref());
            found.push(NamedValue::new(&name.to_lowercase(), unit, value.value, Format::Fio));
        }
    }
    // Seconds of one run are no runs.
    let mut found = runs::collapse(found, 2);
    for value in &mut found {
        value.runs = None;
        value.deviation = value.deviation.map(runs::within_run);
    }
    (seconds > 0).then_some((seconds, found))
}
