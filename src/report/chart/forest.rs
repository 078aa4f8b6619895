//! All changes with their intervals, the margin and the claim.

use super::error::ChartError;
use super::frame::{CLAIM, Frame, Key, LABEL, Words, interval_row};
use super::gallery::{Chart, Source};
use super::picture::{Align, Text, text_width};
use super::scale::{Axis, Scale};
use super::theme::{Ink, Marker};
use crate::analyze::{Comparison, Verdict};
use crate::config::ArmRole;
use crate::metric::Direction;
use crate::report::words;
use crate::units::Percent;

const ROW: f64 = 26.0;
/// Exploratory rows at most, the largest first.
const MOST_EXPLORATORY: usize = 12;

struct Row<'a> {
    comparison: &'a Comparison,
    raw: Percent,
    interval: Option<(Percent, Percent)>,
}

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let rows = rows(source);
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let analysis = source.analysis;
    let title = analysis.deciding().map(words::finding).collect::<Vec<_>>().join("; ");
    let n = rows[0].comparison.result.as_ref().map_or(0, |r| r.paired.n);
    let kind = rows[0].comparison.result.as_ref().map_or("interval", |r| r.interval_kind.name());
    let words = Words {
        title: format!(
            "{title}{}",
            if analysis.deciding().count() == 1 { metric_of(source) } else { String::new() }
        ),
        note: format!(
            "Change against {} with its {kind}, n = {}. Arrows say which way is better. Shaded: within the margin of {:.2}%, of no practical interest.",
            rows[0].comparison.baseline.arm,
            words::count(n, "block"),
            analysis.question.margin.0
        ),
        keys: keys(source),
    };
    let several = analysis.arms.len() > 2;
    let labels: Vec<String> =
        rows.iter().map(|r| label(r.comparison, several && r.comparison.primary)).collect();
    let left =
        labels.iter().map(|l| text_width(l, LABEL, true)).fold(0.0, f64::max).clamp(120.0, 330.0) + 14.0;
    let extra = if rows.iter().any(|r| !r.comparison.primary) { ROW } else { 0.0 };
    let mut frame = Frame::new(&words, left, 190.0, ROW * rows.len() as f64 + extra + 8.0);
    let ends =
        rows.iter().flat_map(|r| [r.interval.map(|i| i.0.0), Some(r.raw.0), r.interval.map(|i| i.1.0)]);
    let claimed = analysis.claim.as_ref().map(|c| c.claimed.0);
    let margin = analysis.question.margin.0;
    let values = ends.flatten().chain(claimed).chain([-1.3 * margin, 1.3 * margin]);
    let scale = Scale::linear(Axis::Change, values, frame.x_pixels(), 7)?;
    let (top, bottom) = (frame.top, frame.bottom);
    frame.picture.rectangle((scale.at(-margin), top), (scale.at(margin), bottom), Ink::Margin, 1.0);
    frame.x_axis(&scale, "change");
    frame.picture.line((scale.at(0.0), top), (scale.at(0.0), bottom), Ink::Axis, 1.5);
    let mut y = top + 4.0 + ROW / 2.0;
    let mut exploratory = false;
    for (row, label) in rows.iter().zip(&labels) {
        if !row.comparison.primary && !exploratory {
            exploratory = true;
            frame.row_label(y + 3.0, "exploratory", Ink::Muted, false);
            y += ROW;
        }
        draw_row(source, &mut frame, &scale, row, (y, label));
        y += ROW;
    }
    let chart_title = words.title.clone();
    Ok(vec![Chart::new("forest", chart_title, frame)])
}

fn metric_of(source: &Source<'_>) -> String {
    let metric = source.analysis.deciding().next().map(|c| &c.metric);
    metric.map_or(String::new(), |m| format!(" in {}", m.id))
}

fn keys(source: &Source<'_>) -> Vec<Key> {
    let analysis = source.analysis;
    let mut keys: Vec<Key> = analysis
        .arms
        .iter()
        .filter(|a| a.role != ArmRole::Baseline)
        .map(|a| {
            let what = match a.role {
                ArmRole::Control => " (control: equal to the baseline)",
                ArmRole::Placebo => " (placebo: other layout only)",
                ArmRole::Baseline | ArmRole::Candidate => "",
            };
            source.key(&a.name, format!("{}{what}", a.name))
        })
        .collect();
    if let Some(claim) = &analysis.claim {
        keys.push(Key { style: CLAIM, text: format!("claimed: {}", words::change(claim.claimed)) });
    }
    keys
}

/// Deciding rows, controls, then the exploratory ones by the size of their t.
fn rows<'a>(source: &Source<'a>) -> Vec<Row<'a>> {
    let row = |comparison: &'a Comparison| {
        let (raw, interval) = words::raw(comparison)?;
        Some(Row { comparison, raw, interval })
    };
    let all = &source.analysis.comparisons;
    let mut rows: Vec<Row<'a>> = all.iter().filter(|c| c.primary).filter_map(row).collect();
    let mut others: Vec<Row<'a>> = all.iter().filter(|c| !c.primary).filter_map(row).collect();
    others.sort_by(|a, b| {
        let p = |r: &Row<'_>| r.comparison.adjusted_p.unwrap_or(1.0);
        p(a).total_cmp(&p(b)).then_with(|| a.comparison.metric.id.cmp(&b.comparison.metric.id))
    });
    others.truncate(MOST_EXPLORATORY);
    rows.append(&mut others);
    rows
}

fn label(comparison: &Comparison, several: bool) -> String {
    let arrow = match comparison.metric.direction {
        Direction::HigherIsBetter => " ↑",
        Direction::LowerIsBetter => " ↓",
        Direction::Neutral => "",
    };
    let arm = if several { format!("{}: ", comparison.candidate.arm) } else { String::new() };
    format!("{arm}{}{arrow}", comparison.metric.id)
}

fn draw_row(source: &Source<'_>, frame: &mut Frame, scale: &Scale, row: &Row<'_>, (y, label): (f64, &str)) {
    let comparison = row.comparison;
    let style = source.style(&comparison.candidate.arm);
    let deciding = comparison.primary && comparison.role == ArmRole::Candidate;
    frame.row_label(y, label, if deciding { Ink::Text } else { Ink::Muted }, deciding);
    if let Some((low, high)) = row.interval {
        let width = if deciding { 2.0 } else { 1.25 };
        interval_row(&mut frame.picture, y, (scale.at(low.0), scale.at(high.0)), (style.ink, width));
    }
    frame.picture.point((scale.at(row.raw.0), y), style.marker, if deciding { 6.0 } else { 4.5 }, style.ink);
    let claim = source.analysis.claim.as_ref();
    if let Some(claim) = claim.filter(|c| deciding && c.metric == comparison.metric.id) {
        frame.picture.point((scale.at(claim.claimed.0), y), Marker::Diamond, 4.5, Ink::Claim);
    }
    let ink = match comparison.verdict {
        Verdict::Better if deciding => Ink::Better,
        Verdict::Worse if deciding => Ink::Worse,
        _ => Ink::Muted,
    };
    let value =
        Text::new((frame.right + 78.0, y), words::change(row.raw), LABEL, Ink::Text).align(Align::End);
    frame.picture.text(if deciding { value.bold() } else { value });
    let verdict = Text::new((frame.right + 92.0, y), words::verdict(comparison), LABEL, ink);
    frame.picture.text(if deciding { verdict.bold() } else { verdict });
}
