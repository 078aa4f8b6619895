//! Whatever can run a trial: a target, or a fake in tests.

use tokio_util::sync::CancellationToken;

use super::error::CampaignError;
use crate::store::{TrialFolder, TrialSpec, TrialStatus};
use crate::target::HostTarget;

/// Runs one trial to its record.
pub trait TrialRunner {
    fn run(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<TrialStatus, CampaignError>> + Send;
}

impl TrialRunner for HostTarget {
    async fn run(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> Result<TrialStatus, CampaignError> {
        Ok(self.run_trial(spec, folder, cancel).await?)
    }
}
