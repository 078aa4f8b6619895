//! The running kernel of this host: a trial is a child process.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::error::TargetError;
use super::fixture::FixtureKeeper;
use crate::exec::{self, Command, Ended};
use crate::store::{TrialFolder, TrialSpec, TrialStatus};
use crate::units::Bytes;

/// Time that a trial gets after its own deadline to stop its children and restore the host.
const TEAR_DOWN: Duration = Duration::from_secs(60);

/// Runs trials as `run-bench trial` on this host.
#[derive(Debug)]
pub struct HostTarget {
    executable: PathBuf,
    /// The file system kept for the block that runs.
    fixture: Mutex<Option<FixtureKeeper>>,
}

impl HostTarget {
    /// A target that starts this same program.
    pub fn new() -> Result<Self, TargetError> {
        std::env::current_exe().map(HostTarget::with_executable).map_err(TargetError::OwnExecutable)
    }

    pub fn with_executable(executable: PathBuf) -> Self {
        HostTarget { executable, fixture: Mutex::new(None) }
    }

    /// Runs one trial to its record. A trial that leaves no record is lost, and
    /// what it did to the host is undone.
    pub async fn run_trial(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> Result<TrialStatus, TargetError> {
        let spec = &TrialSpec { fixture: self.fixture_for(spec, cancel).await?, ..spec.clone() };
        folder.write_spec(spec)?;
        let command = Command {
            deadline: spec.deadline.to_duration() + TEAR_DOWN,
            grace: TEAR_DOWN,
            output_limit: Bytes::mib(1),
            ..Command::new(&self.executable)
        }
        .arg("trial")
        .arg("--spec")
        .arg(folder.spec_path())
        .arg("--out")
        .arg(folder.path());
        let output = exec::run(&command, cancel).await?;
        crate::store::write_atomically(&folder.path().join("trial.log"), &output.stderr.bytes())?;
        match status_of(spec, folder)? {
            TrialStatus::Lost => {
                self.restore_host().await?;
                let cancelled = output.ended == Ended::Cancelled;
                Ok(if cancelled { TrialStatus::Interrupted } else { TrialStatus::Lost })
            }
            status => Ok(status),
        }
    }

    /// The folder that the block's trials share, made by the first of them.
    async fn fixture_for(
        &self,
        spec: &TrialSpec,
        cancel: &CancellationToken,
    ) -> Result<Option<PathBuf>, TargetError> {
        let Some(space) = spec.workload.file_space() else { return Ok(None) };
        let mut kept = self.fixture.lock().await;
        let keeper = match kept.take() {
            Some(keeper) => keeper,
            None => FixtureKeeper::start(&self.executable, space, cancel).await?,
        };
        let folder = kept.insert(keeper).folder().to_owned();
        Ok(Some(folder))
    }

    /// Takes the block's file system down.
    pub async fn end_fixture(&self) -> Result<(), TargetError> {
        match self.fixture.lock().await.take() {
            Some(keeper) => keeper.stop().await,
            None => Ok(()),
        }
    }

    /// Undoes what killed trials left behind, by the same command that a user has.
    async fn restore_host(&self) -> Result<(), TargetError> {
        let command = Command::new(&self.executable).arg("clean").deadline(Duration::from_secs(120));
        let output = exec::run(&command, &CancellationToken::new()).await?;
        if output.ended == Ended::Exited(0) { Ok(()) } else { Err(TargetError::Dirty(output.stderr.text())) }
    }
}

/// How a trial ended by the record that it left; a record of another attempt does not count.
fn status_of(spec: &TrialSpec, folder: &TrialFolder) -> Result<TrialStatus, TargetError> {
    if !folder.has_record() {
        return Ok(TrialStatus::Lost);
    }
    let record = folder.record()?;
    if record.spec.nonce != spec.nonce {
        return Ok(TrialStatus::Lost);
    }
    Ok(record.outcome.status())
}
