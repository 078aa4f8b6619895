//! The audit as a table for a terminal and as text to paste into a reply.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::patch::{ArithmeticVerdict, Claim, Convention, Delta, DeviationKind};

use super::audit::{AuditReport, AuditedClaim};
use super::noise::NoiseCheck;

/// The printed change in short.
pub(super) fn delta_text(delta: &Delta) -> String {
    match delta {
        Delta::Percent { change } => {
            format!("{}%", if change.sign.is_some() { change.show_signed() } else { change.show() })
        }
        Delta::Interval { low, high } => format!("[{}, {}]%", low.show_signed(), high.show_signed()),
        Delta::Difference { change } => change.show_signed(),
        Delta::Factor { factor } => format!("{}x", factor.show()),
        Delta::Null { words } => words.clone(),
        Delta::Missing => "-".to_owned(),
    }
}

/// Both values in short.
pub(super) fn values_text(claim: &Claim) -> String {
    let unit = claim.metric.unit.as_deref().map_or(String::new(), |u| format!(" {u}"));
    match (&claim.before, &claim.after) {
        (Some(before), Some(after)) => format!("{} -> {}{unit}", before.value.show(), after.value.show()),
        _ => "no values".to_owned(),
    }
}

fn verdict_text(verdict: ArithmeticVerdict) -> &'static str {
    match verdict {
        ArithmeticVerdict::Rounded => "agrees",
        ArithmeticVerdict::Truncated => "truncated",
        ArithmeticVerdict::LastDigit => "last digit",
        ArithmeticVerdict::Mismatch => "mismatch",
        ArithmeticVerdict::SignInverted => "sign inverted",
        ArithmeticVerdict::TooCoarse => "too coarse to check",
        ArithmeticVerdict::NoDelta => "no change printed",
        ArithmeticVerdict::NoValues => "no values",
    }
}

fn recomputed_text(one: &AuditedClaim) -> String {
    let arithmetic = &one.audit.arithmetic;
    match (arithmetic.convention, arithmetic.comparable, arithmetic.recomputed) {
        (Some(Convention::Difference), Some(value), _) => format!("{value:+.2}"),
        (_, Some(value), _) => format!("{value:+.2}%"),
        (_, None, Some(value)) => format!("{value:+.2}%"),
        _ => "-".to_owned(),
    }
}

/// A table of all claims, one a line, and the notes below it.
pub fn audit_table(report: &AuditReport) -> String {
    let mut rows = vec![
        ["claim", "metric", "before -> after", "printed", "recomputed", "arithmetic"].map(str::to_owned),
    ];
    for one in &report.claims {
        let ambiguous = if one.claim.is_ambiguous() { ", ambiguous" } else { "" };
        rows.push([
            one.claim.id.clone(),
            shorten(&one.claim.metric.name, 48),
            values_text(&one.claim),
            delta_text(&one.claim.delta),
            recomputed_text(one),
            format!("{}{ambiguous}", verdict_text(one.audit.arithmetic.verdict)),
        ]);
    }
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    for one in &report.claims {
        for remark in remarks(one) {
            let _ = writeln!(out, "{}: {remark}", one.claim.id);
        }
    }
    out
}

fn shorten(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        text.to_owned()
    } else {
        format!("{}…", text.chars().take(most - 1).collect::<String>())
    }
}

/// Everything worth saying about one claim, a sentence each.
fn remarks(one: &AuditedClaim) -> Vec<String> {
    let mut found = Vec::new();
    let arithmetic = &one.audit.arithmetic;
    let printed = delta_text(&one.claim.delta);
    match arithmetic.verdict {
        ArithmeticVerdict::Mismatch => found.push(format!(
            "the printed values give {}, the text says {printed}; a typing slip or a value from another run would explain it",
            recomputed_text(one)
        )),
        ArithmeticVerdict::SignInverted => {
            found.push(format!("the printed values give {}, the text says {printed}: the sign is turned", recomputed_text(one)));
        }
        ArithmeticVerdict::Truncated => found.push(format!("{} was cut to {printed} instead of rounded", recomputed_text(one))),
        _ => {}
    }
    match arithmetic.convention {
        Some(Convention::PlusIsBetter) => {
            found.push("plus means better here, although less is better for this metric".to_owned())
        }
        Some(Convention::OverAfter) => found.push("the change is relative to the value after".to_owned()),
        Some(Convention::SpeedUp) => found.push("the change is a speed-up, before / after - 1".to_owned()),
        _ => {}
    }
    if one.claim.is_ambiguous() {
        let meanings: Vec<&str> = one.claim.readings.iter().map(|r| r.meaning.as_str()).collect();
        found.push(format!("can be read in {} ways: {}", meanings.len(), meanings.join("; or ")));
    }
    for mean in one.audit.means.iter().filter(|m| !m.fits) {
        let counts: Vec<String> = mean.fitting.iter().map(u32::to_string).collect();
        let fitting = if counts.is_empty() {
            "no count up to 60 fits".to_owned()
        } else {
            format!("{} would fit", counts.join(", "))
        };
        found.push(format!(
            "the mean {} ({}) is not one of {} runs logged in steps of 0.01; {fitting}. A dropped run is the likely reason",
            mean.mean, mean.label, mean.stated
        ));
    }
    found.extend(one.audit.notes.iter().map(|note| note.text.clone()));
    found.extend(noise_text(one));
    found
}

