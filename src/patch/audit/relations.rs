//! How claims relate: baselines they share, conditions that differ between
//! their sides, sentences that say another number than the values.

use std::collections::BTreeMap;

use crate::patch::claim::{Baseline, Claim, Delta, DeviationKind, Format, Measured};
use crate::patch::document::Document;
use crate::patch::token::{self, Kind};
use crate::patch::workload::Workload;

use super::arithmetic::Arithmetic;
use super::{Note, NoteKind};

/// Notes of every claim, by its place in the document.
pub(super) fn notes(document: &Document, arithmetic: &[Arithmetic]) -> Vec<Vec<Note>> {
    let mut notes: Vec<Vec<Note>> = document.claims.iter().map(|claim| alone(document, claim)).collect();
    shared_baselines(&document.claims, &mut notes);
    sentences(&document.claims, arithmetic, &mut notes);
    contradictions(&document.claims, arithmetic, &mut notes);
    notes
}

fn note(kind: NoteKind, text: String) -> Note {
    Note { kind, text }
}

/// Notes that need only the claim itself.
fn alone(document: &Document, claim: &Claim) -> Vec<Note> {
    let mut found = Vec::new();
    if let (Some(before), Some(after)) = (&claim.before, &claim.after) {
        let (first, second) = (conditions(&before.label), conditions(&after.label));
        if !first.is_empty() && !second.is_empty() && first != second {
            let text = format!(
                "the labels state different conditions: before {}, after {}; the change may include both",
                first.join(", "),
                second.join(", ")
            );
            found.push(note(NoteKind::ConditionsDiffer, text));
        }
        let within = |side: &Measured| side.deviation.is_some_and(|d| d.kind == DeviationKind::WithinRun);
        if within(before) || within(after) {
            let text =
                "the printed deviation is over samples within one run; it does not tell how runs differ";
            found.push(note(NoteKind::WithinRunDeviation, text.to_owned()));
        }
    }
    if let (Some(runs), Some(repeats)) = (&claim.runs, memtier_repeats(document, claim))
        && repeats > 1
        && runs.count > repeats
        && runs.count.is_multiple_of(repeats)
    {
        let servers = runs.count / repeats;
        let text = format!(
            "{} runs = {servers} × -x {repeats}: either {} servers with one counted run each, or {servers} servers with {repeats} repeats each; repeats inside one server are not independent",
            runs.count, runs.count
        );
        found.push(note(NoteKind::RepeatsInRuns, text));
    }
    if claim.baseline == Baseline::Unstated && claim.format != Format::Prose {
        let text = "the mail does not say whether before is the base kernel or the previous patch";
        found.push(note(NoteKind::BaselineUnstated, text.to_owned()));
    }
    if claim.baseline == Baseline::BeforeFix {
        let text = "the sentence says that the change restores an earlier drop, so before is not the original kernel";
        found.push(note(NoteKind::BaselineUnstated, text.to_owned()));
    }
    found
}

fn memtier_repeats(document: &Document, claim: &Claim) -> Option<u32> {
    let setting = document.settings.get(claim.setting?)?;
    setting.commands.iter().find_map(|c| match &c.workload {
        Workload::Memtier(load) => load.repeats,
        _ => None,
    })
}

/// Sizes and counts in a label, such as `768M`; patch numbers and versions are none.
fn conditions(label: &str) -> Vec<String> {
    let tokens = token::tokens(label);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Kind::Number(number) = token.kind else { continue };
        let unit = tokens.get(at + 1).filter(|t| t.kind == Kind::Word && t.start == token.end);
        if let (Some(unit), None) = (unit, number.sign) {
            found.push(format!("{}{}", token.text(label), unit.text(label)));
        }
    }
    found
}

