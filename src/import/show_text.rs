//! What was read from a mail, as text: mails, settings, commands, claims.

use std::fmt::Write as _;

use crate::patch::{Claim, Command, Document, Setting};

use super::audit_text::{delta_text, values_text};

/// Lists everything a document holds.
pub fn show_text(document: &Document) -> String {
    let mut out = String::new();
    for series in &document.series {
        let total = series.total.map_or(String::new(), |t| format!(" of {t}"));
        let _ = writeln!(out, "series \"{}\", version {}{total}", series.title, series.version);
        for part in &series.parts {
            let _ = writeln!(out, "  {} {}", part.number, part.title);
        }
        for listed in &series.listed {
            let _ = writeln!(out, "  listed: {listed}");
        }
    }
    for mail in &document.mails {
        let author = mail.headers.author.as_deref().unwrap_or("unknown author");
        let date = mail.headers.date.as_deref().unwrap_or("no date");
        let _ = writeln!(out, "mail \"{}\" by {author}, {date}", mail.subject.title);
        for file in &mail.diff.files {
            let warning = if file.outside_tree { " (leaves the tree; never opened)" } else { "" };
            let _ = writeln!(out, "  {} +{} -{}{warning}", file.path, file.added, file.removed);
        }
        let functions = mail.diff.functions();
        if !functions.is_empty() {
            let _ = writeln!(out, "  functions: {}", functions.join(", "));
        }
        for tag in &mail.tags {
            let _ = writeln!(out, "  {}: {}", tag.name, tag.value);
        }
        for note in &mail.notes {
            let _ = writeln!(out, "  note: {note}");
        }
    }
    for (index, setting) in document.settings.iter().enumerate() {
        show_setting(&mut out, index, setting);
    }
    document.claims.iter().for_each(|claim| show_claim(&mut out, claim));
    if document.claims.is_empty() {
        out.push_str("no claims were read\n");
    }
    out
}

fn show_claim(out: &mut String, claim: &Claim) {
    let _ = write!(
        out,
        "{} {}: {}, {}",
        claim.id,
        claim.metric.name,
        values_text(claim),
        delta_text(&claim.delta)
    );
    if let Some(runs) = &claim.runs {
        let _ = write!(out, ", n = {}", runs.count);
    }
    if let Some(setting) = claim.setting {
        let _ = write!(out, ", setting {}", setting + 1);
    }
    if claim.quoted > 0 {
        let _ = write!(out, ", quoted {} deep", claim.quoted);
    }
    if claim.repeats > 0 {
        let _ = write!(out, ", repeated {} times", claim.repeats);
    }
    out.push('\n');
    for reading in claim.readings.iter().filter(|_| claim.is_ambiguous()) {
        let _ = writeln!(out, "  ambiguous: {}", reading.meaning);
    }
}

fn show_setting(out: &mut String, index: usize, setting: &Setting) {
    let mut facts = Vec::new();
    facts.extend(setting.machine.as_ref().map(|m| format!("machine {m}")));
    facts.extend(setting.memcg_limit.map(|l| format!("memcg {l}")));
    if let Some(swap) = &setting.swap {
        let kind = swap.kind.map_or("unstated kind".to_owned(), |k| format!("{k:?}").to_lowercase());
        let size = swap.size.map_or("unstated size".to_owned(), |s| s.to_string());
        facts.push(format!("swap {kind}, {size}"));
    }
    facts.extend(setting.kernel_base.as_ref().map(|k| format!("base {k}")));
    facts.extend(setting.runs.as_ref().map(|r| format!("{} runs", r.count)));
    let _ = writeln!(out, "setting {}: {}", index + 1, facts.join("; "));
    if !setting.inherited.is_empty() {
        let _ = writeln!(out, "  carried over: {}", setting.inherited.join(", "));
    }
    for command in &setting.commands {
        show_command(out, command);
    }
}

fn show_command(out: &mut String, command: &Command) {
    let carried = if command.inherited { " (carried over)" } else { "" };
    let _ = writeln!(out, "  {}{carried}", command.workload.name());
    if !command.replaced.is_empty() {
        let _ = writeln!(out, "    ours instead of the author's: {}", command.replaced.join(", "));
    }
    if !command.unsupported.is_empty() {
        let _ = writeln!(out, "    unsupported: {}", command.unsupported.join(" "));
    }
}
