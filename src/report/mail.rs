//! The result as a block of text for a reply: at most 72 columns.

use super::number::Quantity;
use super::text::{arm_rows, paragraph, primary_metrics};
use super::words;
use crate::analyze::{CampaignAnalysis, Comparison};
use crate::config::ArmRole;

/// Mail programs and list archives break longer lines.
const WIDTH: u16 = 72;

/// What ran, on what, n, before, after, delta with interval, verdict, claim, how to reproduce.
pub fn mail(analysis: &CampaignAnalysis) -> String {
    let mut text = String::new();
    let manifest = &analysis.manifest;
    paragraph(&mut text, "", &format!("run-bench: {}", analysis.title), WIDTH);
    paragraph(&mut text, "  on    ", &format!("{}, Linux {}", manifest.host, manifest.kernel.release), WIDTH);
    for arm in &analysis.arms {
        let role = match arm.role {
            ArmRole::Baseline => "baseline",
            ArmRole::Candidate => "candidate",
            ArmRole::Control => "control, equal to the baseline",
            ArmRole::Placebo => "placebo, other layout only",
        };
        let settings =
            if arm.settings.is_empty() { String::new() } else { format!("; {}", arm.settings.join(", ")) };
        paragraph(&mut text, "  arm   ", &format!("{}: {role}{settings}", arm.name), WIDTH);
    }
    for change in &analysis.changes {
        paragraph(&mut text, "  scale ", change, WIDTH);
    }
    paragraph(&mut text, "  runs  ", &words::trials(analysis), WIDTH);
    for first in primary_metrics(analysis) {
        text.push('\n');
        metric(&mut text, analysis, first);
    }
    if let Some(claim) = &analysis.claim {
        text.push('\n');
        paragraph(
            &mut text,
            "Claim: ",
            &format!("{}. {}.", words::claim_row(claim), claim.verdict.text()),
            WIDTH,
        );
        for difference in &claim.differences {
            paragraph(&mut text, "  differs: ", difference, WIDTH);
        }
    }
    if let Some(forecast) = &analysis.forecast {
        text.push('\n');
        paragraph(&mut text, "Forecast: ", &format!("{}.", words::forecast_row(forecast)), WIDTH);
        for line in words::forecast_lines(forecast) {
            paragraph(&mut text, "  ", &line, WIDTH);
        }
    }
    if let Some(reason) = &analysis.functional_only {
        text.push('\n');
        paragraph(&mut text, "", &format!("No statement about time may rest on this run: {reason}."), WIDTH);
    }
    let serious = [
        "control-moved",
        "floor-wider-than-change",
        "confounder",
        "layout-noise",
        "boot",
        "hosts",
        "missing-blocks",
        "drift",
        "bimodal",
    ];
    for note in analysis.noise.iter().filter(|n| serious.contains(&n.kind.as_str())) {
        text.push('\n');
        paragraph(&mut text, "Note: ", &note.message, WIDTH);
    }
    text.push('\n');
    let experiment = format!(
        "run-bench run experiment.toml (seed {}, experiment {:.12})",
        manifest.seed, manifest.experiment_hash
    );
    paragraph(&mut text, "Reproduce: ", &experiment, WIDTH);
    text
}

fn metric(text: &mut String, analysis: &CampaignAnalysis, first: &Comparison) {
    let rows = arm_rows(analysis, first);
    let quantity = Quantity::of(first.metric.unit, rows.iter().filter_map(|r| r.1).map(|s| s.mean));
    let unit = if quantity.symbol().is_empty() { String::new() } else { format!(" ({})", quantity.symbol()) };
    let axis = words::axis(&first.metric.label, first.metric.direction);
    paragraph(text, "", &format!("{}{unit}: {axis}", first.metric.id), WIDTH);
    let name_width = rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0).clamp(3, 20);
    let mut line = |cells: [&str; 5]| {
        let name: String = cells[0].chars().take(name_width).collect();
        let row =
            format!("  {name:<name_width$} {:>5} {:>11} {:>7} {:>9}", cells[1], cells[2], cells[3], cells[4]);
        text.push_str(row.trim_end());
        text.push('\n');
    };
    line(["arm", "n", "mean", "CV", "change"]);
    for (name, summary, comparison) in &rows {
        let change = comparison.and_then(words::raw).map_or(String::new(), |r| words::change(r.0));
        line([
            name,
            &summary.map_or("0".to_owned(), |s| s.n.to_string()),
            &summary.map_or("-".to_owned(), |s| quantity.number(s.mean)),
            &words::variation(summary.and_then(|s| s.coefficient_of_variation)),
            &change,
        ]);
    }
    for comparison in rows.iter().filter_map(|r| r.2) {
        let interval =
            words::raw(comparison).and_then(|r| r.1).map_or("no interval".to_owned(), words::interval);
        let layout = if comparison.within_layout_noise() { ", within layout noise" } else { "" };
        let resolution = words::resolution(comparison).map_or(String::new(), |r| format!("; {r}"));
        let sentence = format!(
            "{}: {}{layout}, {interval}, {}{resolution}",
            comparison.candidate.arm,
            words::verdict(comparison),
            words::basis(comparison)
        );
        paragraph(text, "  ", &sentence, WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::analyze;
    use crate::report::fixture::{EXPERIMENT, rich_campaign};
    use crate::units::Percent;

    #[test]
    fn the_mail_fits_72_columns() {
        let results = tempfile::tempdir().expect("a folder");
        let analysis = analyze(&rich_campaign(results.path(), EXPERIMENT, Percent(2.1))).expect("analysed");
        let text = mail(&analysis);
        let long = text.lines().find(|l| l.chars().count() > usize::from(WIDTH));
        assert!(long.is_none(), "{long:?}");
        assert!(text.is_ascii(), "plain letters survive every mail program");
        insta::assert_snapshot!(text);
    }
}
