//! The kernel counters that moved most.

use super::distribution::right_label;
use super::error::ChartError;
use super::frame::{Frame, Key, LABEL, Words, interval_row};
use super::gallery::{Chart, Source};
use super::picture::text_width;
use super::scale::{Axis, Scale, Tick};
use super::theme::{ArmStyle, Ink, Marker};
use crate::analyze::{COUNTER_RATE, CounterComparison};
use crate::metric::Unit;
use crate::report::number::Quantity;
use crate::report::series::counter_name;
use crate::report::words;
use crate::units::Percent;

const ROW: f64 = 23.0;
const MOST: usize = 18;
/// Least distance of tick labels.
const TICK_ROOM: f64 = 62.0;

/// A change on the axis: log ratios, labelled in percent.
fn place(change: Percent) -> f64 {
    change.to_log_ratio()
}

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let first = source.analysis.deciding().next();
    let ratios =
        |c: &&CounterComparison| c.interval.is_some() && first.is_none_or(|f| f.candidate.arm == c.candidate);
    let mut rows: Vec<&CounterComparison> = source.analysis.counters.iter().filter(ratios).collect();
    let (tested, moved) = (rows.len(), rows.iter().filter(|c| c.moved()).count());
    rows.truncate(MOST);
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let arm = &rows[0].candidate;
    let title = match moved {
        0 => format!("No kernel counter of {arm} moved, of {tested}"),
        n => format!("{n} of {tested} kernel counters of {arm} moved; these most"),
    };
    let style = source.style(arm);
    let words = Words {
        title: title.clone(),
        note: format!(
            "Exploratory: change over the measured phase against the baseline with its 95% interval, n = {}; moved at a false discovery rate of {COUNTER_RATE}. Right: medians a run.",
            words::count(rows[0].blocks, "block")
        ),
        keys: vec![
            Key { style, text: "moved".to_owned() },
            Key {
                style: ArmStyle { ink: Ink::Axis, marker: Marker::Ring },
                text: "not established".to_owned(),
            },
        ],
    };
    let names: Vec<String> = rows.iter().map(|r| counter_name(&r.counter)).collect();
    let left = names.iter().map(|n| text_width(n, LABEL, false)).fold(0.0, f64::max).min(330.0) + 14.0;
    let mut frame = Frame::new(&words, left, 150.0, ROW * rows.len() as f64 + 8.0);
    let scale = scale(&rows, &frame)?;
    frame.x_axis(&scale, "change");
    frame.picture.line((scale.at(0.0), frame.top), (scale.at(0.0), frame.bottom), Ink::Axis, 1.5);
    for (i, (row, name)) in rows.iter().zip(&names).enumerate() {
        let y = frame.top + 4.0 + ROW * (i as f64 + 0.5);
        draw_row(&mut frame, &scale, row, (y, name, style));
    }
    Ok(vec![Chart::new("counters", title, frame)])
}

/// Equal factors are equal distances; the labels are percentages.
fn scale(rows: &[&CounterComparison], frame: &Frame) -> Result<Scale, ChartError> {
    let size = |r: &&&CounterComparison| r.change.map_or(0.0, |c| place(c).abs());
    let moved = rows.iter().filter(|r| r.moved());
    let widest = moved.clone().map(|r| size(&r)).fold(0.05, f64::max);
    let widest =
        if moved.count() > 0 { widest } else { rows.iter().map(|r| size(&r)).fold(widest, f64::max) };
    let ends = rows.iter().filter_map(|r| r.interval).flat_map(|(low, high)| [place(low), place(high)]);
    // One counter of great noise must not squeeze the others.
    let held: Vec<f64> = ends.map(|v| v.clamp(-1.8 * widest, 1.8 * widest)).collect();
    let mut scale = Scale::linear(Axis::Change, held.into_iter().chain([0.0]), frame.x_pixels(), 7)?;
    scale.ticks = ticks(&scale);
    Ok(scale)
}

/// Round percentages, from zero outwards, as far apart as their labels need.
fn ticks(scale: &Scale) -> Vec<Tick> {
    const RISES: [f64; 20] = [
        1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0, 150.0, 200.0, 300.0, 400.0, 600.0,
        900.0, 1900.0, 9900.0, 99_900.0,
    ];
    const FALLS: [f64; 16] = [
        -1.0, -2.0, -5.0, -10.0, -15.0, -20.0, -30.0, -40.0, -50.0, -60.0, -70.0, -80.0, -90.0, -95.0, -99.0,
        -99.9,
    ];
    let mut ticks = vec![Tick { value: 0.0, label: "0%".to_owned() }];
    for side in [&RISES[..], &FALLS[..]] {
        let mut last = scale.at(0.0);
        for percent in side {
            let value = place(Percent(*percent));
            if scale.contains(value) && (scale.at(value) - last).abs() > TICK_ROOM {
                let decimals = usize::from(percent.fract() != 0.0);
                ticks.push(Tick { value, label: format!("{percent:+.decimals$}%") });
                last = scale.at(value);
            }
        }
    }
    ticks
}

fn draw_row(
    frame: &mut Frame,
    scale: &Scale,
    row: &CounterComparison,
    (y, name, style): (f64, &str, ArmStyle),
) {
    let look = if row.moved() { style } else { ArmStyle { ink: Ink::Axis, marker: Marker::Ring } };
    frame.row_label(y, name, if row.moved() { Ink::Text } else { Ink::Muted }, false);
    if let (Some((low, high)), Some(change)) = (row.interval, row.change) {
        interval_row(&mut frame.picture, y, (scale.at(place(low)), scale.at(place(high))), (look.ink, 1.5));
        frame.picture.point((scale.at(place(change)), y), look.marker, 4.8, look.ink);
    }
    let one = |value: f64| {
        let quantity = Quantity::of(Unit::Count, [value]);
        quantity.with_unit(value).replace(' ', "")
    };
    right_label(frame, y, &format!("{} → {}", one(row.baseline), one(row.changed_to)), Ink::Muted);
}
