//! fio's JSON, of versions 2.x to 3.x.
//!
//! fio writes warnings and errors into the same file before the document, and
//! with status intervals several documents, each cumulative: the last complete
//! one counts. Under group reporting `iops` is the sum over the jobs while
//! `iops_mean` is of one job, so only `iops` and the bandwidth are used.

use std::borrow::Cow;

use serde_json::Map;
use serde_json::Value;
use thiserror::Error;

/// What fio measured, all jobs together, in base units.
#[derive(Debug, Clone, PartialEq)]
pub struct FioOutput {
    pub version: String,
    pub read: Option<Side>,
    pub write: Option<Side>,
    /// fio's error numbers that are not 0, job by job.
    pub errors: Vec<i64>,
    /// Milliseconds that all jobs ran, summed; older versions do not say.
    pub job_runtime_ms: Option<u64>,
    /// Lines before the document: warnings and errors.
    pub prefix: Vec<String>,
}

/// Reads or writes. Absent where none was done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    pub iops: f64,
    pub bytes_per_second: f64,
    pub operations: u64,
    pub runtime_ms: u64,
    pub short: u64,
    pub latency: Option<Latency>,
}

/// Completion latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    pub mean_ns: f64,
    /// None where the percentiles of several groups cannot be joined.
    pub p99_ns: Option<f64>,
    samples: f64,
}

/// A text that is not a fio's result.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FioParseError {
    #[error("there is no JSON document of fio; it printed {0:?}")]
    NoDocument(String),
    #[error("the JSON document is cut short; fio ended before it had written it")]
    Truncated,
    #[error("key {0:?} is absent from the document")]
    Missing(&'static str),
    #[error("key {0:?} does not hold the kind of value that fio writes there")]
    Kind(&'static str),
    #[error("latencies are in {0:?}, a unit of no known version")]
    Unit(String),
}

type Object = Map<String, Value>;

/// Reads the whole output file, or what was printed on standard output.
pub fn parse(text: &str) -> Result<FioOutput, FioParseError> {
    let text = without_non_finite(text);
    let (document, prefix) = last_document(&text)?;
    let version = match document.get("fio version") {
        Some(Value::String(version)) => version.trim_start_matches("fio-").to_owned(),
        Some(_) => return Err(FioParseError::Kind("fio version")),
        None => return Err(FioParseError::Missing("fio version")),
    };
    let jobs = document.get("jobs").and_then(Value::as_array).ok_or(FioParseError::Missing("jobs"))?;
    let mut output =
        FioOutput { version, read: None, write: None, errors: Vec::new(), job_runtime_ms: None, prefix };
    for job in jobs {
        let job = job.as_object().ok_or(FioParseError::Kind("jobs"))?;
        output.errors.extend(integer(job, "error")?.filter(|error| *error != 0));
        if let Some(runtime) = count(job, "job_runtime")? {
            output.job_runtime_ms = Some(output.job_runtime_ms.unwrap_or(0).saturating_add(runtime));
        }
        output.read = join(output.read, side(job, "read")?);
        output.write = join(output.write, side(job, "write")?);
    }
    Ok(output)
}

/// Bare `nan` and `inf`, which some versions print and JSON forbids, become `null`.
fn without_non_finite(text: &str) -> Cow<'_, str> {
    if !text.contains("nan") && !text.contains("inf") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut quoted, mut escaped) = (String::with_capacity(text.len()), false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = ["-nan", "nan", "-inf", "inf"].into_iter().find(|word| rest.starts_with(word));
        if let (false, Some(word), true) = (quoted, word, out.trim_end().ends_with([':', ',', '['])) {
            out.push_str("null");
            rest = &rest[word.len()..];
            continue;
        }
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        // A line of text before the document may hold one quotation mark.
        quoted &= c != '\n';
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    Cow::Owned(out)
}

/// The last document, and the lines before the first.
fn last_document(text: &str) -> Result<(Object, Vec<String>), FioParseError> {
    let (mut found, mut first, mut cut) = (None, text.len(), false);
    let mut at = 0;
    while let Some(brace) = text[at..].find('{').map(|offset| at + offset) {
        let mut values = serde_json::Deserializer::from_str(&text[brace..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(object))) if object.contains_key("jobs") => {
                (found, first, cut) = (Some(object), first.min(brace), false);
                at = brace + values.byte_offset();
            }
            Some(Ok(_)) => at = brace + values.byte_offset(),
            _ => {
                if text[brace + 1..].trim_start().starts_with("\"fio version\"") {
                    (first, cut) = (first.min(brace), true);
                }
                at = brace + 1;
            }
        }
    }
    let lines = text[..first].lines().map(str::trim).filter(|line| !line.is_empty());
    let prefix: Vec<String> = lines.map(str::to_owned).collect();
    match (found, cut) {
        (_, true) => Err(FioParseError::Truncated),
        (Some(object), false) => Ok((object, prefix)),
        (None, false) => Err(FioParseError::NoDocument(prefix.first().cloned().unwrap_or_default())),
    }
}

