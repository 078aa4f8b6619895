//! Numbers that look like results and are none: size reports, struct layouts,
//! spam scores, diffstats, counters, histograms and profiles.

use crate::patch::lines::Line;

use super::finding::Match;

/// Takes the lines of a decoy, without findings.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    let line = lines.first()?;
    let text = line.text.trim();
    let taken = struct_layout(lines).or_else(|| bloat(lines)).or_else(|| one_line(text).then_some(1))?;
    Some(Match { lines: taken, findings: Vec::new() })
}

/// bloat-o-meter: `add/remove: … up/down: …` to its `Total:` line.
fn bloat(lines: &[Line<'_>]) -> Option<usize> {
    let text = lines.first()?.text.trim_start();
    if text.starts_with("Total: Before=") {
        return Some(1);
    }
    if !(text.starts_with("add/remove:") && text.contains("up/down:")) {
        return None;
    }
    let last = lines.iter().take(100).position(|l| l.text.trim_start().starts_with("Total: Before="));
    Some(last.map_or(1, |at| at + 1))
}

/// pahole: `struct x {` with offset comments up to the closing brace.
fn struct_layout(lines: &[Line<'_>]) -> Option<usize> {
    let text = lines.first()?.text.trim_start();
    if !(text.starts_with("struct ") && text.trim_end().ends_with('{')) {
        return None;
    }
    // Offsets stand in the first lines of a layout; without them no end is looked for.
    if !lines.iter().take(4).any(|l| l.text.contains("/*")) {
        return None;
    }
    let reach = lines.iter().take(200);
    let end = reach.clone().position(|l| l.text.trim_start().starts_with('}'))?;
    let commented = lines[..end].iter().any(|l| l.text.contains("/*"));
    commented.then_some(end + 1)
}

fn one_line(text: &str) -> bool {
    let starts = [
        "base-commit:",
        "prerequisite-patch-id:",
        "index ",
        "Link to v",
        "X-Spam",
        "/* size:",
        "/* XXX",
        "/* last cacheline",
        "/* --- cacheline",
        "Mem:",
        "Swap:",
        "total used free",
    ];
    starts.iter().any(|start| text.starts_with(start))
        || text.contains("| wc -l")
        || text.contains("|wc -l")
        || (text.contains("score=") && text.contains("required="))
        || text.contains("/* size:")
        || diffstat(text)
        || histogram(text)
        || counter(text)
        || profile(text)
}

/// `mm/vmscan.c | 12 ++++++++----` and `1 file changed, 8 insertions(+)`.
fn diffstat(text: &str) -> bool {
    if text.contains(" changed, ") && (text.contains("insertion") || text.contains("deletion")) {
        return true;
    }
    let Some((path, rest)) = text.rsplit_once(" | ") else { return false };
    let mut words = rest.split_whitespace();
    let count = words.next().is_some_and(|w| w == "Bin" || w.bytes().all(|b| b.is_ascii_digit()));
    let marks =
        words.next().is_none_or(|w| w.bytes().all(|b| matches!(b, b'+' | b'-')) || w.starts_with("->"));
    count && marks && (path.contains('/') || path.contains('.')) && !path.contains(" | ")
}

/// `usecs : count distribution` and `0 -> 1 : 3 |****    |`.
fn histogram(text: &str) -> bool {
    let bars = text.ends_with('|') && (text.contains("|*") || text.contains("|@") || text.ends_with("  |"));
    (bars && text.contains("->")) || (text.contains("count") && text.contains("distribution"))
}

/// `hugepages-64kB/stats/swpout:17644`.
fn counter(text: &str) -> bool {
    let Some((path, value)) = text.rsplit_once(':') else { return false };
    path.contains("/stats/") && !path.contains(' ') && value.trim().bytes().all(|b| b.is_ascii_digit())
}

/// `12.03%  symbol` or `12.03% [k] symbol` of a profile: a share and a name.
fn profile(text: &str) -> bool {
    let mut words = text.trim_start_matches(['|', '-', ' ']).split_whitespace();
    let share = words.next().and_then(|w| w.strip_suffix('%')).filter(|w| !w.starts_with(['+', '-']));
    let share = share.is_some_and(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    let rest: Vec<&str> = words.take(7).collect();
    let symbol = rest.last().is_some_and(|w| w.contains('_') || w.starts_with("0x") || rest.contains(&"[k]"));
    share && symbol && rest.len() <= 6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::lines;

    #[test]
    fn decoys_are_taken_whole() {
        let taken = |text: &str| {
            let lines = lines::streams(text).remove(0).lines;
            recognise(&lines).map(|m| m.lines)
        };
        for (text, lines) in [
            (
                "add/remove: 0/0 grow/shrink: 1/2 up/down: 4/-169 (-165)\nf 10 6 -4\nTotal: Before=26056243, After=26056078, chg -0.00%",
                3,
            ),
            ("struct base {\n int a; /* 0 4 */\n /* size: 64, cachelines: 1 */\n};", 4),
            (" mm/vmscan.c | 12 ++++++++----", 1),
            (" 1 file changed, 8 insertions(+), 4 deletions(-)", 1),
            ("Before: grep foo bar | wc -l => 18", 1),
            ("hugepages-64kB/stats/swpout:17644", 1),
            ("12.03%  folio_add_lru", 1),
            ("   4 -> 7  : 123 |*****     |", 1),
            ("X-Spam-Status: No, score=-2.1 required=5.0", 1),
        ] {
            assert_eq!(taken(text), Some(lines), "{text}");
        }
        for text in ["Before: 1000.00 Ops/sec", "5.0% better", "48 / 768M | 1 / 2 / +100%"] {
            assert_eq!(taken(text), None, "{text}");
        }
    }
}
