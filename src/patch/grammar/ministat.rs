//! ministat: a row for each side with its runs and deviation, and the
//! difference it found, or that it found none.

use crate::patch::claim::{Delta, Deviation, DeviationKind, Format, Measured, Runs, Statistic};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::printed::Printed;

use super::finding::{Finding, Match};
use super::role;

/// `x  10  41.21  43.90  42.10  42.255  0.81020441`.
struct Side {
    mark: String,
    numbers: Vec<Printed>,
}

/// Recognises the block from its legend or its heading on.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    // The legend names the sides; without it the block opens with its heading.
    let head = lines.first()?;
    if !(legend_opens(head) || head.text.contains("Median")) {
        return None;
    }
    let heading = lines.iter().take(30).position(|line| {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        words == ["N", "Min", "Max", "Median", "Avg", "Stddev"]
    })?;
    let legend: Vec<(String, String)> = lines[..heading].iter().filter_map(legend).collect();
    let opens = heading == 0 || legend_opens(head);
    let sides: Vec<Side> = lines[heading + 1..].iter().take(2).filter_map(side).collect();
    let ([before, after], true) = (sides.as_slice(), opens) else { return None };
    let rest = &lines[heading + 3..];
    let told = rest.iter().take(6).position(|l| l.text.contains("% +/- "));
    let none = rest.iter().take(3).position(|l| l.text.contains("No difference proven"));
    let delta = match (told, none) {
        (Some(at), _) => {
            rest[at].tokens.first().and_then(|t| t.percent()).map(|change| Delta::Percent { change })
        }
        (None, Some(_)) => Some(Delta::Null { words: "no difference proven".to_owned() }),
        _ => None,
    };
    let label = |side: &Side| {
        let named = legend.iter().find(|(mark, _)| *mark == side.mark);
        named.map_or_else(|| side.mark.clone(), |(_, name)| name.clone())
    };
    let measured = |side: &Side| Measured {
        label: label(side),
        value: side.numbers[4],
        deviation: Some(Deviation {
            value: side.numbers[5],
            relative: false,
            kind: DeviationKind::AcrossRuns,
            samples: None,
        }),
    };
    let last = heading + 3 + told.map_or(none.map_or(0, |at| at + 1), |at| at + 2);
    let last = last.min(lines.len());
    let mut finding =
        Finding::new(Format::Ministat, metric_name::metric("", None), delta.unwrap_or(Delta::Missing))
            .with_values(measured(before), measured(after))
            .at(0, last - 1);
    finding.baseline = role::baseline(&label(before));
    let count = before.numbers[0].value.clamp(0.0, 1e6) as u32;
    finding.runs = Some(Runs { count, statistic: Statistic::Mean, text: format!("N = {count}") });
    Some(Match { lines: last, findings: vec![finding] })
}

fn legend_opens(line: &Line<'_>) -> bool {
    line.text.trim_start().starts_with("x ")
}

/// `x before` and `+ after`.
fn legend(line: &Line<'_>) -> Option<(String, String)> {
    let (mark, name) = line.text.trim().split_once(' ')?;
    ["x", "+", "*"].contains(&mark).then(|| (mark.to_owned(), name.trim().chars().take(80).collect()))
}

fn side(line: &Line<'_>) -> Option<Side> {
    let mark = line.text.split_whitespace().next().filter(|w| ["x", "+", "*"].contains(w))?;
    let numbers: Vec<Printed> = line.tokens.iter().filter_map(|t| t.number()).collect();
    (numbers.len() == 6).then(|| Side { mark: mark.to_owned(), numbers })
}
