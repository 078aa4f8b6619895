//! Lines that hold named values: the families' own lines, then the plain
//! `name: value unit, Stdev: x (+1.8%)`.

use crate::patch::claim::{Delta, Deviation, DeviationKind, Format};
use crate::patch::lines::Line;
use crate::patch::token::{Kind, Token};

use super::finding::NamedValue;
use super::{client, fio, memtier, quantity, runs, sysbench, time, tool};

/// Values at the head of the lines, and how many lines they took.
pub(crate) fn read(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    tool::values(lines)
        .or_else(|| fio::values(lines))
        .or_else(|| client::values(lines))
        .or_else(|| memtier::values(lines))
        .or_else(|| sysbench::values(lines))
        .or_else(|| time::values(lines))
        .or_else(|| lines.first().and_then(|line| plain(line, 0, line.tokens.len())).map(|found| (1, found)))
}

/// Names that only describe the value in front of them.
fn is_deviation(name: &str) -> bool {
    let lower = name.to_lowercase();
    let plain = lower.trim_matches(|c: char| !c.is_alphanumeric());
    ["stdev", "stddev", "std", "std dev", "std. dev", "deviation", "sd", "standard deviation"]
        .contains(&plain)
}

fn is_skipped(name: &str) -> bool {
    let lower = name.to_lowercase();
    let last = lower.rsplit(' ').next().unwrap_or("").trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    ["min", "max", "samples", "per", "count", "minimum", "maximum", "p", "t", "df", "z"]
        .contains(&last.as_str())
}

fn is_runs(name: &str) -> bool {
    ["n", "runs", "iterations", "iters"].contains(&name.trim().to_lowercase().as_str())
}

/// Reads tokens `from..to` of a line as named values; `None` when they read as a sentence.
pub(crate) fn plain(line: &Line<'_>, from: usize, to: usize) -> Option<Vec<NamedValue>> {
    let tokens = &line.tokens[..to];
    let mut found: Vec<NamedValue> = Vec::new();
    let mut name_start: Option<usize> = None;
    let mut words = 0;
    let mut at = from;
    while at < tokens.len() {
        let token = tokens[at];
        if let Some((delta, next)) = quantity::delta(tokens, at)
            && attach_delta(found.last_mut(), &delta)
        {
            at = next;
            name_start = None;
            continue;
        }
        if let Some(read) =
            quantity::quantity(line.text, tokens, at).filter(|_| !is_parenthetical(tokens, at))
        {
            let start = name_start.take().unwrap_or(at);
            let name =
                line.text[tokens[start].start..token.start].trim().trim_end_matches([':', '=', '(', ' ']);
            if !push(&mut found, name.trim_start_matches([',', '.', ';', ' ']), &read) {
                return None;
            }
            at = read.next;
            continue;
        }
        if let Some(behind) = remark(tokens, at) {
            at = behind;
            continue;
        }
        match token.kind {
            Kind::Word => {
                words += 1;
                name_start.get_or_insert(at);
            }
            Kind::Symbol(':' | '=' | ',' | '.' | ';' | '(' | ')') => {}
            Kind::Symbol(_) | Kind::Spread => {}
            _ => return None,
        }
        at += 1;
    }
    let readable = !found.is_empty() && found.len() <= 12 && words <= 8 + 2 * found.len();
    let trailing = name_start.map_or(0, |start| tokens.len() - start);
    (readable && trailing <= 4).then(|| runs::collapse(found, 3))
}

/// The end of a bracket that holds words only, such as `(without connecting)`.
fn remark(tokens: &[Token], at: usize) -> Option<usize> {
    let words = tokens.get(at).filter(|t| t.is_symbol('(')).map(|_| &tokens[at + 1..])?;
    let close = words.iter().take(12).position(|t| t.kind != Kind::Word)?;
    (close > 1 && words[close].is_symbol(')')).then_some(at + close + 2)
}

/// A number that a bracket opens and closes, such as `(1)`, says nothing.
fn is_parenthetical(tokens: &[Token], at: usize) -> bool {
    at > 0 && tokens[at - 1].is_symbol('(') && tokens.get(at + 1).is_some_and(|t| t.is_symbol(')'))
}

