//! `run-bench trial`: one trial, started by a target.

use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use super::arguments::TrialArguments;
use super::exit::Exit;
use super::signals::cancel_on_signal;
use crate::store::{TrialFolder, TrialOutcome, TrialSpec, read_json};

pub fn main(arguments: &TrialArguments) -> anyhow::Result<Exit> {
    let spec: TrialSpec = read_json(&arguments.spec, "trial specification")?;
    let folder = TrialFolder::at(&arguments.out)?;
    if !crate::host::stay_in_memory() {
        tracing::debug!("this process may be swapped out: its pages could not be locked");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let record = runtime.block_on(async {
        let cancel = cancel_on_signal().context("cannot listen to signals")?;
        tokio::spawn(end_with_parent(cancel.clone()));
        anyhow::Ok(crate::trial::run(spec, &folder, &cancel).await?)
    })?;
    Ok(match record.outcome {
        TrialOutcome::Valid => Exit::Good,
        TrialOutcome::Unsupported { .. } => Exit::HostNotReady,
        TrialOutcome::Invalid { .. } | TrialOutcome::Failed { .. } | TrialOutcome::Interrupted => {
            Exit::InvalidRun
        }
    })
}

/// A trial whose campaign is gone serves nobody: it stops and restores the host.
async fn end_with_parent(cancel: CancellationToken) {
    let parent = rustix::process::getppid();
    while rustix::process::getppid() == parent {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    cancel.cancel();
}
