//! Reports of campaigns that something is wrong with: every part is written, nothing panics or hangs.

use super::*;
use crate::analyze::analyze;
use crate::analyze::fixture::{EXPERIMENT, Value, campaign, noisy};
use crate::report::chart::{Gallery, Source, gallery};
use crate::report::text::terminal_of_width;

fn report(experiment: &str, value: Value<'_>) -> (String, Vec<std::path::PathBuf>, Gallery) {
    let results = tempfile::tempdir().expect("a folder");
    let folder = campaign(results.path(), "c", experiment, value);
    let analysis = analyze(&folder).expect("analysed");
    // Pictures are drawn as SVG here; PNG would only be slow.
    let parts: Vec<ReportPart> =
        ReportPart::all().into_iter().filter(|p| !matches!(p, ReportPart::Charts)).collect();
    let written = write_parts(&analysis, &folder, &parts).expect("written");
    assert!(written.iter().all(|p| p.metadata().is_ok_and(|m| m.len() > 0)), "{written:?}");
    let gallery = gallery(&Source { analysis: &analysis, series: None });
    (terminal_of_width(&analysis, 100), written, gallery)
}

fn names(gallery: &Gallery) -> Vec<&str> {
    gallery.charts.iter().map(|c| c.name.as_str()).collect()
}

#[test]
fn one_arm_only() {
    let value =
        |block, position, arm: &str| (arm == "a").then(|| noisy(1000.0, 1.0, 0.01, (block, position)));
    let (text, _, gallery) = report(EXPERIMENT, &value);
    assert!(text.contains("no answer on file_read.ops_per_sec"), "{text}");
    assert_eq!(names(&gallery), ["trials", "distribution", "variance"]);
    assert!(gallery.refused.is_empty(), "{:?}", gallery.refused);
}

#[test]
fn one_block() {
    let (text, _, gallery) = report(&EXPERIMENT.replace("blocks = 8", "blocks = 1"), &|_, _, _| Some(1000.0));
    assert!(text.contains("a comparison needs at least 2"), "{text}");
    assert_eq!(names(&gallery), ["trials", "distribution"]);
}

#[test]
fn a_constant_metric_is_drawn_on_a_widened_axis() {
    let (text, _, gallery) = report(EXPERIMENT, &|_, _, _| Some(78.8));
    assert!(text.contains("is equivalent"), "{text}");
    assert_eq!(names(&gallery), ["forest", "trials", "distribution", "sequential"]);
}

#[test]
fn zero_and_negative_values_have_no_ratio_but_a_page() {
    for number in [0.0, -3.0] {
        let (text, _, gallery) = report(EXPERIMENT, &|_, _, _| Some(number));
        assert!(text.contains("zero or negative"), "{text}");
        assert_eq!(names(&gallery), ["trials", "distribution"], "{:?}", gallery.refused);
    }
}

#[test]
fn huge_and_tiny_values_are_drawn_or_refused() {
    for number in [1e-300, 1e12, 1e299] {
        let value = |block, position, _: &str| Some(noisy(number, 1.0, 0.01, (block, position)));
        let (_, _, gallery) = report(EXPERIMENT, &value);
        assert!(gallery.charts.len() + gallery.refused.len() >= 3, "{number}: {:?}", gallery.refused);
    }
}
