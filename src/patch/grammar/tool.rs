//! Blocks that a benchmark prints: lines with results between lines without,
//! from the block's first line to its last. One file for each benchmark.

use crate::patch::lines::Line;

use super::finding::NamedValue;
use super::{hackbench, perf, runs, schbench, stress_ng, sysbench, unixbench};

/// How the output of one benchmark is told and read.
pub(super) struct Tool {
    /// Whether a line opens a block.
    pub opens: fn(&Line<'_>) -> bool,
    /// Whether a line belongs to the block; its results are added.
    pub line: fn(&Line<'_>, &mut Vec<NamedValue>) -> bool,
}

const TOOLS: &[Tool] = &[
    sysbench::BLOCK,
    hackbench::BLOCK,
    perf::BENCH,
    perf::STAT,
    unixbench::BLOCK,
    stress_ng::BLOCK,
    schbench::BLOCK,
];

/// Lines a block may have.
const LINES: usize = 60;

/// The results of the block at the head of the lines. A result that the block
/// repeats, such as the time of each run, becomes the mean of its runs.
pub(super) fn values(lines: &[Line<'_>]) -> Option<(usize, Vec<NamedValue>)> {
    let head = lines.first()?;
    let tool = TOOLS.iter().find(|tool| (tool.opens)(head))?;
    let mut found = Vec::new();
    let (mut taken, mut blanks) = (0, 0);
    for (index, line) in lines.iter().enumerate().take(LINES) {
        if line.is_blank() {
            blanks += 1;
            if blanks > 2 {
                break;
            }
            continue;
        }
        if !(tool.line)(line, &mut found) {
            break;
        }
        (taken, blanks) = (index + 1, 0);
    }
    (taken > 0).then(|| (taken, runs::collapse(found, 2)))
}

/// The first word of a line, or nothing.
pub(super) fn first_word<'a>(line: &Line<'a>) -> &'a str {
    line.text.split_whitespace().next().unwrap_or("")
}
