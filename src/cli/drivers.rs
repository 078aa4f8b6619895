//! What `driver = "auto"` means: settled once, so that no comparison mixes drivers.

use std::collections::BTreeMap;

use crate::config::Plan;
use crate::config::workload::{Driver, Workload};
use crate::exec::{ToolName, Tools};
use crate::store::Manifest;
use crate::workload::netperf;

/// What `auto` means on this host, for the whole campaign.
pub(super) async fn settled(plan: &Plan, tools: &Tools) -> BTreeMap<String, String> {
    let mut settled = BTreeMap::new();
    for workload in &plan.workloads {
        let found = |tool| tools.find(tool).is_ok();
        let (driver, tool_serves) = match &workload.workload {
            Workload::Memcached(w) => (w.load.driver, found(ToolName::Memtier)),
            Workload::Netperf(w) => (w.driver, netperf::tool_serves(w.test, tools).await),
            Workload::WillItScale(w) => (w.driver, found(ToolName::WillItScale)),
            _ => continue,
        };
        let choice = match driver {
            Driver::Auto if tool_serves => Driver::Tool,
            Driver::Auto => Driver::Builtin,
            chosen => chosen,
        };
        let text = if choice == Driver::Builtin { "builtin" } else { "tool" };
        settled.insert(workload.workload.name().to_owned(), text.to_owned());
    }
    settled
}

/// Writes the settled drivers into the plan, so that no trial chooses for itself.
pub(super) fn write_into(plan: &mut Plan, manifest: &Manifest) {
    for workload in &mut plan.workloads {
        let choice = match manifest.drivers.get(workload.workload.name()).map(String::as_str) {
            Some("builtin") => Driver::Builtin,
            Some(_) => Driver::Tool,
            None => continue,
        };
        match &mut workload.workload {
            Workload::Memcached(w) => w.load.driver = choice,
            Workload::Netperf(w) => w.driver = choice,
            Workload::WillItScale(w) => w.driver = choice,
            _ => {}
        }
    }
}
