//! Several campaigns: means over kernels, and changes host by host.

use super::distribution::right_label;
use super::error::ChartError;
use super::frame::{Frame, Key, LABEL, Words, interval_row};
use super::gallery::Chart;
use super::picture::{Align, Text, shorten, text_width};
use super::scale::{Axis, Scale};
use super::theme::{ArmStyle, Ink, Marker, arm_style};
use crate::analyze::{HistoryPoint, MetricHistory};
use crate::config::ArmRole;
use crate::report::words;

const ROW: f64 = 28.0;
const HEIGHT: f64 = 280.0;

/// The charts of one metric over campaigns.
pub fn history_charts(history: &MetricHistory, several: bool) -> Result<Vec<Chart>, ChartError> {
    let mut charts = vec![means(history, several)?];
    charts.extend(changes(history, several)?);
    Ok(charts)
}

fn file_name(kind: &str, history: &MetricHistory, several: bool) -> String {
    if several { format!("{kind}-{}-{}", history.workload, history.metric.id) } else { kind.to_owned() }
}

/// Arms in the order in which they first appear, with their look.
fn arms(points: &[HistoryPoint]) -> Vec<(String, ArmStyle)> {
    let mut arms: Vec<(String, ArmStyle)> = Vec::new();
    let mut candidates = 0;
    for point in points {
        if arms.iter().all(|(name, _)| *name != point.arm) {
            arms.push((point.arm.clone(), arm_style(point.role, candidates)));
            candidates += usize::from(point.role == ArmRole::Candidate);
        }
    }
    arms
}

fn means(history: &MetricHistory, several: bool) -> Result<Chart, ChartError> {
    let mut campaigns: Vec<&HistoryPoint> = Vec::new();
    for point in &history.points {
        if campaigns.iter().all(|p| p.campaign != point.campaign) {
            campaigns.push(point);
        }
    }
    let outliers = history.points.iter().filter(|p| p.outlier).count();
    let marked = match outliers {
        0 => "no mean stands out".to_owned(),
        n => format!("{} far from the others, kept", words::count(n, "mean")),
    };
    let title = format!("{} over {}: {marked}", history.metric.id, words::count(campaigns.len(), "campaign"));
    let arms = arms(&history.points);
    let total = |arm: &str| history.points.iter().filter(|p| p.arm == arm).map(|p| p.n).sum::<usize>();
    let words = Words {
        title: title.clone(),
        note: "Mean of each arm with its 95% interval, in the order of time. Campaigns on other hosts or at another scale are not comparable by their means.".to_owned(),
        keys: arms
            .iter()
            .map(|(arm, style)| Key { style: *style, text: format!("{arm}, n = {}", words::count(total(arm), "trial")) })
            .collect(),
    };
    let values = || {
        history.points.iter().flat_map(|p| {
            let (low, high) = p.interval.unwrap_or((p.mean, p.mean));
            [low, p.mean, high]
        })
    };
    let axis = Axis::Metric(history.metric.unit);
    let room = Frame::room_for(&Scale::linear(axis, values(), (0.0, 1.0), 5)?);
    let mut frame = Frame::new(&words, room, 8.0, HEIGHT);
    let y = Scale::linear(axis, values(), frame.y_pixels(), 5)?;
    frame.y_axis(&y, &words::axis(&history.metric.label, history.metric.direction));
    let width = (frame.right - frame.left) / campaigns.len() as f64;
    for (i, campaign) in campaigns.iter().enumerate() {
        let middle = frame.left + width * (i as f64 + 0.5);
        let labels = [(&campaign.kernel, 14.0, Ink::Text), (&campaign.host, 31.0, Ink::Muted)];
        for (text, below, ink) in labels {
            let text = shorten(text, LABEL, false, width - 8.0);
            frame
                .picture
                .text(Text::new((middle, frame.bottom + below), text, LABEL, ink).align(Align::Middle));
        }
        let apart = (0.7 * width / arms.len() as f64).min(26.0);
        for (k, (arm, style)) in arms.iter().enumerate() {
            let x = middle + apart * (k as f64 - (arms.len() - 1) as f64 / 2.0);
            let of = history.points.iter().find(|p| p.campaign == campaign.campaign && p.arm == *arm);
            if let Some(point) = of {
                draw_mean(&mut frame, &y, point, (x, *style));
            }
        }
    }
    frame.picture.line((frame.left, frame.bottom), (frame.right, frame.bottom), Ink::Axis, 1.0);
    Ok(Chart::new(file_name("history", history, several), title, frame))
}

