//! Which side of a comparison a label names, and what of a series it covers.

use crate::patch::claim::{Baseline, Delta, Scope};
use crate::patch::lines::Line;
use crate::patch::token::{Kind, Token};

use super::quantity;

/// The side a label names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Before,
    After,
    Other,
}

const BEFORE: &[&str] = &[
    "before",
    "base",
    "baseline",
    "vanilla",
    "mainline",
    "original",
    "orig",
    "old",
    "unpatched",
    "without",
    "w/o",
    "stock",
    "upstream",
    "unmodified",
    "control",
    "mm-unstable",
    "mm-new",
    "mm-stable",
    "linux-next",
    "net-next",
    "tip",
    "reference",
    "none",
];
const AFTER: &[&str] = &[
    "after", "patched", "new", "with", "w/", "modified", "patch", "patches", "this", "series", "fixed", "fix",
];
const CHANGE: &[&str] =
    &["change", "delta", "diff", "difference", "gain", "improvement", "improved", "%change", "ratio", "δ"];

/// The side one word names.
pub(crate) fn role_of(word: &str) -> Role {
    let lower = word.to_lowercase();
    let plain = lower.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    if BEFORE.contains(&plain) {
        Role::Before
    } else if AFTER.contains(&plain) {
        Role::After
    } else {
        Role::Other
    }
}

/// Whether a column heading names the change.
pub(crate) fn is_change(word: &str) -> bool {
    let lower = word.to_lowercase();
    CHANGE.contains(&lower.trim_matches(|c: char| !c.is_alphanumeric() && c != '%'))
}

/// `After this series (+7.0%):` with the index of the first token behind it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heading {
    pub role: Role,
    pub label: String,
    pub deltas: Vec<Delta>,
    pub next: usize,
}

/// Reads a heading at token `from`: words, optional bracket, a colon; or a
/// known label that fills its line.
pub(crate) fn heading(line: &Line<'_>, from: usize) -> Option<Heading> {
    let tokens = &line.tokens;
    let start = from + if from == 0 { marks(line) } else { 0 };
    let first = tokens.get(start).filter(|t| t.kind == Kind::Word)?;
    let reach = tokens.len().min(start + 16);
    let colon = (start..reach).find(|i| tokens[*i].is_symbol(':'));
    let ending = ending_role(line);
    let role = ending.unwrap_or_else(|| role_of(first.text(line.text)));
    let equals = tokens.get(start + 1).is_some_and(|t| t.is_symbol('='));
    let end = match colon {
        Some(colon) => colon,
        None if role != Role::Other && equals => start + 1,
        None if role != Role::Other && only_label(line, start, role) => {
            tokens.len() - tokens.iter().rev().take_while(|t| t.is_symbol('*') || t.is_symbol('=')).count()
        }
        None if role != Role::Other => {
            let end = value_behind(line, start)?;
            let label = line.text[first.start..tokens[end - 1].end].trim().to_owned();
            return Some(Heading { role, label, deltas: Vec::new(), next: end });
        }
        None => return None,
    };
    let label = line.text[first.start..tokens[end - 1].end].trim().trim_end_matches('*');
    let values =
        tokens[start..end].iter().filter(|t| matches!(t.kind, Kind::Seconds(_) | Kind::Arrow)).count();
    let numbers = tokens[start..end].iter().filter(|t| t.number().is_some()).count();
    if values > 0 || numbers > 3 || label.len() > 120 {
        return None;
    }
    let deltas = quantity::deltas(&tokens[..end], start, true);
    let next = if colon.is_some() || equals { end + 1 } else { tokens.len() };
    Some(Heading { role, label: label.to_owned(), deltas, next: next.min(tokens.len()) })
}

/// `fio on a brd device, before:` ends with the side it heads.
fn ending_role(line: &Line<'_>) -> Option<Role> {
    let [.., mark, word, colon] = line.tokens.as_slice() else { return None };
    let parted = colon.is_symbol(':') && (mark.is_symbol(',') || mark.is_symbol('-'));
    let role = role_of(word.text(line.text));
    (parted && role != Role::Other && line.tokens.len() <= 16).then_some(role)
}

/// `baseline 33.10s`, `with series 31.45s`: the value follows within a few words.
fn value_behind(line: &Line<'_>, start: usize) -> Option<usize> {
    let tokens = &line.tokens;
    let end = (start + 1..tokens.len().min(start + 4))
        .find(|at| matches!(tokens[*at].kind, Kind::Number(_) | Kind::Seconds(_)))?;
    let words = tokens[start..end].iter().all(|t| t.kind == Kind::Word);
    words.then_some(end)
}

/// Marks of a list or of emphasis in front: `-`, `* `, `**`, `=== `.
fn marks(line: &Line<'_>) -> usize {
    let mark = |t: &Token| matches!(t.text(line.text), "-" | "*" | "o" | "•" | "#" | "=" | "[");
    line.tokens.iter().take(6).take_while(|t| mark(t)).count()
}

