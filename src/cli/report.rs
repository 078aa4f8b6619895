//! `run-bench report`: pages, charts and exports of campaigns.

use super::arguments::ReportArguments;
use super::exit::Exit;
use crate::analyze;
use crate::report;
use crate::report::ReportPart;
use crate::store::{CampaignFolder, HandOver};

/// The folder of the page over several campaigns, beside the first of them.
const SIDE_BY_SIDE: &str = "side-by-side";

pub fn main(arguments: &ReportArguments) -> anyhow::Result<Exit> {
    let all = ReportPart::all();
    let parts = if arguments.format.is_empty() { &all } else { &arguments.format };
    let mut analyses = Vec::new();
    for path in &arguments.campaigns {
        let folder = CampaignFolder::open(path)?;
        let _hand_over = HandOver::at_end(folder.path());
        let analysis = analyze::analyze(&folder)?;
        for written in report::write_parts(&analysis, &folder, parts)? {
            sayln!("{}", written.display());
        }
        analyses.push(analysis);
    }
    if let [first, _, ..] = arguments.campaigns.as_slice() {
        let beside = first.parent().unwrap_or(first).join(SIDE_BY_SIDE);
        let out = arguments.out.as_ref().unwrap_or(&beside);
        say!("{}", report::history_text(&analyses));
        for written in report::write_history(&analyses, out)? {
            sayln!("{}", written.display());
        }
    }
    Ok(Exit::Good)
}
