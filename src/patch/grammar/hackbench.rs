//! hackbench, and `perf bench sched messaging` in its old form: a time a run.

use crate::patch::claim::Format;
use crate::patch::lines::Line;

use super::finding::NamedValue;
use super::tool::{Tool, first_word};

pub(super) const BLOCK: Tool = Tool { opens, line };

fn opens(line: &Line<'_>) -> bool {
    line.text.trim_start().starts_with("Running in ") && line.text.contains(" mode with ")
}

fn line(line: &Line<'_>, found: &mut Vec<NamedValue>) -> bool {
    if first_word(line) == "Time:" {
        let seconds = line.tokens.get(2).and_then(|t| t.number());
        found.extend(seconds.map(|s| NamedValue::new("hackbench time", Some("s"), s, Format::Time)));
        return seconds.is_some();
    }
    opens(line) || line.text.trim_start().starts_with("Each sender will pass ")
}
