//! stress-ng's metrics: `metrc: [1201] fork 521034 60.00 40.11 801.22 8683.90 619.28`.

use crate::patch::claim::Format;
use crate::patch::lines::Line;

use super::finding::NamedValue;
use super::tool::{Tool, first_word};

pub(super) const BLOCK: Tool = Tool { opens, line };

fn opens(line: &Line<'_>) -> bool {
    first_word(line) == "stress-ng:"
}

fn line(line: &Line<'_>, found: &mut Vec<NamedValue>) -> bool {
    if !opens(line) {
        return false;
    }
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let close = line.tokens.iter().position(|t| t.is_symbol(']'));
    if let (Some(close), true) = (close, matches!(words.get(1), Some(&"metrc:" | &"info:"))) {
        let row = &line.tokens[close + 1..];
        let numbers: Vec<_> = row.iter().skip(1).take(6).filter_map(|t| t.number()).collect();
        if let ([stressor, ..], [_, _, _, _, rate, _]) = (row, numbers.as_slice()) {
            let name = stressor.text(line.text);
            found.push(NamedValue::new(name, Some("bogo ops/s"), *rate, Format::Label));
        }
    }
    true
}
