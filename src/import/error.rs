//! Why a mail gives no experiment.

use thiserror::Error;

/// A mail that cannot become an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    #[error(
        "the mail claims no result that can be read, so there is nothing to reproduce; `patch show` lists what was read"
    )]
    NoClaims,
    #[error("the mail has no claim {id:?}; it has {known}. Choose one with --claim")]
    UnknownClaim { id: String, known: String },
    #[error(
        "claim {id} ({metric}) cannot be run here: {reason}. Choose another with --claim; `patch show` lists them"
    )]
    NotRunnable { id: String, metric: String, reason: String },
    #[error(
        "the experiment made from claim {id} is not valid: {problems}. Write the experiment by hand from what `patch show` prints"
    )]
    Invalid { id: String, problems: String },
    #[error(
        "the patch of the mail cannot be taken out of it: {reason}. Fetch the series by its message id, for example with `b4 am`"
    )]
    NoPatch { reason: String },
}
