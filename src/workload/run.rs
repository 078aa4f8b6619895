//! From the configured workload to the code that runs it.

use super::contract::{Context, Outcome};
use super::error::WorkloadError;
use super::{command, file_read, fio, memcached, netperf, reclaim_probe, usemem, will_it_scale};
use crate::config::Workload;

/// Runs the workload once.
pub async fn run(workload: &Workload, context: &Context<'_>) -> Result<Outcome, WorkloadError> {
    match workload {
        Workload::Netperf(config) => netperf::run(config, context).await,
        Workload::WillItScale(config) => will_it_scale::run(config, context).await,
        Workload::Usemem(config) => usemem::run(config, context).await,
        Workload::FileRead(config) => file_read::run(config, context).await,
        Workload::Memcached(config) => memcached::run(config, context).await,
        Workload::Fio(config) => fio::run(config, context).await,
        Workload::Command(config) => command::run(config, context).await,
        Workload::ReclaimProbe(config) => reclaim_probe::run(config, context).await,
    }
}