fn draw_mean(frame: &mut Frame, y: &Scale, point: &HistoryPoint, (x, style): (f64, ArmStyle)) {
    if let Some((low, high)) = point.interval {
        let (low, high) = (y.at(low), y.at(high));
        frame.picture.line((x, low), (x, high), style.ink, 1.5);
        for end in [low, high] {
            frame.picture.line((x - 4.0, end), (x + 4.0, end), style.ink, 1.5);
        }
    }
    frame.picture.point((x, y.at(point.mean)), style.marker, 5.0, style.ink);
    if point.outlier {
        frame.picture.point((x, y.at(point.mean)), Marker::Cross, 9.0, Ink::Worse);
    }
}

/// The change in each campaign, and over hosts.
fn changes(history: &MetricHistory, several: bool) -> Result<Option<Chart>, ChartError> {
    if history.changes.is_empty() {
        return Ok(None);
    }
    let arms = arms(&history.points);
    let style = |arm: &str| {
        arms.iter()
            .find(|(name, _)| name == arm)
            .map_or(arm_style(ArmRole::Candidate, 0), |(_, style)| *style)
    };
    let title = match history.pooled.first() {
        Some(pooled) => {
            let agree = if pooled.heterogeneity_p < 0.1 { "hosts differ" } else { "hosts agree" };
            format!(
                "{}: {agree}, {} changes by {} over {} hosts",
                history.metric.id,
                pooled.arm,
                words::change(pooled.change),
                pooled.hosts
            )
        }
        None => {
            format!("{}: changes in {}", history.metric.id, words::count(history.changes.len(), "campaign"))
        }
    };
    let words = Words {
        title: title.clone(),
        note: "Change of each campaign with the interval that its plan allows; n is blocks. The diamond pools hosts by random effects, with an interval on t.".to_owned(),
        keys: Vec::new(),
    };
    let labels: Vec<String> =
        history.changes.iter().map(|c| format!("{}: {}, {}", c.arm, c.host, c.kernel)).collect();
    let left =
        labels.iter().map(|l| text_width(l, LABEL, false)).fold(0.0, f64::max).clamp(120.0, 330.0) + 14.0;
    let rows = history.changes.len() + history.pooled.len();
    let mut frame = Frame::new(&words, left, 220.0, ROW * rows as f64 + 6.0);
    let ends = history
        .changes
        .iter()
        .flat_map(|c| [c.interval.map_or(c.change, |i| i.0), c.interval.map_or(c.change, |i| i.1)]);
    let ends = ends.chain(history.pooled.iter().flat_map(|p| [p.interval.0, p.interval.1])).map(|p| p.0);
    let scale = Scale::linear(Axis::Change, ends.chain([0.0]), frame.x_pixels(), 6)?;
    frame.x_axis(&scale, "change");
    frame.picture.line((scale.at(0.0), frame.top), (scale.at(0.0), frame.bottom), Ink::Axis, 1.5);
    let mut y = frame.top + 3.0 + ROW / 2.0;
    for (change, label) in history.changes.iter().zip(&labels) {
        let style = style(&change.arm);
        frame.row_label(y, label, Ink::Text, false);
        if let Some((low, high)) = change.interval {
            interval_row(&mut frame.picture, y, (scale.at(low.0), scale.at(high.0)), (style.ink, 1.5));
        }
        frame.picture.point((scale.at(change.change.0), y), style.marker, 5.0, style.ink);
        let interval = change.interval.map(words::interval).unwrap_or_default();
        right_label(
            &mut frame,
            y,
            &format!("{} {interval} n = {}", words::change(change.change), change.blocks),
            Ink::Muted,
        );
        y += ROW;
    }
    for pooled in &history.pooled {
        frame.row_label(y, &format!("{}: {} hosts", pooled.arm, pooled.hosts), Ink::Text, true);
        let (low, high) = (scale.at(pooled.interval.0.0), scale.at(pooled.interval.1.0));
        let middle = scale.at(pooled.change.0);
        frame.picture.area(vec![(low, y), (middle, y - 7.0), (high, y), (middle, y + 7.0)], Ink::Text, 0.85);
        right_label(
            &mut frame,
            y,
            &format!("{} {}", words::change(pooled.change), words::interval(pooled.interval)),
            Ink::Text,
        );
        y += ROW;
    }
    Ok(Some(Chart::new(file_name("hosts", history, several), title, frame)))
}
