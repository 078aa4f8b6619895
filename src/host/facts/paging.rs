//! The settings of memory management that move numbers.

use serde::{Deserialize, Serialize};

use super::super::journal::selected_value;
use super::super::root::SysRoot;

/// As the kernel shows them; absent where it lacks them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagingFacts {
    pub transparent_hugepage: Option<String>,
    pub transparent_hugepage_defrag: Option<String>,
    /// The mask of MGLRU's switches; 0 is off.
    pub lru_gen_enabled: Option<u32>,
    pub lru_gen_min_ttl_ms: Option<u64>,
    pub swappiness: Option<u64>,
    pub page_cluster: Option<u64>,
    pub watermark_scale_factor: Option<u64>,
    pub min_free_kbytes: Option<u64>,
    pub overcommit_memory: Option<u64>,
    pub numa_balancing: Option<u64>,
    pub zswap_enabled: Option<bool>,
    pub ksm_run: Option<u64>,
}

impl PagingFacts {
    pub(super) fn gather(root: &SysRoot) -> Self {
        let huge = "/sys/kernel/mm/transparent_hugepage";
        let chosen =
            |file: &str| root.value(format!("{huge}/{file}")).map(|text| selected_value(&text).to_owned());
        let number = |path: &str| root.value(path).and_then(|text| text.parse::<u64>().ok());
        PagingFacts {
            transparent_hugepage: chosen("enabled"),
            transparent_hugepage_defrag: chosen("defrag"),
            lru_gen_enabled: root.value("/sys/kernel/mm/lru_gen/enabled").and_then(|text| mask(&text)),
            lru_gen_min_ttl_ms: number("/sys/kernel/mm/lru_gen/min_ttl_ms"),
            swappiness: number("/proc/sys/vm/swappiness"),
            page_cluster: number("/proc/sys/vm/page-cluster"),
            watermark_scale_factor: number("/proc/sys/vm/watermark_scale_factor"),
            min_free_kbytes: number("/proc/sys/vm/min_free_kbytes"),
            overcommit_memory: number("/proc/sys/vm/overcommit_memory"),
            numa_balancing: number("/proc/sys/kernel/numa_balancing"),
            zswap_enabled: root
                .value("/sys/module/zswap/parameters/enabled")
                .map(|text| matches!(text.as_str(), "Y" | "1")),
            ksm_run: number("/sys/kernel/mm/ksm/run"),
        }
    }
}

fn mask(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
