//! Where the values of each arm lie: every trial, quartiles, mean.

use super::error::ChartError;
use super::frame::{Frame, LABEL, Words};
use super::gallery::{Chart, Source, file_name};
use super::picture::{Align, Text, text_width};
use super::scale::{Axis, Scale};
use super::theme::{Ink, Marker};
use crate::analyze::{ArmValues, Comparison};
use crate::report::number::{Quantity, share};
use crate::report::words;
use crate::stats::Summary;

const ROW: f64 = 74.0;
/// More points than this of one arm are thinned to evenly spaced order statistics.
const MOST_POINTS: usize = 400;

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let primary = source.primary();
    let several = primary.len() > 1;
    primary
        .into_iter()
        .filter(|c| !c.baseline.values.is_empty())
        .map(|c| draw_metric(source, c, several))
        .collect()
}

fn draw_metric(source: &Source<'_>, comparison: &Comparison, several: bool) -> Result<Chart, ChartError> {
    let arms = source.arms_of(comparison);
    let metric = &comparison.metric;
    let spread = arms.iter().filter_map(|a| a.summary.as_ref()?.coefficient_of_variation);
    let (low, high) = spread.fold((f64::INFINITY, 0.0), |(l, h): (f64, f64), c| (l.min(c), h.max(c)));
    let title = if low.is_finite() {
        let between =
            if share(low) == share(high) { share(low) } else { format!("{} to {}", share(low), share(high)) };
        format!("{}: trials of one arm vary by {between}", metric.id)
    } else {
        format!("{}: one trial an arm shows no spread", metric.id)
    };
    let words = Words {
        title: title.clone(),
        note: "Each point is one trial; the box holds the middle half and is cut at the median; the diamond is the mean. Nothing is removed as an outlier.".to_owned(),
        keys: Vec::new(),
    };
    let names = arms.iter().map(|a| text_width(&a.arm, LABEL + 1.0, true)).fold(0.0, f64::max);
    let left = names.clamp(110.0, 220.0) + 16.0;
    let mut frame = Frame::new(&words, left, 16.0, ROW * arms.len() as f64 + 6.0);
    let all = arms.iter().flat_map(|a| a.values.iter().map(|v| v.value));
    let scale = Scale::linear(Axis::Metric(metric.unit), all.clone(), frame.x_pixels(), 7)?;
    frame.x_axis(&scale, &words::axis(&metric.label, metric.direction));
    let quantity = Quantity::of(metric.unit, all);
    for (i, arm) in arms.iter().enumerate() {
        let y = frame.top + ROW * (i as f64 + 0.5);
        draw_arm(source, &mut frame, &scale, arm, y);
        let summary = arm.summary.as_ref();
        frame.row_label(y - 9.0, &arm.arm, Ink::Text, true);
        let mean = summary.map_or(String::new(), |s| format!("mean {}", quantity.with_unit(s.mean)));
        frame.row_label(y + 9.0, &mean, Ink::Muted, false);
        frame.row_label(
            y + 25.0,
            &format!("n = {}", words::count(arm.values.len(), "trial")),
            Ink::Muted,
            false,
        );
    }
    Ok(Chart::new(file_name("distribution", comparison, several), title, frame))
}

fn draw_arm(source: &Source<'_>, frame: &mut Frame, scale: &Scale, arm: &ArmValues, y: f64) {
    let style = source.style(&arm.arm);
    let mut values: Vec<f64> = arm.values.iter().map(|v| v.value).collect();
    values.sort_by(f64::total_cmp);
    if values.len() > MOST_POINTS {
        let last = values.len() - 1;
        values = (0..MOST_POINTS).map(|i| values[i * last / (MOST_POINTS - 1)]).collect();
    }
    if let Some(summary) = arm.summary.as_ref().filter(|s| s.n >= 4) {
        draw_box(frame, scale, summary, (y + 20.0, style.ink));
    }
    for (x, offset) in swarm(&values, scale) {
        frame.picture.faint_point((x, y - 8.0 + offset), style.marker, 3.6, (style.ink, 0.85));
    }
    if let Some(summary) = &arm.summary {
        let at = (scale.at(summary.mean), y + 20.0);
        frame.picture.point(at, Marker::Diamond, 5.5, Ink::Paper);
        frame.picture.point(at, Marker::Diamond, 4.2, Ink::Text);
    }
}

fn draw_box(frame: &mut Frame, scale: &Scale, summary: &Summary, (y, ink): (f64, Ink)) {
    let [low, first, median, third, high] =
        [summary.minimum, summary.lower_quartile, summary.median, summary.upper_quartile, summary.maximum]
            .map(|v| scale.at(v));
    frame.picture.line((low, y), (high, y), ink, 1.25);
    frame.picture.rectangle((first, y - 6.0), (third, y + 6.0), Ink::Paper, 1.0);
    frame.picture.rectangle((first, y - 6.0), (third, y + 6.0), ink, 0.3);
    frame.picture.line((median, y - 7.0), (median, y + 7.0), ink, 2.5);
}

/// Points beside each other where they would cover each other, in at most five lanes.
fn swarm(sorted: &[f64], scale: &Scale) -> Vec<(f64, f64)> {
    const LANES: [f64; 5] = [0.0, -6.5, 6.5, -13.0, 13.0];
    let mut last = [f64::NEG_INFINITY; 5];
    sorted
        .iter()
        .map(|value| {
            let x = scale.at(*value);
            let free = (0..LANES.len()).find(|lane| x - last[*lane] > 7.0);
            let lane = free.unwrap_or_else(|| {
                (0..LANES.len()).min_by(|a, b| last[*a].total_cmp(&last[*b])).unwrap_or(0)
            });
            last[lane] = x;
            (x, LANES[lane])
        })
        .collect()
}

/// A caption right of a plot, for charts whose rows end in a number.
pub(super) fn right_label(frame: &mut Frame, y: f64, text: &str, ink: Ink) {
    let at = (frame.right + 12.0, y);
    frame.picture.text(Text::new(at, text, LABEL, ink).align(Align::Start));
}
