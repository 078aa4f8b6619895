//! memtier_benchmark's JSON, read leniently: keys come and go between versions,
//! and numbers without a value are printed as C prints them.

use serde_json::Map;
use serde_json::Value;

use super::result::CommandResult;
use super::result::LoadRun;
use super::result::Quantiles;
use crate::units::Nanos;
use crate::workload::WorkloadError;

const TOOL: &str = "memtier_benchmark";
const NANOS_PER_MILLI: f64 = 1e6;
/// memtier's KB.
const KIB: f64 = 1024.0;
/// A latency above this, in milliseconds, is a minimum that was never set.
const UNSET_MILLIS: f64 = 1e12;

/// Seconds of all runs together that are kept: 48 days. Their numbers stand in the
/// file, so that a short file could otherwise ask for any amount of memory.
const MOST_SECONDS: usize = 1 << 22;

/// What memtier reported.
#[derive(Debug, Clone, PartialEq)]
pub struct MemtierReport {
    /// One for each run, or a single average where that is all there is.
    pub runs: Vec<LoadRun>,
    /// The numbers are an average of several runs.
    pub averaged: bool,
    pub interrupted: bool,
    /// Numbers printed as `nan`, `inf` or an unset sentinel, which count as missing.
    pub missing_numbers: usize,
}

/// Reads the JSON file of memtier.
pub fn parse(bytes: &[u8]) -> Result<MemtierReport, WorkloadError> {
    let printed = String::from_utf8_lossy(bytes);
    let wrong = |reason: String| WorkloadError::output(TOOL, reason, &printed);
    let start = printed.find('{').ok_or_else(|| wrong("it holds no JSON object".to_owned()))?;
    let (clean, missing_numbers) = without_bare_words(&printed[start..]);
    let mut documents = serde_json::Deserializer::from_str(&clean).into_iter::<Value>();
    let first = documents.next().ok_or_else(|| wrong("it holds no JSON object".to_owned()))?;
    let document = first.map_err(|error| wrong(format!("it is not JSON: {error}")))?;
    let Value::Object(sections) = document else {
        return Err(wrong("its top level is no object".to_owned()));
    };
    let mut report = MemtierReport { runs: Vec::new(), averaged: false, interrupted: false, missing_numbers };
    let mut room = MOST_SECONDS;
    for (index, name) in section_names(&sections, &mut report.averaged) {
        let section = sections.get(&name).and_then(Value::as_object);
        let section = section.ok_or_else(|| wrong(format!("section {name:?} is no object")))?;
        report.interrupted |= section.get("Runtime").and_then(|r| r.get("Interrupted")).is_some_and(is_true);
        report.runs.push(run(index, section, &mut room).map_err(wrong)?);
    }
    if report.runs.is_empty() {
        let names: Vec<&String> = sections.keys().collect();
        return Err(wrong(format!("it has no section with results, only {names:?}")));
    }
    Ok(report)
}

/// The sections to read, each with its run's number.
fn section_names(sections: &Map<String, Value>, averaged: &mut bool) -> Vec<(u32, String)> {
    if sections.contains_key("ALL STATS") {
        return vec![(1, "ALL STATS".to_owned())];
    }
    let number = |name: &str| name.strip_prefix("RUN #")?.split_whitespace().next()?.parse::<u32>().ok();
    let mut runs: Vec<(u32, String)> =
        sections.keys().filter_map(|name| Some((number(name)?, name.clone()))).collect();
    runs.sort();
    if runs.is_empty() {
        *averaged = true;
        let average = sections.keys().find(|name| name.starts_with("AGGREGATED AVERAGE"));
        runs.extend(average.map(|name| (1, name.clone())));
    }
    runs
}

fn is_true(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| value.as_str() == Some("true"))
}

