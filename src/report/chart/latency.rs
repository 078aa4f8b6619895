//! Latency percentiles of every arm, on a logarithmic axis.

use super::error::ChartError;
use super::frame::{Frame, LABEL, Words, with_unit};
use super::gallery::{Chart, Source};
use super::picture::{Align, Text};
use super::scale::Scale;
use super::theme::Ink;
use crate::analyze::{ArmValues, Comparison};
use crate::metric::{Kind, Unit};
use crate::report::number::Quantity;
use crate::report::words;

const HEIGHT: f64 = 290.0;
/// Fewer points are no curve.
const FEWEST: usize = 2;

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let mut groups: Vec<(String, Vec<&Comparison>)> = Vec::new();
    for comparison in &source.analysis.comparisons {
        if rank(comparison).is_none() || comparison.baseline.values.is_empty() {
            continue;
        }
        let group = group(comparison);
        let at = groups.iter().position(|(name, _)| *name == group).unwrap_or_else(|| {
            groups.push((group.clone(), Vec::new()));
            groups.len() - 1
        });
        let known = groups[at].1.iter().any(|c| c.metric.id == comparison.metric.id);
        if !known {
            groups[at].1.push(comparison);
        }
    }
    groups.retain(|(_, metrics)| metrics.len() >= FEWEST);
    let several = groups.len() > 1;
    groups.into_iter().map(|(name, metrics)| draw_group(source, &name, metrics, several)).collect()
}

/// Where a latency metric stands among its percentiles.
fn rank(comparison: &Comparison) -> Option<(u32, &'static str)> {
    let metric = &comparison.metric;
    if metric.kind != Kind::Latency || metric.unit != Unit::Nanoseconds {
        return None;
    }
    let id = metric.id.as_str();
    [
        ("mean", 5, "mean"),
        ("p50", 0, "p50"),
        ("p90", 1, "p90"),
        ("p95", 2, "p95"),
        ("p99", 3, "p99"),
        ("p999", 4, "p99.9"),
    ]
    .into_iter()
    .find(|(end, _, _)| id.ends_with(&format!("_{end}")))
    .map(|(_, rank, name)| (rank, name))
}

/// The metric's name without its percentile.
fn group(comparison: &Comparison) -> String {
    let id = comparison.metric.id.as_str();
    id.rsplit_once('_').map_or(id, |(head, _)| head).to_owned()
}

fn draw_group(
    source: &Source<'_>,
    name: &str,
    mut metrics: Vec<&Comparison>,
    several: bool,
) -> Result<Chart, ChartError> {
    metrics.sort_by_key(|c| rank(c));
    let last = metrics.iter().rfind(|c| rank(c).is_some_and(|r| r.0 < 5)).unwrap_or(&metrics[0]);
    let label = rank(last).map_or("", |r| r.1);
    let change = words::raw(last).map_or("no comparison".to_owned(), |(raw, _)| words::change(raw));
    let title =
        format!("{name}: {label} of {} changes by {change}, {}", last.candidate.arm, words::verdict(last));
    let arms = source.arms_of(metrics[0]);
    let words = Words {
        title: title.clone(),
        note: "Medians over trials, whiskers from the least to the greatest trial; one value a trial, percentiles are not averaged. Logarithmic axis; lower is better.".to_owned(),
        keys: arms
            .iter()
            .map(|a| source.key(&a.arm, format!("{}, n = {}", a.arm, words::count(a.values.len(), "trial"))))
            .collect(),
    };
    let columns: Vec<Vec<&ArmValues>> = metrics.iter().map(|m| source.arms_of(m)).collect();
    let all = || columns.iter().flatten().flat_map(|a| a.values.iter().map(|v| v.value));
    let room = Frame::room_for(&Scale::logarithmic(Unit::Nanoseconds, all(), (0.0, 1.0))?);
    let mut frame = Frame::new(&words, room, 8.0, HEIGHT);
    let y = Scale::logarithmic(Unit::Nanoseconds, all(), frame.y_pixels())?;
    frame.y_axis(&y, &with_unit("latency", &y.unit));
    let width = (frame.right - frame.left) / columns.len() as f64;
    for (i, (metric, arms)) in metrics.iter().zip(&columns).enumerate() {
        let middle = frame.left + width * (i as f64 + 0.5);
        let text =
            Text::new((middle, frame.bottom + 14.0), rank(metric).map_or("", |r| r.1), LABEL, Ink::Text);
        frame.picture.text(text.bold().align(Align::Middle));
        let change = words::raw(metric).map_or(String::new(), |(raw, _)| words::change(raw));
        let text = Text::new((middle, frame.bottom + 32.0), change, LABEL, Ink::Muted);
        frame.picture.text(text.align(Align::Middle));
        draw_column(source, &mut frame, &y, arms, (middle, width));
    }
    frame.picture.line((frame.left, frame.bottom), (frame.right, frame.bottom), Ink::Axis, 1.0);
    let file = if several { format!("latency-{name}") } else { "latency".to_owned() };
    Ok(Chart::new(file, title, frame))
}

fn draw_column(
    source: &Source<'_>,
    frame: &mut Frame,
    y: &Scale,
    arms: &[&ArmValues],
    (middle, width): (f64, f64),
) {
    let apart = (width / (arms.len() + 1) as f64).min(72.0);
    for (i, arm) in arms.iter().enumerate() {
        let Some(summary) = &arm.summary else { continue };
        let style = source.style(&arm.arm);
        let x = middle + apart * (i as f64 - (arms.len() - 1) as f64 / 2.0);
        let (low, high) = (y.at(summary.minimum), y.at(summary.maximum));
        frame.picture.line((x, low), (x, high), style.ink, 1.5);
        for end in [low, high] {
            frame.picture.line((x - 4.0, end), (x + 4.0, end), style.ink, 1.5);
        }
        frame.picture.point((x, y.at(summary.median)), style.marker, 5.0, style.ink);
        if arms.len() <= 3 && apart >= 60.0 {
            let text = Quantity::of(Unit::Nanoseconds, [summary.median]).with_unit(summary.median);
            let at = (x, high.min(low) - 9.0);
            frame.picture.text(Text::new(at, text, 10.5, Ink::Muted).align(Align::Middle));
        }
    }
}
