//! `/proc/PID/stat`: who a process is and what it has used.

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::{ParseError, read_with};

/// The fields of `/proc/PID/stat` that the tool uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    pub pid: u32,
    pub name: String,
    pub state: char,
    pub parent: u32,
    pub process_group: i32,
    pub minor_faults: u64,
    pub major_faults: u64,
    /// Clock ticks.
    pub user_ticks: u64,
    pub system_ticks: u64,
    /// Clock ticks after boot; with the pid it names one process for good.
    pub start_time: u64,
    pub resident_pages: u64,
}

/// One process; an error when it is gone.
pub fn process_stat(root: &SysRoot, pid: u32) -> Result<ProcessStat, HostError> {
    read_with(root, format!("/proc/{pid}/stat"), parse)
}

pub(super) fn parse(text: &str) -> Result<ProcessStat, ParseError> {
    let bad = |what| ParseError::new(1, what, text);
    let open = text.find('(').ok_or_else(|| bad("expected `(name)`"))?;
    // The name itself may hold blanks and parentheses.
    let close = text.rfind(')').filter(|close| *close > open).ok_or_else(|| bad("expected `(name)`"))?;
    let fields: Vec<&str> = text[close + 1..].split_ascii_whitespace().collect();
    let number = |index: usize| -> Result<u64, ParseError> {
        let field = fields.get(index).ok_or_else(|| bad("too few fields"))?;
        field.parse().map_err(|_| bad("expected a whole number"))
    };
    let group = fields.get(2).and_then(|field| field.parse().ok());
    Ok(ProcessStat {
        pid: text[..open].trim().parse().map_err(|_| bad("expected a pid"))?,
        name: text[open + 1..close].to_owned(),
        state: fields.first().and_then(|f| f.chars().next()).ok_or_else(|| bad("expected a state"))?,
        parent: u32::try_from(number(1)?).map_err(|_| bad("expected a pid"))?,
        process_group: group.ok_or_else(|| bad("expected a process group"))?,
        minor_faults: number(7)?,
        major_faults: number(9)?,
        user_ticks: number(11)?,
        system_ticks: number(12)?,
        start_time: number(19)?,
        resident_pages: number(21)?,
    })
}