fn side(job: &Object, name: &'static str) -> Result<Option<Side>, FioParseError> {
    let Some(side) = job.get(name) else {
        return Ok(None);
    };
    let side = side.as_object().ok_or(FioParseError::Kind(name))?;
    let iops = float(side, "iops")?.ok_or(FioParseError::Missing("iops"))?;
    let runtime_ms = count(side, "runtime")?.ok_or(FioParseError::Missing("runtime"))?;
    // Versions before 2.2 do not count the operations.
    let operations = count(side, "total_ios")?.unwrap_or((iops * runtime_ms as f64 / 1000.0).round() as u64);
    if operations == 0 {
        return Ok(None);
    }
    let bytes_per_second = match (float(side, "bw_bytes")?, float(side, "bw")?) {
        (Some(bytes), _) => bytes,
        (None, Some(kib)) => kib * 1024.0,
        (None, None) => return Err(FioParseError::Missing("bw")),
    };
    let short = count(side, "short_ios")?.unwrap_or(0);
    Ok(Some(Side { iops, bytes_per_second, operations, runtime_ms, short, latency: latency(side)? }))
}

/// `clat_ns` since 3.0, `clat` in microseconds before.
fn latency(side: &Object) -> Result<Option<Latency>, FioParseError> {
    let (clat, factor) = match (side.get("clat_ns"), side.get("clat")) {
        (Some(clat), _) => (clat, 1.0),
        (None, Some(clat)) => (clat, 1000.0),
        (None, None) => {
            let odd = side.keys().find(|key| key.starts_with("clat_"));
            return odd.map_or(Ok(None), |key| Err(FioParseError::Unit(key.clone())));
        }
    };
    let clat = clat.as_object().ok_or(FioParseError::Kind("clat"))?;
    let Some(mean) = float(clat, "mean")? else {
        return Ok(None);
    };
    // Newer versions say how many samples there were, and print zeros when none.
    let samples = float(clat, "N")?;
    if samples == Some(0.0) {
        return Ok(None);
    }
    let p99 = match clat.get("percentile").and_then(Value::as_object) {
        Some(table) => table.iter().find(|(key, _)| key.parse() == Ok(99.0f64)).and_then(|(_, v)| v.as_f64()),
        None => None,
    };
    // A percentile is the middle of its bin and may lie above the largest value.
    let max = float(clat, "max")?.unwrap_or(f64::INFINITY);
    let p99_ns = p99.map(|p| p.min(max) * factor);
    Ok(Some(Latency { mean_ns: mean * factor, p99_ns, samples: samples.unwrap_or(1.0) }))
}

/// Several groups become one: sums, and the mean latency by samples.
fn join(a: Option<Side>, b: Option<Side>) -> Option<Side> {
    let (Some(a), Some(b)) = (a, b) else {
        return a.or(b);
    };
    let latency = match (a.latency, b.latency) {
        (Some(x), Some(y)) => {
            let samples = x.samples + y.samples;
            let mean_ns = (x.mean_ns * x.samples + y.mean_ns * y.samples) / samples;
            Some(Latency { mean_ns, p99_ns: None, samples })
        }
        _ => None,
    };
    Some(Side {
        iops: a.iops + b.iops,
        bytes_per_second: a.bytes_per_second + b.bytes_per_second,
        operations: a.operations.saturating_add(b.operations),
        runtime_ms: a.runtime_ms.max(b.runtime_ms),
        short: a.short.saturating_add(b.short),
        latency,
    })
}

fn float(object: &Object, key: &'static str) -> Result<Option<f64>, FioParseError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_f64().filter(|n| n.is_finite() && *n >= 0.0);
            number.map(Some).ok_or(FioParseError::Kind(key))
        }
    }
}

fn count(object: &Object, key: &'static str) -> Result<Option<u64>, FioParseError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or(FioParseError::Kind(key)),
    }
}

fn integer(object: &Object, key: &'static str) -> Result<Option<i64>, FioParseError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or(FioParseError::Kind(key)),
    }
}
