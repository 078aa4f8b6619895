//! Labels and values: sections headed `Before…` and `After…`, on one line or
//! with the values below, and any labelled values whose printed change fits.

use crate::patch::claim::{Baseline, Delta, Reading, Runs, Statistic};
use crate::patch::lines::Line;

use super::finding::{Finding, Match, NamedValue};
use super::role::{self, Heading, Role};
use super::values;

/// Lines a group of sections may span.
const REACH: usize = 160;

struct Section {
    role: Role,
    label: String,
    deltas: Vec<Delta>,
    values: Vec<NamedValue>,
    first: usize,
    last: usize,
    /// The values stand on the label's own line.
    inline: bool,
}

/// Recognises a group of sections that holds both sides.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let heading = role::heading(lines.first()?, 0)?;
    if heading.role == Role::Other {
        return unnamed(lines);
    }
    let sections = sections(lines);
    let befores: Vec<usize> = positions(&sections, Role::Before);
    let afters: Vec<usize> = positions(&sections, Role::After);
    if befores.is_empty() || afters.is_empty() {
        // A long run of one side only is taken but for its last, so that it is not
        // read again from each of its lines.
        let last = sections.last().map_or(0, |s| s.first);
        return (sections.len() >= 4 && last > 0).then_some(Match { lines: last, findings: Vec::new() });
    }
    let mut findings = Vec::new();
    for after in afters {
        let base = befores.iter().rev().find(|b| **b < after).or(befores.first()).copied().unwrap_or(0);
        let previous = (after > 0 && sections[after - 1].role == Role::After).then(|| &sections[after - 1]);
        let base = &sections[base];
        pair(base, previous, &sections[after], &mut findings);
    }
    let last = sections.iter().map(|s| s.last).max().unwrap_or(0);
    (!findings.is_empty()).then_some(Match { lines: last + 1, findings })
}

fn positions(sections: &[Section], role: Role) -> Vec<usize> {
    (0..sections.len()).filter(|i| sections[*i].role == role && !sections[*i].values.is_empty()).collect()
}

/// Sections from the head of the lines until something else comes.
fn sections(lines: &[Line<'_>]) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut blanks = 0;
    let mut at = 0;
    while at < lines.len().min(REACH) && found.len() < 24 {
        let line = &lines[at];
        if line.is_blank() {
            blanks += 1;
            at += 1;
            if blanks > 2 {
                break;
            }
            continue;
        }
        if let Some(heading) = role::heading(line, 0).filter(|h| h.role != Role::Other) {
            open_sections(line, at, heading, &mut found);
        } else if let Some((taken, values)) = values::read(&lines[at..]) {
            let Some(section) = found.last_mut() else { break };
            // Values stand behind a label or below it, not both, and not behind a gap.
            if !section.values.is_empty() && (section.inline || blanks > 0) {
                break;
            }
            section.values.extend(values);
            section.last = at + taken - 1;
            at += taken - 1;
        } else {
            break;
        }
        blanks = 0;
        at += 1;
    }
    found
}

/// One heading, or several on one line, each with the values behind it.
fn open_sections(line: &Line<'_>, at: usize, heading: Heading, found: &mut Vec<Section>) {
    let mut heading = Some(heading);
    while let Some(current) = heading.take() {
        let cut = role::next_heading(line, current.next);
        let end = cut.unwrap_or(line.tokens.len());
        let values = if current.next < end { inline(line, current.next, end) } else { Vec::new() };
        found.push(Section {
            inline: !values.is_empty(),
            role: current.role,
            label: current.label,
            deltas: current.deltas,
            values,
            first: at,
            last: at,
        });
        heading = cut.and_then(|cut| role::heading(line, cut)).filter(|h| h.next > end && found.len() < 24);
    }
}

fn inline(line: &Line<'_>, from: usize, to: usize) -> Vec<NamedValue> {
    values::plain(line, from, to).unwrap_or_default()
}

/// Claims of one after section against its base.
fn pair(base: &Section, previous: Option<&Section>, after: &Section, out: &mut Vec<Finding>) {
    for (index, value) in after.values.iter().enumerate() {
        let Some(before) = partner(base, value, index) else { continue };
        let delta = printed_delta(after, value, index);
        let named = if value.unit.is_none() && before.unit.is_some() { before } else { value };
        let mut finding = Finding::new(value.format, named.metric(), delta.clone());
        finding.scope = role::scope(&after.label);
        finding.runs = value.runs.or(before.runs).map(stated_runs);
        finding.baseline = role::baseline(&base.label);
        let chained = previous.and_then(|section| partner(section, value, index).map(|v| (section, v)));
        let first = base.first.min(after.first);
        finding = finding
            .with_values(before.measured(&base.label), value.measured(&after.label))
            .at(first, after.last.max(base.last));
        if let Some((section, chained)) = chained {
            choose_baseline(&mut finding, section, chained, &delta);
        }
        if !value.meanings.is_empty() {
            finding.readings = value.meanings.iter().map(|meaning| reading(&finding, meaning)).collect();
        }
        out.push(finding);
    }
}

fn stated_runs(count: u32) -> Runs {
    Runs { count, statistic: Statistic::Mean, text: format!("n = {count}") }
}

fn reading(finding: &Finding, meaning: &str) -> Reading {
    Reading {
        meaning: meaning.to_owned(),
        baseline: finding.baseline,
        before: finding.before.clone(),
        after: finding.after.clone(),
    }
}

/// The before value of the same name, else of the same place.
fn partner<'a>(base: &'a Section, value: &NamedValue, index: usize) -> Option<&'a NamedValue> {
    let named =
        base.values.iter().find(|v| !value.name.is_empty() && v.name == value.name && v.unit == value.unit);
    let placed =
        base.values.get(index).filter(|v| v.unit == value.unit || v.unit.is_none() || value.unit.is_none());
    named.or(placed.filter(|v| v.name == value.name || v.name.is_empty() || value.name.is_empty()))
}

