//! `run-bench report`: pages, charts and exports of campaigns.

use super::arguments::ReportArguments;
use super::exit::Exit;
use crate::analyze;
use crate::report;
use crate::store::CampaignFolder;

pub fn main(arguments: &ReportArguments) -> anyhow::Result<Exit> {
    for path in &arguments.campaigns {
        let folder = CampaignFolder::open(path)?;
        let analysis = analyze::analyze(&folder)?;
        for written in report::write_all(&analysis, &folder)? {
            println!("{}", written.display());
        }
    }
    Ok(Exit::Good)
}
