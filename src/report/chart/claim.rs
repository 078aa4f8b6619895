//! What was claimed, what its own numbers say, what was forecast and what was measured.

use super::distribution::right_label;
use super::error::ChartError;
use super::frame::{Frame, Words, interval_row};
use super::gallery::{Chart, Source};
use super::scale::{Axis, Scale};
use super::theme::{Ink, Marker};
use crate::analyze::ClaimCheck;
use crate::predict::Forecast;
use crate::report::words;
use crate::units::Percent;

const ROW: f64 = 40.0;

/// A row: name, estimate, interval, marker, colour.
struct Row {
    name: &'static str,
    change: Percent,
    interval: Option<(Percent, Percent)>,
    marker: Marker,
    ink: Ink,
}

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let Some(claim) = &source.analysis.claim else { return Ok(Vec::new()) };
    let rows = rows(source, claim);
    let title =
        format!("Claimed {} in {}: {}", words::change(claim.claimed), claim.metric, claim.verdict.text());
    let comparison = source.analysis.deciding().find(|c| c.metric.id == claim.metric);
    let n = comparison.and_then(|c| c.result.as_ref()).map_or(0, |r| r.paired.n);
    let words = Words {
        title: title.clone(),
        note: format!("Measured here over n = {}. {}.", words::count(n, "block"), capital(&claim.reason)),
        keys: Vec::new(),
    };
    let margin = source.analysis.question.margin.0;
    let mut frame = Frame::new(&words, 200.0, 190.0, ROW * rows.len() as f64);
    let ends = rows.iter().flat_map(|r| {
        let (low, high) = r.interval.unwrap_or((r.change, r.change));
        [low.0, r.change.0, high.0]
    });
    let scale = Scale::linear(Axis::Change, ends.chain([-1.3 * margin, 1.3 * margin]), frame.x_pixels(), 6)?;
    let (top, bottom) = (frame.top, frame.bottom);
    frame.picture.rectangle((scale.at(-margin), top), (scale.at(margin), bottom), Ink::Margin, 1.0);
    frame.x_axis(&scale, &format!("change of {}", claim.metric));
    frame.picture.line((scale.at(0.0), top), (scale.at(0.0), bottom), Ink::Axis, 1.5);
    frame.picture.dashes(
        (scale.at(claim.claimed.0), top),
        (scale.at(claim.claimed.0), bottom),
        Ink::Claim,
        1.25,
    );
    for (i, row) in rows.iter().enumerate() {
        let y = top + ROW * (i as f64 + 0.5);
        frame.row_label(y, row.name, Ink::Text, true);
        if let Some((low, high)) = row.interval {
            interval_row(&mut frame.picture, y, (scale.at(low.0), scale.at(high.0)), (row.ink, 2.0));
        }
        frame.picture.point((scale.at(row.change.0), y), row.marker, 6.0, row.ink);
        let interval = row.interval.map_or(String::new(), |i| format!("  {}", words::interval(i)));
        right_label(&mut frame, y, &format!("{}{interval}", words::change(row.change)), Ink::Text);
    }
    Ok(vec![Chart::new("claim", title, frame)])
}

fn rows(source: &Source<'_>, claim: &ClaimCheck) -> Vec<Row> {
    let style = source.style(&claim.candidate);
    let claimed = Row {
        name: "claimed",
        change: claim.claimed,
        interval: None,
        marker: Marker::Diamond,
        ink: Ink::Claim,
    };
    let recomputed = claim.recomputed.map(|change| Row {
        name: "from the printed means",
        change,
        interval: None,
        marker: Marker::Square,
        ink: Ink::Claim,
    });
    let measured = claim.measured.map(|change| Row {
        name: "measured here",
        change,
        interval: claim.interval,
        marker: style.marker,
        ink: style.ink,
    });
    let forecast = |name, forecast: &Forecast| Row {
        name,
        change: Percent(forecast.median),
        interval: Some(words::forecast_interval(forecast)),
        marker: Marker::Ring,
        ink: Ink::Muted,
    };
    let forecasts = source.analysis.forecast.as_ref().map(|check| &check.record.forecasts);
    let there = forecasts.and_then(|f| f.there.as_ref()).map(|f| forecast("forecast, claim's machine", f));
    let here = forecasts.and_then(|f| f.here.as_ref()).map(|f| forecast("forecast, here", f));
    [Some(claimed), recomputed, there, here, measured].into_iter().flatten().collect()
}

/// A sentence that begins with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
