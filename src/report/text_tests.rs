//! The terminal's text of an invented campaign.

use super::*;
use crate::analyze::analyze;
use crate::report::fixture::{EXPERIMENT, rich_campaign};
use crate::units::Percent;

fn rich() -> CampaignAnalysis {
    let results = tempfile::tempdir().expect("a folder");
    analyze(&rich_campaign(results.path(), EXPERIMENT, Percent(2.1))).expect("analysed")
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let analysis = rich();
    for width in [60, 80, 100, 140] {
        let text = terminal_of_width(&analysis, width);
        let long = text.lines().find(|l| l.chars().count() > usize::from(width) + 2);
        assert!(long.is_none(), "wider than {width}: {long:?}");
    }
}

#[test]
fn the_verdict_comes_first() {
    insta::assert_snapshot!(terminal_of_width(&rich(), 100));
}
