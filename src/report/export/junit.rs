//! JUnit XML, for gates of CI systems: one test case for each verdict.

use std::fmt::Write;

use super::Export;
use crate::analyze::{ClaimVerdict, Comparison, Verdict};
use crate::report::error::ReportError;
use crate::report::words;

pub(super) fn render(export: &Export<'_>) -> Result<String, ReportError> {
    let analysis = export.analysis;
    let mut cases = String::new();
    let (mut tests, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
    for comparison in analysis.deciding() {
        tests += 1;
        match comparison.verdict {
            Verdict::Worse => failures += 1,
            Verdict::Invalid => errors += 1,
            Verdict::Unresolved => skipped += 1,
            Verdict::Better | Verdict::Equivalent => {}
        }
        case(&mut cases, comparison);
    }
    if let Some(claim) = &analysis.claim {
        tests += 1;
        let name = format!("claim of {} in {}", words::change(claim.claimed), claim.metric);
        let (tag, count) = match claim.verdict {
            ClaimVerdict::Refuted => (Some("failure"), &mut failures),
            ClaimVerdict::NotResolvable | ClaimVerdict::NotSeenHere | ClaimVerdict::NotTested => {
                (Some("skipped"), &mut skipped)
            }
            ClaimVerdict::Reproduced | ClaimVerdict::SeenHere => (None, &mut skipped),
        };
        *count += usize::from(tag.is_some());
        let detail = format!("{}: {}; {}", claim.verdict.text(), words::claim_row(claim), claim.reason);
        element(&mut cases, ("claim", &name), tag, &detail);
    }
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"");
    let _ = writeln!(text, "<testsuites name=\"run-bench\" {counts}>");
    let stamp = analysis.manifest.created.strftime("%Y-%m-%dT%H:%M:%S");
    let _ = writeln!(
        text,
        "  <testsuite name=\"{}\" {counts} timestamp=\"{stamp}\" hostname=\"{}\">",
        escape(&analysis.campaign),
        escape(&analysis.manifest.host)
    );
    text.push_str(&cases);
    text.push_str("  </testsuite>\n</testsuites>\n");
    Ok(text)
}

fn case(cases: &mut String, comparison: &Comparison) {
    let name = format!("{} {}", comparison.candidate.arm, comparison.metric.id);
    let interval = words::raw(comparison)
        .and_then(|r| r.1)
        .map_or(String::new(), |i| format!(" {}", words::interval(i)));
    let detail = format!(
        "{}{interval}, {}; {}",
        words::headline(comparison),
        words::basis(comparison),
        comparison.reason
    );
    let tag = match comparison.verdict {
        Verdict::Worse => Some("failure"),
        Verdict::Invalid => Some("error"),
        Verdict::Unresolved => Some("skipped"),
        Verdict::Better | Verdict::Equivalent => None,
    };
    element(cases, (&comparison.workload, &name), tag, &detail);
}

fn element(cases: &mut String, (class, name): (&str, &str), tag: Option<&str>, detail: &str) {
    let _ = writeln!(cases, "    <testcase classname=\"{}\" name=\"{}\">", escape(class), escape(name));
    match tag {
        Some(tag) => {
            let _ = writeln!(cases, "      <{tag} message=\"{}\"/>", escape(detail));
        }
        None => {
            let _ = writeln!(cases, "      <system-out>{}</system-out>", escape(detail));
        }
    }
    cases.push_str("    </testcase>\n");
}

/// XML text; characters that XML cannot hold become question marks.
fn escape(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c if c.is_control() && !matches!(c, '\t' | '\n') => "?".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
