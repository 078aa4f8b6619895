//! All files of a report.

use std::path::{Path, PathBuf};

use super::chart::{Source, gallery, png_file, svg_file};
use super::error::ReportError;
use super::html;
use super::mail::mail;
use super::series::middle_block;
use crate::analyze::CampaignAnalysis;
use crate::store::{CampaignFolder, write_atomically};

/// Writes every page, chart and export; the paths, the page first.
pub fn write_all(analysis: &CampaignAnalysis, folder: &CampaignFolder) -> Result<Vec<PathBuf>, ReportError> {
    let path = folder.report_path();
    create(&path)?;
    let records = folder.records()?;
    let series = middle_block(analysis, folder, &records);
    let gallery = gallery(&Source { analysis, series: series.as_ref() });
    let page = path.join("index.html");
    write_atomically(&page, html::page(analysis, folder, &records, &gallery)?.as_bytes())?;
    let reply = path.join("reply.txt");
    write_atomically(&reply, mail(analysis).as_bytes())?;
    let mut written = vec![page, reply];
    let charts = path.join("charts");
    create(&charts)?;
    for chart in &gallery.charts {
        let failed = |source| ReportError::Chart { name: chart.name.clone(), source };
        let svg = charts.join(format!("{}.svg", chart.name));
        write_atomically(&svg, svg_file(&chart.picture, &chart.title).map_err(failed)?.as_bytes())?;
        let png = charts.join(format!("{}.png", chart.name));
        write_atomically(&png, &png_file(&chart.picture).map_err(failed)?)?;
        written.extend([svg, png]);
    }
    let json = path.join("analysis.json");
    crate::store::write_json(&json, analysis)?;
    written.push(json);
    Ok(written)
}

fn create(path: &Path) -> Result<(), ReportError> {
    std::fs::create_dir_all(path).map_err(|source| ReportError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