/// Two claims with one "before", or one whose "before" is another's "after".
fn shared_baselines(claims: &[Claim], notes: &mut [Vec<Note>]) {
    let mut befores: BTreeMap<String, usize> = BTreeMap::new();
    let mut afters: BTreeMap<String, usize> = BTreeMap::new();
    // One remark is enough for a table whose columns all stand against its first.
    let mut told: Option<usize> = None;
    let key = |claim: &Claim, side: &Measured| {
        format!("{}|{}|{}", claim.metric.name, side.value.value, side.value.decimals)
    };
    for (at, claim) in claims.iter().enumerate() {
        let (Some(before), Some(after)) = (&claim.before, &claim.after) else { continue };
        let before_key = key(claim, before);
        let column = claim.baseline == Baseline::FirstColumn;
        if column && told == Some(claim.message) && befores.contains_key(&before_key) {
            continue;
        }
        if let Some(other) = befores.get(&before_key) {
            told = column.then_some(claim.message).or(told);
            let text =
                format!("shares its before with {}; the two changes are not independent", claims[*other].id);
            notes[at].push(note(NoteKind::SharedBaseline, text));
        } else if let Some(other) = afters.get(&before_key) {
            let text =
                format!("its before is the after of {}: each is one step of a chain", claims[*other].id);
            notes[at].push(note(NoteKind::ChainedBaseline, text));
        }
        befores.entry(before_key).or_insert(at);
        afters.entry(key(claim, after)).or_insert(at);
    }
}

/// A sentence whose number no value near it gives.
fn sentences(claims: &[Claim], arithmetic: &[Arithmetic], notes: &mut [Vec<Note>]) {
    let mut valued: BTreeMap<(usize, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (at, claim) in claims.iter().enumerate() {
        if claim.before.is_some() && claim.format != Format::Lkp {
            valued.entry((claim.message, claim.setting)).or_default().push(at);
        }
    }
    for (at, claim) in claims.iter().enumerate() {
        let (Delta::Percent { change }, None) = (&claim.delta, &claim.before) else { continue };
        let Some(near) = valued.get(&(claim.message, claim.setting)) else { continue };
        let sizes: Vec<(usize, f64)> = near
            .iter()
            .take(20)
            .filter(|i| claims[**i].metric.direction == claim.metric.direction)
            .filter_map(|i| Some((*i, arithmetic[*i].recomputed?)))
            .collect();
        let printed = |i: &usize| match &claims[*i].delta {
            Delta::Percent { change: label } => (label.value.abs() - change.value.abs()).abs() <= 0.15,
            _ => false,
        };
        let agrees = sizes.iter().any(|(i, size)| {
            (size.abs() - change.value.abs()).abs() <= 0.15 + change.half_step || printed(i)
        });
        if let (Some((other, size)), false) = (sizes.first(), agrees) {
            let text = format!(
                "the sentence says {}%, the values of {} give {size:+.2}%; they may describe different runs",
                change.show(),
                claims[*other].id
            );
            notes[at].push(note(NoteKind::LabelAndProseDiffer, text));
        }
    }
}

/// Claims of one metric, setting and scope that point in opposite directions.
fn contradictions(claims: &[Claim], arithmetic: &[Arithmetic], notes: &mut [Vec<Note>]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (at, claim) in claims.iter().enumerate() {
        let after = claim.after.as_ref().map_or("", |a| a.label.as_str());
        if claim.before.is_none() || claim.setting.is_none() || claim.format == Format::Lkp {
            continue;
        }
        let key = format!("{}|{:?}|{:?}|{after}", claim.metric.name, claim.setting, claim.scope);
        let Some(other) = seen.insert(key, at) else { continue };
        if let (Some(first), Some(second)) = (arithmetic[other].recomputed, arithmetic[at].recomputed)
            && first * second < 0.0
        {
            let text = format!(
                "{} gives {first:+.2}% for the same metric under the same label, this gives {second:+.2}%; a condition that differs may be unstated",
                claims[other].id
            );
            notes[at].push(note(NoteKind::Contradiction, text));
        }
    }
}
