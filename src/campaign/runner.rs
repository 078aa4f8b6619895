//! Whatever can run a trial: a target, or a fake in tests.

use tokio_util::sync::CancellationToken;

use super::error::CampaignError;
use crate::store::{TrialFolder, TrialSpec, TrialStatus};
use crate::target::HostTarget;
use crate::target::Targets;

/// Runs one trial to its record.
pub trait TrialRunner {
    fn run(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<TrialStatus, CampaignError>> + Send;

    /// Takes down what was kept for a block.
    fn end_block(&self) -> impl Future<Output = Result<(), CampaignError>> + Send {
        async { Ok(()) }
    }
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

    async fn end_block(&self) -> Result<(), CampaignError> {
        Ok(self.end_fixture().await?)
    }
}

impl TrialRunner for Targets {
    async fn run(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> Result<TrialStatus, CampaignError> {
        Ok(self.run_trial(spec, folder, cancel).await?)
    }

    async fn end_block(&self) -> Result<(), CampaignError> {
        Ok(Targets::end_block(self).await?)
    }
}
