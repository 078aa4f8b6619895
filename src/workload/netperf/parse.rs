//! What netperf prints: the classic tables of streams and of request/response,
//! the key=value lines of the omni tests, and its ways to say no.

use thiserror::Error;

/// What one netperf measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetperfOutput {
    pub rate: Rate,
    pub elapsed_seconds: f64,
    /// Present when netperf says that its desired confidence was not achieved.
    pub confidence: Option<Confidence>,
}

/// A rate in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    BytesPerSecond(f64),
    TransactionsPerSecond(f64),
}

/// Widths of the confidence intervals that were reached, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    pub throughput: f64,
    pub local_cpu: f64,
    pub remote_cpu: f64,
}

/// A text that is not a netperf's result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NetperfParseError {
    /// Neither this netperf nor, with it, this run can do the test.
    #[error("this netperf was built without the test: {0}")]
    UnknownTest(String),
    #[error("netperf's test needs a protocol that this kernel lacks: {0}")]
    NoProtocol(String),
    #[error("netperf found no netserver: {0}")]
    NoServer(String),
    #[error("there is no table of results; netperf ended early")]
    NoTable,
    #[error("the table's numbers are cut short: {0:?}")]
    Short(String),
    #[error("{0:?} is not a finite number that a measurement can give")]
    Number(String),
    #[error("{0:?} is no unit of a rate that is known")]
    Unit(String),
    #[error("the confidence block is cut short")]
    Confidence,
}

/// Reads what netperf printed on standard output.
pub fn parse(text: &str) -> Result<NetperfOutput, NetperfParseError> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    refusal(&lines)?;
    let confidence = read_confidence(&lines)?;
    let (rate, elapsed_seconds) = match read_pairs(&lines)? {
        Some(found) => found,
        None => read_table(&lines)?,
    };
    Ok(NetperfOutput { rate, elapsed_seconds, confidence })
}

fn refusal(lines: &[&str]) -> Result<(), NetperfParseError> {
    let find = |words: &[&str]| {
        lines.iter().find(|line| words.iter().any(|word| line.contains(word))).map(|line| (*line).to_owned())
    };
    if let Some(line) = find(&["is unknown to this netperf"]) {
        return Err(NetperfParseError::UnknownTest(line));
    }
    if let Some(line) =
        find(&["Protocol not supported", "Address family not supported", "Socket type not supported"])
    {
        return Err(NetperfParseError::NoProtocol(line));
    }
    if let Some(line) =
        find(&["are you sure there is a netserver", "could not establish the control connection"])
    {
        return Err(NetperfParseError::NoServer(line));
    }
    Ok(())
}

fn read_confidence(lines: &[&str]) -> Result<Option<Confidence>, NetperfParseError> {
    if !lines.iter().any(|line| line.contains("Desired confidence was not achieved")) {
        return Ok(None);
    }
    let percent = |name: &str| {
        let line = lines.iter().find(|l| l.starts_with("!!!") && l.contains(name));
        let (_, value) = line.and_then(|l| l.rsplit_once(':')).ok_or(NetperfParseError::Confidence)?;
        number(value.trim().trim_end_matches('%'))
    };
    Ok(Some(Confidence {
        throughput: percent("Throughput")?,
        local_cpu: percent("Local CPU util")?,
        remote_cpu: percent("Remote CPU util")?,
    }))
}

/// The key=value form.
fn read_pairs(lines: &[&str]) -> Result<Option<(Rate, f64)>, NetperfParseError> {
    let value = |key: &str| lines.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let Some(throughput) = value("THROUGHPUT") else {
        return Ok(None);
    };
    let short = |key: &str| NetperfParseError::Short(key.to_owned());
    let unit = value("THROUGHPUT_UNITS").ok_or_else(|| short("THROUGHPUT_UNITS"))?;
    let elapsed = value("ELAPSED_TIME").ok_or_else(|| short("ELAPSED_TIME"))?;
    Ok(Some((rate(number(throughput)?, unit)?, number(elapsed)?)))
}

/// The classic form: headings, then a row of numbers with time and rate last.
fn read_table(lines: &[&str]) -> Result<(Rate, f64), NetperfParseError> {
    let heading = lines
        .iter()
        .position(|line| line.starts_with("bytes") && line.contains(" secs."))
        .ok_or(NetperfParseError::NoTable)?;
    let unit = lines[heading].split_once("secs.").map_or("", |(_, rest)| rest).trim();
    let row = lines[heading + 1..].iter().find(|line| !line.is_empty()).ok_or(NetperfParseError::NoTable)?;
    let cells: Vec<&str> = row.split_whitespace().collect();
    // Streams have three sizes before the time, request/response has four.
    let sizes = if unit == "per sec" { 4 } else { 3 };
    let short = || NetperfParseError::Short((*row).to_owned());
    if cells.len() != sizes + 2 {
        return Err(short());
    }
    Ok((rate(number(cells[sizes + 1])?, unit)?, number(cells[sizes])?))
}

fn rate(value: f64, unit: &str) -> Result<Rate, NetperfParseError> {
    let bits = |factor: f64| Ok(Rate::BytesPerSecond(value * factor / 8.0));
    let bytes = |factor: f64| Ok(Rate::BytesPerSecond(value * factor));
    match unit.trim_end_matches("/sec").trim_end_matches("/s") {
        "10^3bits" => bits(1e3),
        "10^6bits" => bits(1e6),
        "10^9bits" => bits(1e9),
        "KBytes" => bytes(1024.0),
        "MBytes" => bytes(1_048_576.0),
        "GBytes" => bytes(1_073_741_824.0),
        "per sec" | "Trans" => Ok(Rate::TransactionsPerSecond(value)),
        _ => Err(NetperfParseError::Unit(unit.to_owned())),
    }
}

fn number(text: &str) -> Result<f64, NetperfParseError> {
    let value: Option<f64> = text.trim().parse().ok();
    value.filter(|v| v.is_finite() && *v >= 0.0).ok_or_else(|| NetperfParseError::Number(text.to_owned()))
}
