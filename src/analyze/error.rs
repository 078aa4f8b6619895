//! Why records cannot be compared.

use thiserror::Error;

use crate::store::StoreError;

/// A campaign that gives no analysis.
#[derive(Debug, Error)]
pub enum AnalyzeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the campaign has no valid trial ({invalid} invalid, {failed} failed): {reason}")]
    NothingValid { invalid: usize, failed: usize, reason: String },
    #[error(
        "{what} differs between trials that would be compared: {values}; such a mixture has no meaning. Run the experiment again with one {what}"
    )]
    Mixed { what: &'static str, values: String },
}
