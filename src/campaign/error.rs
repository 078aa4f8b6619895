//! Why a campaign cannot start or go on.

use thiserror::Error;

use crate::store::StoreError;
use crate::target::TargetError;

/// A failure of the campaign itself; a bad trial is an outcome instead.
#[derive(Debug, Error)]
pub enum CampaignError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(
        "{campaign} was started with another experiment (hash {recorded}, now {given}); resume it with its own experiment.toml, or choose another name with --name"
    )]
    OtherExperiment { campaign: String, recorded: String, given: String },
    #[error(
        "{campaign} was recorded on host {recorded}, this is {given}; a campaign stays on its host: run it there, or start another with --name"
    )]
    OtherHost { campaign: String, recorded: String, given: String },
    #[error(
        "{seen}, and the experiment refuses to share the host with it: {remedy}, or take out environment.refuse-reclaimers"
    )]
    Reclaimer { seen: String, remedy: String },
    #[error("{what} cannot run here: {reason}")]
    Unsupported { what: String, reason: String },
}