/// A delta belongs to the value in front of it; false when it is no delta there.
fn attach_delta(last: Option<&mut NamedValue>, delta: &Delta) -> bool {
    match last {
        Some(value) if value.delta == Delta::Missing => {
            value.delta = delta.clone();
            true
        }
        _ => false,
    }
}

fn push(found: &mut Vec<NamedValue>, name: &str, read: &quantity::Quantity) -> bool {
    if is_deviation(name) {
        if let Some(last) = found.last_mut() {
            let relative = read.unit.as_deref() == Some("%");
            let kind = DeviationKind::AcrossRuns;
            last.deviation = Some(Deviation { value: read.value, relative, kind, samples: None });
        }
        return true;
    }
    if is_runs(name) {
        if let Some(last) = found.last_mut() {
            last.runs = Some(read.value.value.clamp(0.0, 1e6) as u32);
        }
        return true;
    }
    if is_skipped(name) {
        return true;
    }
    if name.len() > 80 {
        return false;
    }
    let format =
        if name.to_lowercase().starts_with("transactions") { Format::Sysbench } else { Format::Label };
    let mut value = NamedValue::new(name, read.unit.as_deref(), read.value, format);
    value.deviation = read.deviation;
    found.push(value);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::lines;

    fn show(text: &str) -> String {
        let mut lines = lines::streams(text).remove(0).lines;
        lines.iter_mut().for_each(Line::tokenise);
        let Some((taken, found)) = read(&lines) else { return "none".to_owned() };
        let one = |v: &NamedValue| {
            let unit = v.unit.as_deref().unwrap_or("");
            let deviation =
                v.deviation.map_or(String::new(), |d| format!(" sd {:?} {}", d.kind, d.value.value));
            let delta = if v.delta == Delta::Missing { "" } else { " delta" };
            format!("{}={} {unit}{deviation}{delta}", v.name, v.value.value)
        };
        format!("{taken}: {}", found.iter().map(one).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn value_lines_of_every_family() {
        for (text, expected) in [
            ("1000.00 Ops/sec (+2.1%)", "1: =1000 Ops/sec delta"),
            ("READ: 2100.0 MiB/s. Stdev: 9.500000", "1: READ=2100 MiB/s sd AcrossRuns 9.5"),
            ("Avg: 135000.1 qps. Stdev: 300.2", "1: Avg=135000.1 qps sd AcrossRuns 300.2"),
            ("transactions: 145470 (4849.00 per sec.)", "1: transactions=4849 per sec"),
            ("transactions: 4849.0 per sec", "1: transactions=4849 per sec"),
            (
                "bw (  MiB/s): min=  500, max=  700, per=100.00%, avg=612.34, stdev= 1.90,\nsamples=960 ·",
                "2: bw=612.34 MiB/s sd WithinRun 1.9",
            ),
            (
                "iops        : min=1, max=2, avg=156.5, stdev=4.5, samples=960",
                "1: iops=156.5 IOPS sd WithinRun 4.5",
            ),
            (
                "READ: bw=500MiB/s (524MB/s), 500MiB/s-500MiB/s (524MB/s-524MB/s), io=146GiB (157GB),\nrun=300001-300001msec",
                "2: read bw=500 MiB/s",
            ),
            ("real 0m12.337s", "1: real=12.337 s"),
            ("Elapsed (wall clock) time (h:mm:ss or m:ss): 39:42.90", "1: real=2382.9 s"),
            ("1.5user 2.5system 0:10.20elapsed 176%CPU", "1: user=1.5 s; sys=2.5 s; real=10.2 s"),
            ("Totals 5000.10 0.00 0.00 5.20", "1: Totals=5000.1 Ops/sec"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
        assert!(show("Totals 5000.10 0.00 0.00 5.20 1.10 38.9 59.6 5200.0").contains("Totals p99=38.9 ms"));
        assert_eq!(
            show("we saw that 5 of the many machines were busy with other work during this run"),
            "none"
        );
    }
}