/// A label without a colon that stands alone on its line.
fn only_label(line: &Line<'_>, start: usize, role: Role) -> bool {
    let words = &line.tokens[start..];
    let both = words.iter().skip(1).map(|t| role_of(t.text(line.text))).any(|other| {
        let opposite = if role == Role::Before { Role::After } else { Role::Before };
        other == opposite
    });
    let emphasis = words.iter().rev().take_while(|t| t.is_symbol('*') || t.is_symbol('=')).count();
    let words = &words[..words.len() - emphasis];
    let plain = words.iter().all(|t| !matches!(t.kind, Kind::Number(_) | Kind::Symbol('|' | '=')));
    words.len() <= 6 && plain && !both && !line.text.trim_end().ends_with(['.', ',', ';'])
}

/// Where another before/after heading starts on the same line, behind `from`.
pub(crate) fn next_heading(line: &Line<'_>, from: usize) -> Option<usize> {
    let tokens = &line.tokens;
    (from..tokens.len()).find(|at| {
        let named = tokens[*at].kind == Kind::Word && role_of(tokens[*at].text(line.text)) != Role::Other;
        // `(-1.2% vs base: …)` opens nothing.
        let compared = tokens.get(at.wrapping_sub(1)).is_some_and(|t| t.text(line.text) == "vs");
        let behind_number = *at > from && !compared;
        named && behind_number && (heading_mark(tokens, *at) || value_behind(line, *at).is_some())
    })
}

fn heading_mark(tokens: &[Token], at: usize) -> bool {
    (at + 1..tokens.len().min(at + 5)).any(|i| tokens[i].is_symbol(':') || tokens[i].is_symbol('='))
}

/// What of the series a label covers.
pub(crate) fn scope(label: &str) -> Scope {
    let lower = label.to_lowercase();
    let after_patch = lower.find("patch").map(|at| &lower[at + 5..]);
    if let Some(rest) = after_patch {
        let rest = rest.trim_start_matches("es").trim_start_matches(['s', ' ', '#']);
        let range: String =
            rest.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '-' | '~')).collect();
        let mut ends = range.split(['-', '~']).filter_map(|n| n.parse::<u32>().ok());
        if let Some(first) = ends.next().filter(|n| *n < 1000) {
            return Scope::Patches { first, last: ends.next().unwrap_or(first).max(first) };
        }
    }
    if lower.contains("series") || lower.contains("patchset") || lower.contains("patches") {
        Scope::Series
    } else if lower.contains("this patch") || lower.contains("the patch") {
        Scope::ThisPatch
    } else {
        Scope::Unstated
    }
}

/// What a "before" label says about the baseline.
pub(crate) fn baseline(label: &str) -> Baseline {
    let lower = label.to_lowercase();
    let base = ["base", "vanilla", "mainline", "upstream", "mm-unstable", "without", "stock"];
    if lower.contains("this patch") || lower.contains("prev patch") || lower.contains("previous patch") {
        Baseline::PreviousPatch
    } else if base.iter().any(|word| lower.contains(word)) || lower.contains("series") {
        Baseline::BaseKernel
    } else {
        Baseline::Unstated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::lines;

    fn read(text: &str) -> Option<(Role, String, usize)> {
        let mut line = lines::streams(text).remove(0).lines.remove(0);
        line.tokenise();
        heading(&line, 0).map(|h| (h.role, h.label, h.deltas.len()))
    }

    #[test]
    fn headings_with_and_without_values() {
        assert_eq!(read("Before: 1000"), Some((Role::Before, "Before".into(), 0)));
        assert_eq!(
            read("After this series (+5.0%, +3.0%):"),
            Some((Role::After, "After this series (+5.0%, +3.0%)".into(), 2))
        );
        assert_eq!(read("- w/o patch:  3.2 s"), Some((Role::Before, "w/o patch".into(), 0)));
        assert_eq!(read("READ: 5 MiB/s"), Some((Role::Other, "READ".into(), 0)));
        assert_eq!(read("After this patch"), Some((Role::After, "After this patch".into(), 0)));
        assert_eq!(read("**Unpatched**"), Some((Role::Before, "Unpatched".into(), 0)));
        assert_eq!(read("=== With the patch ==="), Some((Role::After, "With the patch".into(), 0)));
        assert_eq!(read("Before   After   Change"), None);
        assert_eq!(read("with more words than any label would ever have here"), None);
    }

    #[test]
    fn labels_tell_their_scope() {
        assert_eq!(scope("After patch 1-3"), Scope::Patches { first: 1, last: 3 });
        assert_eq!(scope("After patch 2"), Scope::Patches { first: 2, last: 2 });
        assert_eq!(scope("After this series"), Scope::Series);
        assert_eq!(scope("After this patch"), Scope::ThisPatch);
        assert_eq!(baseline("Before this patch"), Baseline::PreviousPatch);
    }
}
