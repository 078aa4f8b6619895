//! Where the noise comes from: a bar for each level.

use super::error::ChartError;
use super::frame::{Frame, Words};
use super::gallery::{Chart, Source};
use super::picture::text_width;
use super::scale::{Axis, Scale};
use super::theme::Ink;
use crate::analyze::VarianceByLevel;
use crate::metric::Unit;
use crate::report::number::share;

use super::distribution::right_label;
use super::frame::LABEL;

const ROW: f64 = 30.0;
/// Less is rounding.
const SMALLEST: f64 = 1e-9;

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let variance: Vec<&VarianceByLevel> = source.analysis.variance.iter().collect();
    if variance.iter().all(|v| v.levels.iter().all(|l| l.deviation < SMALLEST)) {
        return Ok(Vec::new());
    }
    let several = variance.len() > 1;
    let mut rows: Vec<(String, f64, usize)> = Vec::new();
    for metric in &variance {
        for level in &metric.levels {
            let what = match level.level.as_str() {
                "runs" => "from run to run in a block",
                "blocks" => "from block to block",
                "runs in a boot" => "from run to run in a boot",
                _ => "from boot to boot",
            };
            let name = if several { format!("{} {what}", metric.metric) } else { what.to_owned() };
            rows.push((name, level.deviation, level.n));
        }
    }
    let largest = rows.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("", |r| r.0.as_str());
    let subject = if several { "Noise".to_owned() } else { format!("{}: noise", variance[0].metric) };
    let title = format!("{subject} is largest {largest}");
    let words = Words {
        title: title.clone(),
        note: "Components of variance on the log scale, all arms together, shown as coefficients of variation. What differs from block to block cancels in the comparison; what differs from run to run or boot to boot does not.".to_owned(),
        keys: Vec::new(),
    };
    let left = rows.iter().map(|r| text_width(&r.0, LABEL, false)).fold(0.0, f64::max).min(380.0) + 14.0;
    let mut frame = Frame::new(&words, left, 130.0, ROW * rows.len() as f64 + 6.0);
    let percent = |deviation: f64| 100.0 * deviation;
    let values = rows.iter().map(|r| percent(r.1)).chain([0.0]);
    let scale = Scale::linear(Axis::Metric(Unit::Percent), values, frame.x_pixels(), 6)?;
    frame.x_axis(&scale, "coefficient of variation");
    for (i, (name, deviation, n)) in rows.iter().enumerate() {
        let y = frame.top + 3.0 + ROW * (i as f64 + 0.5);
        frame.row_label(y, name, Ink::Text, false);
        let (from, to) = (scale.at(0.0), scale.at(percent(*deviation)));
        frame.picture.rectangle((from, y - 8.0), (to.max(from + 1.0), y + 8.0), Ink::Baseline, 0.85);
        right_label(&mut frame, y, &format!("{}   n = {n}", share(*deviation)), Ink::Text);
    }
    frame.picture.line((scale.at(0.0), frame.top), (scale.at(0.0), frame.bottom), Ink::Axis, 1.5);
    Ok(vec![Chart::new("variance", title, frame)])
}