fn run(index: u32, section: &Map<String, Value>, room: &mut usize) -> Result<LoadRun, String> {
    let command = |name: &str| -> Result<CommandResult, String> {
        let object = section.get(name).and_then(Value::as_object);
        command_result(object.ok_or_else(|| format!("a section lacks {name:?}"))?, name)
    };
    let (sets, gets, mut totals) = (command("Sets")?, command("Gets")?, command("Totals")?);
    // Some versions cut the total's mean to whole milliseconds; the parts are exact.
    let sum = |c: &CommandResult| c.latency_mean.map_or(0.0, |mean| mean * c.count as f64);
    let count = sets.count.saturating_add(gets.count);
    totals.latency_mean = (count > 0).then(|| (sum(&sets) + sum(&gets)) / count as f64);
    let totals_object = section.get("Totals").and_then(Value::as_object);
    let millis = section.get("Runtime").and_then(|r| r.get("Total duration")).and_then(Value::as_f64);
    let duration = match millis {
        Some(millis) if millis > 0.0 => Nanos::from_seconds_f64(millis / 1e3),
        // An average has no duration of its own.
        _ if totals.ops_per_sec > 0.0 => Nanos::from_seconds_f64(totals.count as f64 / totals.ops_per_sec),
        _ => Nanos(0),
    };
    let errors = totals_object.and_then(|t| t.get("Connection Errors")).and_then(Value::as_u64);
    Ok(LoadRun {
        index,
        duration,
        ops_per_second: totals_object.map(|totals| seconds(totals, room)).unwrap_or_default(),
        connection_errors: errors.unwrap_or(0),
        sets,
        gets,
        totals,
    })
}

fn command_result(object: &Map<String, Value>, name: &str) -> Result<CommandResult, String> {
    let number = |key: &str| object.get(key).and_then(Value::as_f64).filter(|n| *n < UNSET_MILLIS);
    let count = object.get("Count").and_then(Value::as_u64);
    let count = count.ok_or_else(|| format!("{name:?} has no \"Count\""))?;
    let rate = number("Ops/sec").ok_or_else(|| format!("{name:?} has no \"Ops/sec\""))?;
    let nanos = |value: Option<f64>| value.filter(|_| count > 0).map(|millis| millis * NANOS_PER_MILLI);
    let quantile = |key: &str| {
        let value = object.get("Percentile Latencies").and_then(|p| p.get(key)).and_then(Value::as_f64);
        nanos(value.filter(|n| *n < UNSET_MILLIS))
    };
    Ok(CommandResult {
        count,
        ops_per_sec: rate,
        hits_per_sec: number("Hits/sec").unwrap_or(0.0),
        misses_per_sec: number("Misses/sec").unwrap_or(0.0),
        sent_bytes_per_sec: number("KB/sec TX").map(|kib| kib * KIB),
        received_bytes_per_sec: number("KB/sec RX").map(|kib| kib * KIB),
        bytes_per_sec: number("KB/sec").unwrap_or(0.0) * KIB,
        latency_mean: nanos(number("Average Latency").or_else(|| number("Latency"))),
        latency_min: nanos(number("Min Latency")),
        latency_max: nanos(number("Max Latency")),
        quantiles: Quantiles { p50: quantile("p50.00"), p99: quantile("p99.00"), p999: quantile("p99.90") },
    })
}

/// Operations in each second; the key is misspelt in all known versions.
fn seconds(totals: &Map<String, Value>, room: &mut usize) -> Vec<u64> {
    let series = totals.get("Time-Serie").or_else(|| totals.get("Time-Series")).and_then(Value::as_object);
    let mut all = Vec::new();
    for (second, values) in series.into_iter().flatten() {
        let (Ok(second), Some(count)) =
            (second.parse::<usize>(), values.get("Count").and_then(Value::as_u64))
        else {
            continue;
        };
        if all.len() <= second {
            let more = (second - all.len()).saturating_add(1);
            if more > *room {
                continue;
            }
            *room -= more;
            all.resize(second + 1, 0);
        }
        all[second] = count;
    }
    all
}

/// Replaces `nan`, `-nan`, `inf` and the like outside strings by `null`; says how many.
fn without_bare_words(text: &str) -> (String, usize) {
    let (mut clean, mut replaced) = (String::with_capacity(text.len()), 0);
    let (mut in_string, mut escaped) = (false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !in_string && c.is_ascii_alphabetic() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let word = &rest[..end];
            // The letter of an exponent, as in 1e6, belongs to its number.
            let exponent = clean.ends_with(|c: char| c.is_ascii_digit() || c == '.');
            if exponent || matches!(word, "true" | "false" | "null") {
                clean.push_str(word);
            } else {
                if clean.ends_with(['-', '+']) {
                    clean.pop();
                }
                clean.push_str("null");
                replaced += 1;
            }
            rest = &rest[end..];
            continue;
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
        clean.push(c);
        rest = &rest[c.len_utf8()..];
    }
    (clean, replaced)
}

#[cfg(test)]
#[path = "memtier_json_tests.rs"]
mod tests;
