//! Whole reports of invented campaigns.

use super::*;
use crate::analyze::analyze;
use crate::report::fixture::{EXPERIMENT, rich_campaign};
use crate::units::Percent;

/// Set to a folder to keep the report and look at it.
const KEEP: &str = "RUN_BENCH_KEEP_REPORT";

#[test]
fn a_report_has_every_file_and_repeats_to_the_byte() {
    let results = tempfile::tempdir().expect("a folder");
    let folder = rich_campaign(results.path(), EXPERIMENT, Percent(2.1));
    let analysis = analyze(&folder).expect("analysed");
    let written = write_all(&analysis, &folder).expect("written");
    assert!(written[0].ends_with("index.html"), "{written:?}");
    assert!(written.iter().all(|p| p.is_file()));
    // PNG repeats too, which a test of its own shows on a small picture.
    let records = folder.records().expect("read");
    let again = analyze(&folder).expect("analysed");
    let series = middle_block(&again, &folder, &records);
    let gallery = gallery(&Source { analysis: &again, series: series.as_ref() });
    let page = html::page(&again, &folder, &records, &gallery).expect("a page");
    assert_eq!(std::fs::read_to_string(&written[0]).expect("there"), page);
    for chart in &gallery.charts {
        let svg = std::fs::read_to_string(folder.report_path().join(format!("charts/{}.svg", chart.name)));
        assert_eq!(
            svg.expect("there"),
            svg_file(&chart.picture, &chart.title).expect("drawn"),
            "{}",
            chart.name
        );
    }
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org/").count()
    );
    assert!(!page.contains("https://"), "the page needs no network");
    if let Ok(keep) = std::env::var(KEEP) {
        let status = std::process::Command::new("cp").arg("-r").arg(folder.path()).arg(keep).status();
        assert!(status.expect("cp").success());
    }
}
