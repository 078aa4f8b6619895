//! The reclaim probe: time per page, block by block, each arm beside the other.

use super::error::ChartError;
use super::frame::{Frame, Words};
use super::gallery::{Chart, Source, file_name};
use super::scale::{Axis, Scale};
use super::theme::Ink;
use crate::analyze::{ArmValues, Comparison};
use crate::metric::Unit;
use crate::report::words;

const HEIGHT: f64 = 260.0;
/// More blocks than this are left to the chart of trials.
const MOST_BLOCKS: usize = 120;

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let per_page = |c: &&Comparison| {
        c.metric.unit == Unit::NanosecondsPerPage && (2..=MOST_BLOCKS).contains(&c.blocks.len())
    };
    let found: Vec<&Comparison> = source.primary().into_iter().filter(per_page).collect();
    let several = found.len() > 1;
    found.into_iter().map(|c| draw_metric(source, c, several)).collect()
}

/// The mean of an arm's runs in a block.
fn block_mean(arm: &ArmValues, block: u32) -> Option<f64> {
    let values: Vec<f64> = arm.values.iter().filter(|v| v.block == block).map(|v| v.value).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn draw_metric(source: &Source<'_>, comparison: &Comparison, several: bool) -> Result<Chart, ChartError> {
    let arms = [&comparison.baseline, &comparison.candidate];
    let pairs: Vec<(u32, f64, f64)> = comparison
        .blocks
        .iter()
        .filter_map(|b| Some((b.block, block_mean(arms[0], b.block)?, block_mean(arms[1], b.block)?)))
        .collect();
    let faster = pairs.iter().filter(|(_, base, candidate)| candidate < base).count();
    let title = format!(
        "{}: {} is faster in {faster} of {}",
        comparison.metric.id,
        comparison.candidate.arm,
        words::count(pairs.len(), "block")
    );
    let words = Words {
        title: title.clone(),
        note: "Mean of an arm's runs in each block; the line joins the two arms of a block, whose ratio is what is tested.".to_owned(),
        keys: arms
            .iter()
            .map(|a| source.key(&a.arm, format!("{}, n = {}", a.arm, words::count(a.values.len(), "trial"))))
            .collect(),
    };
    let all = || pairs.iter().flat_map(|p| [p.1, p.2]);
    let axis = Axis::Metric(comparison.metric.unit);
    let room = Frame::room_for(&Scale::linear(axis, all(), (0.0, 1.0), 5)?);
    let mut frame = Frame::new(&words, room, 8.0, HEIGHT);
    let y = Scale::linear(axis, all(), frame.y_pixels(), 5)?;
    let ends = pairs.iter().map(|p| f64::from(p.0));
    let first = ends.clone().fold(f64::INFINITY, f64::min) - 0.6;
    let last = ends.fold(0.0, f64::max) + 0.6;
    let x = Scale::linear(Axis::Whole, [first, last], frame.x_pixels(), 12)?;
    frame.y_axis(&y, &words::axis(&comparison.metric.label, comparison.metric.direction));
    frame.x_axis(&x, "block");
    for (block, base, candidate) in &pairs {
        let at = x.at(f64::from(*block));
        frame.picture.line((at, y.at(*base)), (at, y.at(*candidate)), Ink::Axis, 1.5);
        for (arm, value) in arms.iter().zip([base, candidate]) {
            let style = source.style(&arm.arm);
            frame.picture.point((at, y.at(*value)), style.marker, 5.0, style.ink);
        }
    }
    Ok(Chart::new(file_name("probe", comparison, several), title, frame))
}
