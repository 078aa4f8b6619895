//! Why a report could not be made.

use std::path::PathBuf;

use thiserror::Error;

use super::chart::ChartError;
use crate::store::StoreError;

/// A failure while rendering or writing.
#[derive(Debug, Error)]
pub enum ReportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot write {path}: {source}", path = path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("cannot write comma-separated values: {0}")]
    Csv(csv::Error),
    #[error("cannot write JSON: {0}")]
    Json(serde_json::Error),
    #[error("cannot fill the page: {0}")]
    Page(askama::Error),
    #[error("cannot draw the chart {name}: {source}")]
    Chart { name: String, source: ChartError },
}

impl ReportError {
    pub(super) fn csv(error: csv::Error) -> Self {
        ReportError::Csv(error)
    }
}
