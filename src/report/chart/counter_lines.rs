//! Kernel counters over the time of one block's trials, both arms.

use super::error::ChartError;
use super::frame::{EDGE, Frame, LABEL, Words};
use super::gallery::{Chart, Source};
use super::picture::{Align, Picture, Text};
use super::scale::{Axis, Scale};
use super::theme::{Ink, WIDTH};
use crate::metric::CounterKind;
use crate::report::series::{CounterPanel, counter_name};

const PANEL: f64 = 120.0;
const TITLE: f64 = 40.0;
const GAP: f64 = 34.0;
const TICKS: f64 = 46.0;

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let Some(series) = source.series else { return Ok(Vec::new()) };
    let lines = series.panels.iter().flat_map(|panel| &panel.lines);
    let simulated = lines.filter(|line| line.simulated).count() > 0;
    let measured = series.panels[0].lines.iter().filter(|line| !line.simulated);
    let arms: Vec<&str> = measured.map(|line| line.arm.as_str()).collect();
    let made = if simulated {
        " Dashed, without markers: the model's counts for the same workload, spread evenly over the measured time."
    } else {
        ""
    };
    let title = format!("Kernel counters during block {}: {}", series.block, arms.join(" and "));
    let words = Words {
        title: title.clone(),
        note: format!(
            "One trial of each arm, n = 1 block of middling difference; rates are per second. The block shows how, not whether: the verdict rests on all blocks.{made}"
        ),
        keys: arms.iter().map(|arm| source.key(arm, *arm)).collect(),
    };
    let rows = series.panels.len().div_ceil(2);
    let mut frame = Frame::new(&words, 0.0, 0.0, rows as f64 * (PANEL + TITLE) - 36.0);
    let end = series.panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points).map(|p| p.0);
    let end = end.fold(0.0, f64::max);
    let width = (WIDTH - 2.0 * EDGE - GAP) / 2.0;
    for (i, panel) in series.panels.iter().enumerate() {
        let left = EDGE + (i % 2) as f64 * (width + GAP);
        let top = frame.top - 6.0 + (i / 2) as f64 * (PANEL + TITLE);
        let last = i + 2 >= series.panels.len();
        draw_panel(source, &mut frame, panel, (left, top, width), (end, last))?;
    }
    Ok(vec![Chart::new("counter-lines", title, frame)])
}

fn draw_panel(
    source: &Source<'_>,
    frame: &mut Frame,
    panel: &CounterPanel,
    (left, top, width): (f64, f64, f64),
    (end, last): (f64, bool),
) -> Result<(), ChartError> {
    let (plot_left, plot_top, bottom) = (left + TICKS, top + 20.0, top + 20.0 + PANEL - 22.0);
    let values = panel.lines.iter().flat_map(|l| l.points.iter().map(|p| p.1));
    // A rate is seen against zero; a level moves around where it is.
    let zero = (panel.kind == CounterKind::Cumulative).then_some(0.0);
    let y = Scale::linear(Axis::Metric(panel.unit), values.chain(zero), (bottom, plot_top), 4)?;
    let x = Scale::linear(Axis::Seconds, [0.0, end], (plot_left, left + width), 5)?;
    let picture = &mut frame.picture;
    let unit = if y.unit.is_empty() { String::new() } else { format!(" ({})", y.unit) };
    picture.text(
        Text::new((left, top), format!("{}{unit}", counter_name(&panel.counter)), LABEL, Ink::Text).bold(),
    );
    for tick in y.ticks.iter().filter(|t| t.value >= 0.0) {
        let at = y.at(tick.value);
        picture.line((plot_left, at), (left + width, at), Ink::Grid, 1.0);
        picture.text(Text::new((plot_left - 6.0, at), &tick.label, 11.0, Ink::Muted).align(Align::End));
    }
    picture.line((plot_left, bottom), (left + width, bottom), Ink::Axis, 1.0);
    for tick in x.ticks.iter().filter(|t| t.value >= 0.0) {
        let at = x.at(tick.value);
        picture.line((at, bottom), (at, bottom + 4.0), Ink::Axis, 1.0);
        if last {
            picture.text(Text::new((at, bottom + 13.0), &tick.label, 11.0, Ink::Muted).align(Align::Middle));
        }
    }
    if last {
        let at = (plot_left + (left + width - plot_left) / 2.0, bottom + 29.0);
        picture.text(Text::new(at, "time in the measured phase (s)", 11.0, Ink::Muted).align(Align::Middle));
    }
    for line in &panel.lines {
        let style = source.style(&line.arm);
        let points: Vec<(f64, f64)> = line.points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
        if line.simulated {
            dashed(picture, &points, style.ink);
            continue;
        }
        for at in points.iter().step_by(points.len().div_ceil(8).max(1)) {
            picture.point(*at, style.marker, 3.4, style.ink);
        }
        picture.path(points, style.ink, 1.6);
    }
    Ok(())
}

/// Every other stretch of a line.
fn dashed(picture: &mut Picture, points: &[(f64, f64)], ink: Ink) {
    for stretch in points.windows(2).step_by(2) {
        picture.line(stretch[0], stretch[1], ink, 1.2);
    }
}
