//! All files of a report.

use std::path::{Path, PathBuf};

use super::chart::{Gallery, Source, gallery, png_file, svg_file};
use super::error::ReportError;
use super::export::{Export, ExportFormat, FORMATS};
use super::html;
use super::mail::mail;
use super::series::middle_block;
use crate::analyze::CampaignAnalysis;
use crate::store::{CampaignFolder, write_atomically, write_json};

/// Something that a report can be made of.
#[derive(Debug, Clone, Copy)]
pub enum ReportPart {
    /// The page, `index.html`.
    Page,
    /// Charts as SVG and PNG.
    Charts,
    /// The text for a reply.
    Mail,
    /// The analysis with every number.
    Json,
    /// A format of another tool.
    Export(&'static ExportFormat),
}

impl ReportPart {
    /// Every part, the page first.
    pub fn all() -> Vec<ReportPart> {
        let own = [ReportPart::Page, ReportPart::Mail, ReportPart::Json, ReportPart::Charts];
        own.into_iter().chain(FORMATS.iter().map(ReportPart::Export)).collect()
    }

    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            ReportPart::Page => "html",
            ReportPart::Charts => "charts",
            ReportPart::Mail => "mail",
            ReportPart::Json => "json",
            ReportPart::Export(format) => format.name,
        }
    }

    /// The part of this name.
    pub fn named(name: &str) -> Option<ReportPart> {
        ReportPart::all().into_iter().find(|part| part.name() == name)
    }
}

/// Writes every page, chart and export; the paths, the page first.
pub fn write_all(analysis: &CampaignAnalysis, folder: &CampaignFolder) -> Result<Vec<PathBuf>, ReportError> {
    write_parts(analysis, folder, &ReportPart::all())
}

/// Where the page, the mail and the charts are, for the end of a run.
pub fn places(written: &[PathBuf]) -> String {
    let mut text = String::new();
    let kinds = [("page", "index.html"), ("mail", "reply.txt")];
    for (what, name) in kinds {
        if let Some(path) = written.iter().find(|p| p.ends_with(name)) {
            text.push_str(&format!("{what:<7} {}\n", path.display()));
        }
    }
    let charts: Vec<&PathBuf> =
        written.iter().filter(|p| p.extension().is_some_and(|e| e == "png")).collect();
    for path in &charts {
        text.push_str(&format!("chart   {}\n", path.display()));
    }
    text
}

/// Writes some parts into the campaign's `report/`; the paths, in the order asked for.
pub fn write_parts(
    analysis: &CampaignAnalysis,
    folder: &CampaignFolder,
    parts: &[ReportPart],
) -> Result<Vec<PathBuf>, ReportError> {
    let path = folder.report_path();
    create(&path)?;
    let records = folder.records()?;
    let series = middle_block(analysis, folder, &records);
    let gallery = gallery(&Source { analysis, series: series.as_ref() });
    let export = Export { analysis, records: &records };
    let mut written = Vec::new();
    for part in parts {
        let text = match part {
            ReportPart::Charts => {
                written.extend(write_charts(&gallery, &path)?);
                continue;
            }
            ReportPart::Json => {
                write_json(&path.join("analysis.json"), analysis)?;
                written.push(path.join("analysis.json"));
                continue;
            }
            ReportPart::Page => ("index.html", html::page(analysis, folder, &records, &gallery)?),
            ReportPart::Mail => ("reply.txt", mail(analysis)),
            ReportPart::Export(format) => (format.file, (format.render)(&export)?),
        };
        write_atomically(&path.join(text.0), text.1.as_bytes())?;
        written.push(path.join(text.0));
    }
    Ok(written)
}

/// Every chart as SVG and PNG below `charts/`.
pub(super) fn write_charts(gallery: &Gallery, path: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let charts = path.join("charts");
    create(&charts)?;
    let mut written = Vec::new();
    for chart in &gallery.charts {
        let failed = |source| ReportError::Chart { name: chart.name.clone(), source };
        let svg = charts.join(format!("{}.svg", chart.name));
        write_atomically(&svg, svg_file(&chart.picture, &chart.title).map_err(failed)?.as_bytes())?;
        let png = charts.join(format!("{}.png", chart.name));
        write_atomically(&png, &png_file(&chart.picture).map_err(failed)?)?;
        written.extend([svg, png]);
    }
    remove_others(&charts, &written)?;
    Ok(written)
}

/// Charts of an earlier report that this one does not have.
fn remove_others(charts: &Path, written: &[PathBuf]) -> Result<(), ReportError> {
    let failed = |source| ReportError::Write { path: charts.to_owned(), source };
    for entry in std::fs::read_dir(charts).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let drawn = path.extension().is_some_and(|e| e == "svg" || e == "png");
        if drawn && !written.contains(&path) {
            std::fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(())
}

pub(super) fn create(path: &Path) -> Result<(), ReportError> {
    std::fs::create_dir_all(path).map_err(|source| ReportError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fault_tests.rs"]
mod fault_tests;