/// The delta behind the value, else the label's: one for all, or one for each.
fn printed_delta(after: &Section, value: &NamedValue, index: usize) -> Delta {
    if value.delta != Delta::Missing {
        return value.delta.clone();
    }
    match after.deltas.as_slice() {
        [] => Delta::Missing,
        [one] => one.clone(),
        several => several.get(index).cloned().unwrap_or(Delta::Missing),
    }
}

/// With two possible baselines the printed change decides; if it fits both or
/// neither, both readings are kept.
fn choose_baseline(finding: &mut Finding, section: &Section, chained: &NamedValue, delta: &Delta) {
    let Delta::Percent { change } = delta else { return };
    let (Some(before), Some(after)) = (&finding.before, &finding.after) else { return };
    let fits = |base: f64| {
        let recomputed = 100.0 * (after.value.value / base - 1.0);
        (recomputed.abs() - change.value.abs()).abs() <= 0.15
    };
    let (from_base, from_previous) = (fits(before.value.value), fits(chained.value.value));
    let previous = chained.measured(&section.label);
    match (from_base, from_previous) {
        (true, false) => finding.baseline = Baseline::BaseKernel,
        (false, true) => {
            finding.before = Some(previous);
            finding.baseline = Baseline::PreviousPatch;
        }
        _ => {
            let mut first = reading(finding, "change against the first label");
            first.baseline = Baseline::BaseKernel;
            let mut second = reading(finding, "change against the label before");
            second.baseline = Baseline::PreviousPatch;
            second.before = Some(previous);
            finding.readings = vec![first, second];
        }
    }
}

/// Labels we do not know: `6.7.0: 1000 ops/s` then `6.7.0-lru: 1100 ops/s (+10%)`.
/// Only a printed change that fits the two values makes them a claim.
fn unnamed(lines: &[Line<'_>]) -> Option<Match> {
    let read = |line: &Line<'_>| {
        let heading = role::heading(line, 0)?;
        let mut values = values::plain(line, heading.next, line.tokens.len())?;
        (values.len() == 1).then(|| (heading.label, values.remove(0)))
    };
    let (base_label, base) = read(lines.first()?)?;
    let mut findings = Vec::new();
    let mut taken = 1;
    for (index, line) in lines.iter().enumerate().take(12).skip(1) {
        let Some((label, value)) = read(line) else { break };
        let Delta::Percent { change } = &value.delta else { break };
        let recomputed = 100.0 * (value.value.value / base.value.value - 1.0);
        if value.unit != base.unit || (recomputed.abs() - change.value.abs()).abs() > 0.3 {
            break;
        }
        let mut finding = Finding::new(value.format, value.metric(), value.delta.clone())
            .with_values(base.measured(&base_label), value.measured(&label))
            .at(0, index);
        finding.scope = role::scope(&label);
        findings.push(finding);
        taken = index + 1;
    }
    (!findings.is_empty()).then_some(Match { lines: taken, findings })
}