fn noise_text(one: &AuditedClaim) -> Option<String> {
    let noise = match &one.noise {
        NoiseCheck::Checked(noise) => noise,
        NoiseCheck::Unknown { reason } => {
            let within = [&one.claim.before, &one.claim.after]
                .into_iter()
                .flatten()
                .any(|s| s.deviation.is_some_and(|d| d.kind == DeviationKind::WithinRun));
            let stated = one.claim.runs.is_some() && !within;
            return stated.then(|| format!("its noise cannot be told: {reason}"));
        }
    };
    let mut text = format!(
        "{} runs a side with deviations of {:.2}% and {:.2}%: 95% interval {:+.1}% to {:+.1}%",
        noise.runs, noise.variation_before, noise.variation_after, noise.low, noise.high
    );
    if let (Some(t), Some(p)) = (noise.t, noise.p) {
        let p = if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
        let _ = write!(text, " (Welch t = {t:.2}, df {:.1}, {p})", noise.df);
    }
    if let (Some(size), Some(power), Some(needed)) = (noise.size, noise.power, noise.runs_needed) {
        let _ =
            write!(text, "; power at {size:+.1}% is {:.0}%, 90% needs {needed} runs a side", 100.0 * power);
    }
    Some(text)
}

/// Columns of a reply.
const REPLY: usize = 72;

/// The audit as text for a reply: claims with something to say, and each remark once.
pub fn audit_mail_text(report: &AuditReport) -> String {
    let mut out = String::new();
    let subject = report.mails.first().map_or("", |mail| mail.subject.title.as_str());
    paragraph(&mut out, "", &format!("Figures of \"{subject}\", recomputed from the text of the mail:"));
    out.push('\n');
    let mut said: BTreeSet<String> = BTreeSet::new();
    for one in &report.claims {
        let new: Vec<String> =
            remarks(one).into_iter().filter(|remark| said.insert(remark.clone())).collect();
        if new.is_empty() {
            continue;
        }
        let claim = &one.claim;
        let head = format!(
            "* {} {}: {}, {}",
            claim.id,
            shorten(&claim.metric.name, 48),
            values_text(claim),
            delta_text(&claim.delta)
        );
        paragraph(&mut out, "", &head);
        new.iter().for_each(|remark| paragraph(&mut out, "    ", remark));
    }
    out.push('\n');
    paragraph(&mut out, "", &sum_of_verdicts(report));
    out
}

/// How many claims there are of each verdict.
fn sum_of_verdicts(report: &AuditReport) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for one in &report.claims {
        let text = verdict_text(one.audit.arithmetic.verdict);
        match counts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => counts.push((text, 1)),
        }
    }
    let parts: Vec<String> = counts.iter().map(|(text, count)| format!("{text} {count}")).collect();
    match report.claims.len() {
        0 => "No claims were read.".to_owned(),
        1 => format!("1 claim was read: {}.", parts.join(", ")),
        count => format!("{count} claims were read: {}.", parts.join(", ")),
    }
}

fn paragraph(out: &mut String, indent: &str, text: &str) {
    for line in wrap(text, REPLY - indent.len()) {
        let _ = writeln!(out, "{indent}{line}");
    }
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("never empty");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::audit_report;
    use crate::patch;

    const MAIL: &str = "From: Ada\nSubject: [PATCH] mm: foo\n\nTested in a 2G memcg on a AMD EPYC 9X99 with:\n\n  \
        memtier_benchmark -S /tmp/s -c 1 -t 2 -x 6 -d 1024\n\nAverage of 18 test runs:\n\n\
        Before: 44000.50 Ops/sec\nAfter:  44880.25 Ops/sec (+1.6%)\n\nBefore: 10.0 s\nAfter: 9.0 s (-10.0%)\n";

    #[test]
    fn table_and_reply() {
        let report = audit_report(&patch::read(MAIL.as_bytes()).expect("a mail"));
        insta::assert_snapshot!(audit_table(&report), @r##"
        claim  metric   before -> after               printed  recomputed  arithmetic
        c1     Ops/sec  44000.50 -> 44880.25 Ops/sec  +1.6%    +2.00%      mismatch
        c2     s        10.0 -> 9.0 s                 -10.0%   -10.00%     agrees
        c1: the printed values give +2.00%, the text says +1.6%; a typing slip or a value from another run would explain it
        c1: 18 runs = 3 × -x 6: either 18 servers with one counted run each, or 3 servers with 6 repeats each; repeats inside one server are not independent
        c1: its noise cannot be told: no deviation across runs is printed for both sides
        c2: 18 runs = 3 × -x 6: either 18 servers with one counted run each, or 3 servers with 6 repeats each; repeats inside one server are not independent
        c2: its noise cannot be told: no deviation across runs is printed for both sides
        "##);
        insta::assert_snapshot!(audit_mail_text(&report), @r##"
        Figures of "mm: foo", recomputed from the text of the mail:

        * c1 Ops/sec: 44000.50 -> 44880.25 Ops/sec, +1.6%
            the printed values give +2.00%, the text says +1.6%; a typing slip
            or a value from another run would explain it
            18 runs = 3 × -x 6: either 18 servers with one counted run each, or
            3 servers with 6 repeats each; repeats inside one server are not
            independent
            its noise cannot be told: no deviation across runs is printed for
            both sides

        2 claims were read: mismatch 1, agrees 1.
        "##);
    }
}
