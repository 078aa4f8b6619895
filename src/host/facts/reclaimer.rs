//! Who else reclaims memory on this host: numbers measured beside them may be theirs.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::reader::{ProcessNames, kdamonds, process_names};
use super::super::root::SysRoot;

/// How long looking at all processes may take.
const DEADLINE: Duration = Duration::from_secs(2);
/// User-space daemons that kill or reclaim under pressure, by process name.
const DAEMONS: [(&str, ReclaimerKind); 6] = [
    ("systemd-oomd", ReclaimerKind::OomDaemon),
    ("earlyoom", ReclaimerKind::OomDaemon),
    ("oomd", ReclaimerKind::OomDaemon),
    ("nohang", ReclaimerKind::OomDaemon),
    ("senpai", ReclaimerKind::Proactive),
    ("uswapd", ReclaimerKind::Proactive),
];

/// What kind of reclaimer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReclaimerKind {
    /// A DAMON scheme that moves or frees pages.
    Damon,
    /// A DAMON monitor that only watches, or whose schemes cannot be seen.
    DamonMonitor,
    Ksm,
    Zswap,
    OomDaemon,
    Proactive,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reclaimer {
    pub kind: ReclaimerKind,
    /// What was seen.
    pub seen: String,
    /// How to switch it off for a run; the tool itself leaves it alone.
    pub remedy: String,
}

/// All that run now, and whether every process could be looked at.
pub fn reclaimers(root: &SysRoot) -> (Vec<Reclaimer>, bool) {
    let processes = process_names(root, DEADLINE);
    let mut found = damon(root, &processes);
    if root.value("/sys/kernel/mm/ksm/run").as_deref() == Some("1") {
        found.push(Reclaimer {
            kind: ReclaimerKind::Ksm,
            seen: "ksmd merges pages (/sys/kernel/mm/ksm/run is 1)".to_owned(),
            remedy: "echo 0 > /sys/kernel/mm/ksm/run".to_owned(),
        });
    }
    let zswap = root.value("/sys/module/zswap/parameters/enabled");
    if matches!(zswap.as_deref(), Some("Y" | "1")) {
        found.push(Reclaimer {
            kind: ReclaimerKind::Zswap,
            seen: "zswap takes pages before any swap device".to_owned(),
            remedy: "echo N > /sys/module/zswap/parameters/enabled, or declare it in the experiment"
                .to_owned(),
        });
    }
    for (name, kind) in DAEMONS {
        if let Some(pid) = processes.pids(name).first() {
            found.push(Reclaimer {
                kind,
                seen: format!("{name} runs (pid {pid})"),
                remedy: format!("systemctl stop {name}"),
            });
        }
    }
    (found, processes.complete)
}

fn damon(root: &SysRoot, processes: &ProcessNames) -> Vec<Reclaimer> {
    let mut found = Vec::new();
    let mut explained = Vec::new();
    for kdamond in kdamonds(root).into_iter().filter(|kdamond| kdamond.running) {
        explained.extend(kdamond.pid);
        let acting: Vec<String> = kdamond
            .schemes
            .iter()
            .filter(|scheme| scheme.reclaims())
            .map(|scheme| match scheme.quota_bytes {
                Some(bytes) if bytes > 0 => format!("{} (quota {bytes} bytes)", scheme.action),
                _ => scheme.action.clone(),
            })
            .collect();
        let (kind, what) = if acting.is_empty() {
            (ReclaimerKind::DamonMonitor, "watches".to_owned())
        } else {
            (ReclaimerKind::Damon, format!("applies {}", acting.join(", ")))
        };
        let folder = format!("/sys/kernel/mm/damon/admin/kdamonds/{}", kdamond.index);
        found.push(Reclaimer {
            kind,
            seen: format!("kdamond.{} {what}", kdamond.index),
            remedy: format!("echo off > {folder}/state, if it is yours"),
        });
    }
    // Monitors of the modules (damon_reclaim, damon_lru_sort) are not in that tree.
    let threads = processes.names.iter().filter(|(_, name)| name.starts_with("kdamond"));
    for (pid, name) in threads.filter(|(pid, _)| !explained.contains(pid)) {
        found.push(Reclaimer {
            kind: ReclaimerKind::DamonMonitor,
            seen: format!("kernel thread {name} (pid {pid}), set up outside sysfs"),
            remedy: "see /sys/module/damon_reclaim/parameters/enabled and damon_lru_sort".to_owned(),
        });
    }
    found
}
