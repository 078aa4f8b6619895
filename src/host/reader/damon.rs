//! DAMON's sysfs tree: which monitors run and what their schemes do. Only read:
//! asking the kernel to refresh their statistics would write to somebody else's monitor.

use super::super::root::SysRoot;

const KDAMONDS: &str = "/sys/kernel/mm/damon/admin/kdamonds";

/// One scheme of a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamonScheme {
    /// `pageout`, `lru_prio`, `stat`, …
    pub action: String,
    /// Bytes per `quota_reset_ms`; 0 means no quota.
    pub quota_bytes: Option<u64>,
    pub quota_reset_ms: Option<u64>,
}

impl DamonScheme {
    /// Whether it moves or frees pages on its own.
    pub fn reclaims(&self) -> bool {
        matches!(
            self.action.as_str(),
            "pageout" | "cold" | "lru_prio" | "lru_deprio" | "migrate_hot" | "migrate_cold"
        )
    }
}

/// One kdamond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kdamond {
    pub index: u32,
    pub running: bool,
    pub pid: Option<u32>,
    pub schemes: Vec<DamonScheme>,
}

/// The monitors set up through sysfs; empty where there is no DAMON.
pub fn kdamonds(root: &SysRoot) -> Vec<Kdamond> {
    let numbered = |folder: &str| -> Vec<u32> {
        let mut ids: Vec<u32> =
            root.folder_names(folder).iter().filter_map(|name| name.parse().ok()).collect();
        ids.sort_unstable();
        ids
    };
    let number = |path: String| root.value(path).and_then(|text| text.parse::<u64>().ok());
    let mut found = Vec::new();
    for index in numbered(KDAMONDS) {
        let base = format!("{KDAMONDS}/{index}");
        let mut schemes = Vec::new();
        for context in numbered(&format!("{base}/contexts")) {
            let folder = format!("{base}/contexts/{context}/schemes");
            for scheme in numbered(&folder) {
                let scheme = format!("{folder}/{scheme}");
                schemes.push(DamonScheme {
                    action: root.value(format!("{scheme}/action")).unwrap_or_default(),
                    quota_bytes: number(format!("{scheme}/quotas/bytes")),
                    quota_reset_ms: number(format!("{scheme}/quotas/reset_interval_ms")),
                });
            }
        }
        found.push(Kdamond {
            index,
            running: root.value(format!("{base}/state")).as_deref() == Some("on"),
            // The kernel shows -1 when it is off.
            pid: root.value(format!("{base}/pid")).and_then(|text| text.parse().ok()),
            schemes,
        });
    }
    found
}
