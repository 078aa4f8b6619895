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
        "claim {id} ({metric}) cannot be run here: {reason}. `patch show` lists all claims; choose another with --claim"
    )]
    NotRunnable { id: String, metric: String, reason: String },
    #[error(
        "none of the mail's {claims} claims can be run here: {reasons}. `patch show` lists them; choose one with --claim to see its reason, or write the experiment by hand"
    )]
    NoneRunnable { claims: usize, reasons: String },
    #[error(
        "the experiment made from claim {id} is not valid: {problems}. Write the experiment by hand from what `patch show` prints"
    )]
    Invalid { id: String, problems: String },
    #[error(
        "the patch of the mail cannot be taken out of it: {reason}. Fetch the series by its message id, for example with `b4 am`; without --kernel-tree the experiment is written all the same"
    )]
    NoPatch { reason: String },
}
