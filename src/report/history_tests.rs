//! The report over invented campaigns of several hosts.

use super::*;
use crate::analyze::analyze;
use crate::report::fixture::{EXPERIMENT, rich_campaign};
use crate::units::Percent;

fn analyses() -> Vec<CampaignAnalysis> {
    let results = tempfile::tempdir().expect("a folder");
    [("Example CPU A", "9.8.0", 2.0), ("Example CPU A", "9.9.0", 2.4), ("Example CPU B", "9.9.0", 1.2)]
        .into_iter()
        .enumerate()
        .map(|(i, (host, kernel, effect))| {
            let place = results.path().join(i.to_string());
            let folder =
                rich_campaign(&place, &EXPERIMENT.replace("blocks = 12", "blocks = 8"), Percent(effect));
            let mut manifest = folder.manifest().expect("read");
            manifest.host = host.to_owned();
            manifest.kernel.release = kernel.to_owned();
            manifest.created =
                jiff::Timestamp::from_second(1_700_000_000 + 86_400 * i as i64).expect("in range");
            manifest.campaign = format!("example-{i}");
            folder.write_manifest(&manifest).expect("written");
            analyze(&folder).expect("analysed")
        })
        .collect()
}

#[test]
fn hosts_stand_side_by_side() {
    insta::assert_snapshot!(history_text(&analyses()));
    assert!(history_text(&analyses()[..1]).contains("nothing to set side by side"));
}

#[test]
fn the_page_has_its_charts() {
    let out = tempfile::tempdir().expect("a folder");
    let written = write_history(&analyses(), out.path()).expect("written");
    assert!(written.iter().all(|p| p.is_file()), "{written:?}");
    let page = std::fs::read_to_string(&written[0]).expect("there");
    assert_eq!(page.matches("<figure>").count(), 2);
    if let Ok(keep) = std::env::var("RUN_BENCH_KEEP_HISTORY") {
        let status = std::process::Command::new("cp").arg("-r").arg(out.path()).arg(keep).status();
        assert!(status.expect("cp").success());
    }
}
