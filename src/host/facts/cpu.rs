//! Processor, NUMA, SMT, governor and turbo.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

use super::super::knob::governor_paths;
use super::super::reader::Meminfo;
use super::super::root::SysRoot;
use crate::units::Bytes;

const CPU: &str = "/sys/devices/system/cpu";
const NODE: &str = "/sys/devices/system/node";

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeFacts {
    pub id: u32,
    /// As the kernel lists them: `0-15,32-47`.
    pub cpus: String,
    pub memory: Option<Bytes>,
}

/// The processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuFacts {
    pub model: Option<String>,
    pub architecture: String,
    pub sockets: Option<u64>,
    pub cores: Option<u64>,
    /// CPUs that are online.
    pub online: Option<u64>,
    /// CPUs that this process may use.
    pub allowed: Option<u64>,
    pub smt_active: Option<bool>,
    pub nodes: Vec<NodeFacts>,
    /// Each governor in use, once.
    pub governors: Vec<String>,
    pub turbo: Option<bool>,
    /// Whether a hypervisor shows itself.
    pub is_guest: Option<bool>,
}

impl CpuFacts {
    pub(super) fn gather(root: &SysRoot) -> Self {
        let system =
            System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing())).ok();
        let brand = system.as_ref().and_then(|s| s.cpus().first()).map(|cpu| cpu.brand().trim().to_owned());
        let info = root.read("/proc/cpuinfo").ok();
        let governors: BTreeSet<String> =
            governor_paths(root).iter().filter_map(|path| root.value(path)).collect();
        let online = root.value(format!("{CPU}/online")).as_deref().and_then(count_list);
        CpuFacts {
            model: brand.filter(|brand| !brand.is_empty()),
            architecture: System::cpu_arch(),
            sockets: packages(root),
            cores: System::physical_core_count().ok().and_then(|count| u64::try_from(count).ok()),
            online,
            allowed: allowed_cpus(root),
            smt_active: root.value(format!("{CPU}/smt/active")).map(|text| text == "1"),
            nodes: nodes(root),
            governors: governors.into_iter().collect(),
            turbo: turbo(root),
            is_guest: info.map(|text| text.contains(" hypervisor")),
        }
    }
}

/// How many numbers a list like `0-3,8` holds.
pub(super) fn count_list(text: &str) -> Option<u64> {
    let mut count = 0u64;
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

fn allowed_cpus(root: &SysRoot) -> Option<u64> {
    let status = root.read("/proc/self/status").ok()?;
    count_list(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

fn packages(root: &SysRoot) -> Option<u64> {
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|id| id.parse::<u32>().is_ok());
    let ids: BTreeSet<String> = root
        .names(CPU)
        .into_iter()
        .filter(is_cpu)
        .filter_map(|cpu| root.value(format!("{CPU}/{cpu}/topology/physical_package_id")))
        .collect();
    (!ids.is_empty()).then_some(ids.len() as u64)
}

fn nodes(root: &SysRoot) -> Vec<NodeFacts> {
    let ids = root.folder_names(NODE);
    let mut nodes: Vec<NodeFacts> = ids
        .iter()
        .filter_map(|name| name.strip_prefix("node")?.parse::<u32>().ok())
        .map(|id| NodeFacts {
            id,
            cpus: root.value(format!("{NODE}/node{id}/cpulist")).unwrap_or_default(),
            memory: node_memory(root, id),
        })
        .collect();
    nodes.sort_by_key(|node| node.id);
    nodes
}

/// The node's file is `/proc/meminfo` behind `Node N `.
fn node_memory(root: &SysRoot, id: u32) -> Option<Bytes> {
    let text = root.read(format!("{NODE}/node{id}/meminfo")).ok()?;
    let prefix = format!("Node {id} ");
    let plain: String = text.lines().map(|line| format!("{}\n", line.trim_start_matches(&prefix))).collect();
    Meminfo::from_text(&plain)?.get("MemTotal")
}

fn turbo(root: &SysRoot) -> Option<bool> {
    if let Some(no_turbo) = root.value(format!("{CPU}/intel_pstate/no_turbo")) {
        return Some(no_turbo == "0");
    }
    root.value(format!("{CPU}/cpufreq/boost")).map(|boost| boost == "1")
}
