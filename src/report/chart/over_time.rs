//! Every trial in the order in which it ran, so that drift can be seen.

use super::error::ChartError;
use super::frame::{Frame, Words};
use super::gallery::{Chart, Source, file_name};
use super::picture::{Align, Text};
use super::scale::{Axis, Scale};
use super::theme::Ink;
use crate::analyze::{ArmValues, Comparison};
use crate::report::words;
use crate::stats::quantile::t_critical;

/// More trials than this are drawn as one point a block and arm.
const MOST_POINTS: usize = 1500;
/// More block borders than this would be a grey area.
const MOST_BORDERS: usize = 40;
const HEIGHT: f64 = 280.0;

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let primary = source.primary();
    let several = primary.len() > 1;
    primary
        .into_iter()
        .filter(|c| !c.baseline.values.is_empty())
        .map(|c| draw_metric(source, c, several))
        .collect()
}

/// A value and its place in the order of trials.
struct Placed {
    block: u32,
    place: f64,
    value: f64,
}

fn draw_metric(source: &Source<'_>, comparison: &Comparison, several: bool) -> Result<Chart, ChartError> {
    let arms = source.arms_of(comparison);
    let placed = placed(&arms);
    let trials: usize = arms.iter().map(|a| a.values.len()).sum();
    let metric = &comparison.metric;
    let drift =
        source.analysis.noise.iter().any(|n| n.kind == "drift" && n.message.starts_with(metric.id.as_str()));
    let title =
        format!("{}: {}", metric.id, if drift { "values drift over the campaign" } else { "no drift found" });
    let shown =
        if trials > MOST_POINTS { "One point for each block and arm" } else { "One point for each trial" };
    let words = Words {
        title: title.clone(),
        note: format!("{shown}; lines are arm means with 95% intervals of single arms, which do not decide."),
        keys: arms
            .iter()
            .map(|a| source.key(&a.arm, format!("{}, n = {}", a.arm, words::count(a.values.len(), "trial"))))
            .collect(),
    };
    let all = placed.iter().flatten().map(|p| p.value);
    let probe = Scale::linear(Axis::Metric(metric.unit), all.clone(), (0.0, 1.0), 5)?;
    let mut frame = Frame::new(&words, Frame::room_for(&probe), 8.0, HEIGHT);
    let y = Scale::linear(Axis::Metric(metric.unit), all, frame.y_pixels(), 5)?;
    let last = placed.iter().flatten().map(|p| p.place).fold(0.0, f64::max);
    let x = Scale::linear(Axis::Whole, [0.0, last + 1.0], frame.x_pixels(), 8)?;
    frame.y_axis(&y, &words::axis(&metric.label, metric.direction));
    blocks(&mut frame, &x, &placed);
    for (arm, points) in arms.iter().zip(&placed) {
        let style = source.style(&arm.arm);
        band(&mut frame, &y, arm, style.ink);
        let radius = if points.len() > 200 { 2.2 } else { 4.0 };
        for point in points {
            frame.picture.faint_point(
                (x.at(point.place), y.at(point.value)),
                style.marker,
                radius,
                (style.ink, 0.9),
            );
        }
    }
    Ok(Chart::new(file_name("trials", comparison, several), title, frame))
}

/// Numbers all trials of all arms in the order of block and position.
fn placed(arms: &[&ArmValues]) -> Vec<Vec<Placed>> {
    let mut order: Vec<(u32, u32, usize, usize)> = Vec::new();
    for (arm, values) in arms.iter().enumerate() {
        order.extend(values.values.iter().enumerate().map(|(i, v)| (v.block, v.position, arm, i)));
    }
    order.sort_unstable();
    let mut placed: Vec<Vec<Placed>> = arms.iter().map(|_| Vec::new()).collect();
    for (place, (block, _, arm, i)) in order.iter().enumerate() {
        let value = arms[*arm].values[*i].value;
        placed[*arm].push(Placed { block: *block, place: place as f64 + 0.5, value });
    }
    if order.len() > MOST_POINTS { placed.into_iter().map(by_block).collect() } else { placed }
}

fn by_block(points: Vec<Placed>) -> Vec<Placed> {
    points
        .chunk_by(|a, b| a.block == b.block)
        .map(|runs| {
            let mean = |of: fn(&Placed) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
            Placed { block: runs[0].block, place: mean(|p| p.place), value: mean(|p| p.value) }
        })
        .collect()
}

/// Borders between blocks and their numbers.
fn blocks(frame: &mut Frame, x: &Scale, placed: &[Vec<Placed>]) {
    let mut spans: std::collections::BTreeMap<u32, (f64, f64)> = std::collections::BTreeMap::new();
    for point in placed.iter().flatten() {
        let span = spans.entry(point.block).or_insert((point.place, point.place));
        *span = (span.0.min(point.place), span.1.max(point.place));
    }
    let every = spans.len().div_ceil(20);
    for (i, (block, (first, last))) in spans.iter().enumerate() {
        if i > 0 && spans.len() <= MOST_BORDERS {
            let border = x.at(first - 0.5);
            frame.picture.line((border, frame.top), (border, frame.bottom), Ink::Grid, 1.0);
        }
        if i % every == 0 {
            let middle = x.at((first + last) / 2.0);
            let text = Text::new((middle, frame.bottom + 13.0), block.to_string(), 12.0, Ink::Muted);
            frame.picture.text(text.align(Align::Middle));
        }
    }
    frame.picture.line((frame.left, frame.bottom), (frame.right, frame.bottom), Ink::Axis, 1.0);
    let middle = (frame.left + frame.right) / 2.0;
    let text =
        Text::new((middle, frame.bottom + 32.0), "block, in the order of the campaign", 12.0, Ink::Muted);
    frame.picture.text(text.align(Align::Middle));
}

/// The mean of one arm and its t interval.
fn band(frame: &mut Frame, y: &Scale, arm: &ArmValues, ink: Ink) {
    let Some(summary) = &arm.summary else { return };
    let (left, right) = (frame.left, frame.right);
    if let Some(deviation) = summary.standard_deviation {
        let n = summary.n as f64;
        let half = t_critical(0.05, n - 1.0) * deviation / n.sqrt();
        let (top, bottom) = (y.at(summary.mean + half), y.at(summary.mean - half));
        frame.picture.rectangle((left, top), (right, bottom), ink, 0.13);
    }
    frame.picture.line((left, y.at(summary.mean)), (right, y.at(summary.mean)), ink, 1.5);
}
