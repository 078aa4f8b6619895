//! Miss ratio and refault ratio over memory sizes, a policy a line.

use super::error::ChartError;
use super::frame::{Frame, Key, Words};
use super::gallery::Chart;
use super::scale::{Axis, Scale};
use super::theme::{ArmStyle, Ink, Marker};
use crate::metric::Unit;
use crate::model::curve::CurveRow;
use crate::units::PAGE_SIZE;

const HEIGHT: f64 = 340.0;
/// Looks in the order of the lines; more lines than these repeat them.
const LOOKS: [(Ink, Marker); 9] = [
    (Ink::Baseline, Marker::Circle),
    (Ink::Candidate, Marker::Triangle),
    (Ink::SecondCandidate, Marker::Square),
    (Ink::ThirdCandidate, Marker::Diamond),
    (Ink::Control, Marker::Ring),
    (Ink::Placebo, Marker::Cross),
    (Ink::Muted, Marker::Square),
    (Ink::Claim, Marker::Circle),
    (Ink::Axis, Marker::Triangle),
];

/// One of the two ratios.
struct Kind {
    name: &'static str,
    words: &'static str,
    ratio: fn(&CurveRow) -> f64,
}

const KINDS: [Kind; 2] = [
    Kind { name: "mrc", words: "miss ratio", ratio: CurveRow::miss_ratio },
    Kind { name: "refaults", words: "refault ratio", ratio: CurveRow::refault_ratio },
];

/// Both charts of one stream, which `stream` names.
pub fn curve_charts(rows: &[CurveRow], stream: &str) -> Result<Vec<Chart>, ChartError> {
    KINDS.iter().map(|kind| draw(rows, stream, kind)).collect()
}

fn draw(rows: &[CurveRow], stream: &str, kind: &Kind) -> Result<Chart, ChartError> {
    let policies = policies(rows);
    let title = title(rows, &policies, kind);
    let key = |(i, policy): (usize, &&str)| Key { style: look(i), text: (*policy).to_owned() };
    let words = Words {
        title: title.clone(),
        note: format!("Simulated, each size from empty memory. {stream}."),
        keys: policies.iter().enumerate().map(key).collect(),
    };
    let ratios = || rows.iter().map(kind.ratio).chain([0.0]);
    let room = Frame::room_for(&Scale::linear(Axis::Metric(Unit::Ratio), ratios(), (0.0, 1.0), 6)?);
    let mut frame = Frame::new(&words, room, 8.0, HEIGHT);
    let y = Scale::linear(Axis::Metric(Unit::Ratio), ratios(), frame.y_pixels(), 6)?;
    let bytes = |row: &CurveRow| (row.size.0 * PAGE_SIZE) as f64;
    let x = Scale::logarithmic(Unit::Bytes, rows.iter().map(bytes), frame.x_pixels())?;
    frame.x_axis(&x, "memory");
    frame.y_axis(&y, kind.words);
    for (i, policy) in policies.iter().enumerate() {
        let style = look(i);
        let of = rows.iter().filter(|row| row.policy == *policy);
        let points: Vec<(f64, f64)> = of.map(|row| (x.at(bytes(row)), y.at((kind.ratio)(row)))).collect();
        for at in &points {
            frame.picture.point(*at, style.marker, 3.6, style.ink);
        }
        frame.picture.path(points, style.ink, 1.6);
    }
    Ok(Chart::new(kind.name, title, frame))
}

/// Policies in the order of their rows.
fn policies(rows: &[CurveRow]) -> Vec<&str> {
    let mut policies: Vec<&str> = Vec::new();
    for row in rows {
        if !policies.contains(&row.policy.as_str()) {
            policies.push(&row.policy);
        }
    }
    policies
}

fn look(line: usize) -> ArmStyle {
    let (ink, marker) = LOOKS[line % LOOKS.len()];
    ArmStyle { ink, marker }
}

/// What the first line does at half of the largest memory, against the others' range there.
fn title(rows: &[CurveRow], policies: &[&str], kind: &Kind) -> String {
    let largest = rows.iter().map(|row| row.size.0).max().unwrap_or(0);
    let Some(middle) = rows.iter().map(|row| row.size).min_by_key(|size| size.0.abs_diff(largest / 2)) else {
        return kind.words.to_owned();
    };
    let at = |policy: &str| {
        let row = rows.iter().find(|row| row.policy == policy && row.size == middle);
        row.map(|row| format!("{policy} {:.3}", (kind.ratio)(row)))
    };
    let shown: Vec<String> = policies.iter().filter_map(|policy| at(policy)).take(4).collect();
    format!("{} at {}: {}", sentence(kind.words), crate::units::Bytes(middle.0 * PAGE_SIZE), shown.join(", "))
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::svg_file;
    use crate::units::Pages;

    fn rows() -> Vec<CurveRow> {
        let row = |policy: &str, size, misses| CurveRow {
            policy: policy.to_owned(),
            size: Pages(size),
            accesses: 1000,
            misses,
            refaults: misses / 2,
        };
        vec![
            row("mglru 6.12", 1024, 600),
            row("mglru 6.12", 2048, 200),
            row("lru", 1024, 640),
            row("lru", 2048, 200),
        ]
    }

    #[test]
    fn both_ratios_are_drawn_and_repeat() {
        let charts = curve_charts(&rows(), "zipf:0.99").expect("drawn");
        let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
        assert_eq!(names, ["mrc", "refaults"]);
        assert_eq!(charts[0].title, "Miss ratio at 4MiB: mglru 6.12 0.600, lru 0.640");
        let again = curve_charts(&rows(), "zipf:0.99").expect("drawn");
        for (chart, again) in charts.iter().zip(&again) {
            let svg = svg_file(&chart.picture, &chart.title).expect("drawn");
            assert_eq!(svg, svg_file(&again.picture, &again.title).expect("drawn"));
            assert!(svg.contains("zipf:0.99"));
        }
    }

    #[test]
    fn nothing_makes_no_chart() {
        assert!(curve_charts(&[], "x").is_err());
    }
}
