//! Charts of invented campaigns: which there are, and that they can be read.

use super::*;
use crate::analyze::analyze;
use crate::report::fixture::{EXPERIMENT, rich_campaign};
use crate::report::series::middle_block;
use crate::units::Percent;

fn rich_gallery(experiment: &str) -> Gallery {
    let results = tempfile::tempdir().expect("a folder");
    let folder = rich_campaign(results.path(), experiment, Percent(2.1));
    let analysis = analyze(&folder).expect("analysed");
    let series = middle_block(&analysis, &folder, &folder.records().expect("read"));
    gallery(&Source { analysis: &analysis, series: series.as_ref() })
}

/// Texts that lie on each other, or outside the chart.
fn collisions(chart: &Chart) -> Vec<String> {
    let mut found = Vec::new();
    let texts: Vec<_> = chart.picture.texts().map(|t| (t.text.as_str(), t.bounds())).collect();
    for (i, (text, a)) in texts.iter().enumerate() {
        if a.0 < 0.0 || a.1 < 0.0 || a.2 > chart.picture.width || a.3 > chart.picture.height {
            found.push(format!("{}: {text:?} leaves the chart: {a:?}", chart.name));
        }
        for (other, b) in &texts[..i] {
            if a.0 < b.2 && b.0 < a.2 && a.1 + 1.0 < b.3 && b.1 + 1.0 < a.3 {
                found.push(format!("{}: {text:?} lies on {other:?}", chart.name));
            }
        }
    }
    found
}

#[test]
fn every_kind_is_drawn_and_no_text_lies_on_another() {
    for stop in ["fixed", "group-sequential", "anytime"] {
        let gallery = rich_gallery(&format!("{EXPERIMENT}stop = \"{stop}\"\n"));
        let names: Vec<&str> = gallery.charts.iter().map(|c| c.name.as_str()).collect();
        let expected = [
            "forest",
            "claim",
            "trials",
            "distribution",
            "sequential",
            "latency",
            "counters",
            "counter-lines",
            "variance",
        ];
        assert_eq!(names, expected);
        assert!(gallery.refused.is_empty(), "{:?}", gallery.refused);
        let found: Vec<String> = gallery.charts.iter().flat_map(collisions).collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn every_chart_states_n() {
    for chart in rich_gallery(EXPERIMENT).charts {
        assert!(chart.picture.texts().any(|t| t.text.contains("n = ")), "{}", chart.name);
    }
}
