//! The forest by host class: each host, each class, all hosts.

use super::error::ChartError;
use super::frame::{Frame, LABEL, Words, interval_row};
use super::gallery::{Chart, Source};
use super::picture::{Align, Text, text_width};
use super::scale::{Axis, Scale};
use super::theme::{Ink, Marker};
use crate::analyze::{FleetComparison, HostVerdict, Verdict};
use crate::report::words;
use crate::units::Percent;

const ROW: f64 = 26.0;

/// One row: a host, a class, or all hosts.
struct Row {
    label: String,
    change: Percent,
    interval: Option<(Percent, Percent)>,
    verdict: Verdict,
    /// Over several hosts.
    pooled: bool,
}

pub(super) fn draw(source: &Source<'_>) -> Result<Vec<Chart>, ChartError> {
    let Some(fleet) = &source.analysis.fleet else { return Ok(Vec::new()) };
    let several = fleet.comparisons.len() > 1;
    let mut charts = Vec::new();
    for (i, one) in fleet.comparisons.iter().enumerate() {
        let rows = rows(source, one);
        if one.hosts.len() > 1 && !rows.is_empty() {
            let name = if several { format!("hosts-{}", i + 1) } else { "hosts".to_owned() };
            charts.push(chart(source, one, &rows, name)?);
        }
    }
    Ok(charts)
}

/// Hosts below their class, then the estimate over all.
fn rows(source: &Source<'_>, one: &FleetComparison) -> Vec<Row> {
    let row = |line: &HostVerdict, pooled: bool, label: String| {
        Some(Row { label, change: line.change?, interval: line.interval, verdict: line.verdict, pooled })
    };
    let mut rows = Vec::new();
    for class in &one.classes {
        let of_class = one.hosts.iter().filter(|h| h.class == class.name);
        rows.extend(of_class.filter_map(|h| row(h, false, format!("{} ({})", h.name, h.class))));
        if class.hosts > 1 && one.classes.len() > 1 {
            rows.extend(row(class, true, words::class_name(class)));
        }
    }
    let whole = source.analysis.deciding().find(|c| {
        c.workload == one.workload && c.metric.id == one.metric && c.candidate.arm == one.candidate
    });
    if let Some((whole, (change, interval))) = whole.and_then(|c| Some((c, words::raw(c)?))) {
        let label = format!("all {} hosts", one.hosts.len());
        rows.push(Row { label, change, interval, verdict: whole.verdict, pooled: true });
    }
    rows
}

fn chart(
    source: &Source<'_>,
    one: &FleetComparison,
    rows: &[Row],
    name: String,
) -> Result<Chart, ChartError> {
    let words = Words {
        title: format!("{}: {}", one.candidate, one.words),
        note: format!(
            "Change of {} against the baseline, each host by its own blocks. {}",
            one.metric,
            words::over_hosts(one).unwrap_or_default()
        ),
        keys: Vec::new(),
    };
    let widest = rows.iter().map(|r| text_width(&r.label, LABEL, true)).fold(0.0, f64::max);
    let mut frame =
        Frame::new(&words, widest.clamp(120.0, 330.0) + 14.0, 190.0, ROW * rows.len() as f64 + 8.0);
    let margin = source.analysis.question.margin.0;
    let ends =
        rows.iter().flat_map(|r| [Some(r.change.0), r.interval.map(|i| i.0.0), r.interval.map(|i| i.1.0)]);
    let values = ends.flatten().chain([-1.3 * margin, 1.3 * margin]);
    // Two hosts give an interval far wider than anything of interest.
    let nearest = rows.iter().map(|r| r.change.0.abs()).fold(margin, f64::max) * 4.0;
    let scale = Scale::linear(Axis::Change, values.map(|v| v.clamp(-nearest, nearest)), frame.x_pixels(), 7)?;
    let (top, bottom) = (frame.top, frame.bottom);
    frame.picture.rectangle((scale.at(-margin), top), (scale.at(margin), bottom), Ink::Margin, 1.0);
    frame.x_axis(&scale, "change");
    frame.picture.line((scale.at(0.0), top), (scale.at(0.0), bottom), Ink::Axis, 1.5);
    for (i, row) in rows.iter().enumerate() {
        let y = top + 4.0 + ROW * (i as f64 + 0.5);
        let style = source.style(&one.candidate);
        frame.row_label(y, &row.label, Ink::Text, row.pooled);
        if let Some((low, high)) = row.interval {
            let ends = (scale.at(low.0.max(-nearest)), scale.at(high.0.min(nearest)));
            interval_row(&mut frame.picture, y, ends, (style.ink, if row.pooled { 2.0 } else { 1.25 }));
        }
        let marker = if row.pooled { Marker::Diamond } else { style.marker };
        frame.picture.point((scale.at(row.change.0), y), marker, 5.0, style.ink);
        let ink = match row.verdict {
            Verdict::Better => Ink::Better,
            Verdict::Worse => Ink::Worse,
            _ => Ink::Muted,
        };
        let at = frame.right;
        let change = Text::new((at + 78.0, y), words::change(row.change), LABEL, Ink::Text).align(Align::End);
        frame.picture.text(change);
        frame.picture.text(Text::new((at + 92.0, y), row.verdict.to_string(), LABEL, ink));
    }
    let title = words.title.clone();
    Ok(Chart::new(name, title, frame))
}

#[cfg(test)]
mod tests {
    use super::super::{Source, gallery, svg_for_page};
    use crate::analyze::fleet::tests::fleet;

    #[test]
    fn hosts_stand_below_their_class_and_all_of_them_last() {
        let results = tempfile::tempdir().expect("a folder");
        let hosts = [("a1", "epyc"), ("a2", "epyc"), ("b1", "xeon"), ("b2", "xeon")];
        let analysis = fleet(results.path(), &hosts, &[1.06, 1.05, 0.95, 0.96]);
        let drawn = gallery(&Source { analysis: &analysis, series: None });
        assert!(drawn.refused.is_empty(), "{:?}", drawn.refused);
        let chart = drawn.charts.iter().find(|c| c.name == "hosts").expect("drawn");
        let svg = svg_for_page(&chart.picture, &chart.title).expect("drawn");
        let places: Vec<usize> = [
            "a1 (epyc)",
            "a2 (epyc)",
            "epyc, 2 hosts",
            "b1 (xeon)",
            "b2 (xeon)",
            "xeon, 2 hosts",
            "all 4 hosts",
        ]
        .iter()
        .map(|label| svg.find(label).unwrap_or_else(|| panic!("{label} is not there")))
        .collect();
        assert!(places.is_sorted(), "{places:?}");
        let one = fleet(results.path().join("one").as_path(), &hosts[..1], &[1.06]);
        let drawn = gallery(&Source { analysis: &one, series: None });
        assert!(drawn.charts.iter().all(|c| c.name != "hosts"), "one host is the forest itself");
    }
}
