//! How the estimate and its interval came to be, block by block.

use super::error::ChartError;
use super::frame::{Frame, Words};
use super::gallery::{Chart, Source, file_name};
use super::picture::{Align, Text};
use super::scale::{Axis, Scale};
use super::theme::{ArmStyle, Ink};
use crate::analyze::Comparison;
use crate::config::StopRule;
use crate::report::words;
use crate::stats::sequential::{EProcess, GroupSequential};
use crate::stats::{BlockDifferences, Interval};
use crate::units::Percent;

const HEIGHT: f64 = 270.0;
/// Intervals wider than this many margins say nothing and are cut.
const WIDEST: f64 = 12.0;

/// The state after some blocks, in percent of the raw metric.
struct Step {
    blocks: f64,
    estimate: f64,
    interval: Option<(f64, f64)>,
}

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let primary: Vec<&Comparison> = source.primary().into_iter().filter(|c| c.blocks.len() >= 2).collect();
    let several = primary.len() > 1;
    primary.into_iter().map(|c| draw_metric(source, c, several)).collect()
}

fn steps(comparison: &Comparison, alpha: f64) -> Vec<Step> {
    let differences = comparison.blocks.iter().map(|b| b.difference).collect();
    let path = BlockDifferences::new(differences)
        .and_then(|differences| EProcess::new(alpha)?.path(&differences))
        .unwrap_or_default();
    let raw = |log: f64| comparison.raw_change(Percent::from_log_ratio(log)).0;
    path.into_iter()
        .map(|point| Step {
            blocks: point.blocks as f64,
            estimate: raw(point.mean),
            interval: point.interval.map(|Interval { low, high }| {
                let (a, b) = (raw(low), raw(high));
                (a.min(b), a.max(b))
            }),
        })
        .collect()
}

fn draw_metric(source: &Source<'_>, comparison: &Comparison, several: bool) -> Result<Chart, ChartError> {
    let question = &source.analysis.question;
    let steps = steps(comparison, question.alpha);
    if steps.is_empty() {
        return Err(ChartError::NoValues);
    }
    let title = title(comparison, &steps);
    let rule = match question.stop {
        StopRule::Fixed => {
            "The plan fixed the number of blocks: only the last point decides, by its t interval"
        }
        StopRule::GroupSequential => "The plan looks at the marked blocks only",
        StopRule::Anytime => "The plan may stop at any block at which the sequence leaves zero",
    };
    let style = source.style(&comparison.candidate.arm);
    let words = Words {
        title: title.clone(),
        note: format!(
            "Estimate so far and the {:.0}% confidence sequence, which holds at every block; n = {}. {rule}.",
            100.0 * (1.0 - question.alpha),
            words::count(comparison.blocks.len(), "block")
        ),
        keys: Vec::new(),
    };
    let margin = question.margin.0;
    let held = |value: f64| value.clamp(-WIDEST * margin.max(1.0), WIDEST * margin.max(1.0));
    let last = steps.last().and_then(|s| s.interval);
    let shown = steps.iter().flat_map(|s| {
        let (low, high) = s.interval.unwrap_or((s.estimate, s.estimate));
        [
            held(low).max(s.estimate - WIDEST * margin),
            held(high).min(s.estimate + WIDEST * margin),
            s.estimate,
        ]
    });
    let all: Vec<f64> =
        shown.chain(last.into_iter().flat_map(|l| [l.0, l.1])).chain([-1.3 * margin, 1.3 * margin]).collect();
    let room = Frame::room_for(&Scale::linear(Axis::Change, all.iter().copied(), (0.0, 1.0), 6)?);
    let mut frame = Frame::new(&words, room, 8.0, HEIGHT);
    let y = Scale::linear(Axis::Change, all, frame.y_pixels(), 6)?;
    let blocks = steps.last().map_or(0.0, |s| s.blocks);
    let x = Scale::linear(Axis::Whole, [1.0 - 0.02 * blocks, 1.02 * blocks], frame.x_pixels(), 14)?;
    let band = (y.at(-margin), y.at(margin));
    frame.picture.rectangle((frame.left, band.0), (frame.right, band.1), Ink::Margin, 1.0);
    frame.y_axis(&y, &format!("change of {}", comparison.metric.id));
    frame.x_axis(&x, "blocks seen");
    frame.picture.line((frame.left, y.at(0.0)), (frame.right, y.at(0.0)), Ink::Axis, 1.5);
    if question.stop == StopRule::GroupSequential {
        looks(&mut frame, &x, comparison.blocks.len());
    }
    path(&mut frame, (&x, &y), &steps, style);
    Ok(Chart::new(file_name("sequential", comparison, several), title, frame))
}

fn title(comparison: &Comparison, steps: &[Step]) -> String {
    let leaves = steps.iter().find(|s| s.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0));
    match leaves {
        Some(step) => format!(
            "{}: the confidence sequence left zero after {}",
            comparison.metric.id,
            words::count(step.blocks as usize, "block")
        ),
        None => format!(
            "{}: zero is inside the confidence sequence after {}",
            comparison.metric.id,
            words::count(comparison.blocks.len(), "block")
        ),
    }
}

fn looks(frame: &mut Frame, x: &Scale, blocks: usize) {
    for look in GroupSequential::standard().looks().iter().filter(|l| l.blocks <= blocks) {
        let at = x.at(look.blocks as f64);
        let (top, bottom) = (frame.top, frame.bottom);
        frame.picture.dashes((at, top), (at, bottom), Ink::Muted, 1.0);
        let text = Text::new((at - 5.0, top + 8.0), format!("look at {}", look.blocks), 11.0, Ink::Muted);
        frame.picture.text(text.align(Align::End));
    }
}

fn path(frame: &mut Frame, (x, y): (&Scale, &Scale), steps: &[Step], style: ArmStyle) {
    let bounded: Vec<(f64, f64, f64)> = steps
        .iter()
        .filter_map(|s| s.interval.map(|(low, high)| (x.at(s.blocks), y.at(low), y.at(high))))
        .collect();
    let upper = bounded.iter().map(|b| (b.0, b.2));
    let lower = bounded.iter().rev().map(|b| (b.0, b.1));
    if bounded.len() > 1 {
        frame.picture.area(upper.clone().chain(lower.clone()).collect(), style.ink, 0.16);
        frame.picture.path(upper.collect(), style.ink, 1.0);
        frame.picture.path(lower.collect(), style.ink, 1.0);
    }
    let estimates: Vec<(f64, f64)> = steps.iter().map(|s| (x.at(s.blocks), y.at(s.estimate))).collect();
    if estimates.len() <= 60 {
        for at in &estimates {
            frame.picture.point(*at, style.marker, 4.0, style.ink);
        }
    }
    frame.picture.path(estimates, style.ink, 2.0);
}
