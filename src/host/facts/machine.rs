//! Which machine, which boot, which kernel, and the limits of this process.

use std::collections::BTreeMap;

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sysinfo::System;

use super::super::reader::Meminfo;
use super::super::root::SysRoot;
use crate::units::hex;

/// Which machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineFacts {
    /// The same at every boot, and tells nothing about the machine.
    pub id: Option<String>,
    pub boot_id: Option<String>,
    pub distribution: Option<String>,
    pub vendor: Option<String>,
    pub product: Option<String>,
}

impl MachineFacts {
    pub(super) fn gather(root: &SysRoot) -> Self {
        let dmi =
            |file: &str| root.value(format!("/sys/class/dmi/id/{file}")).filter(|text| !text.is_empty());
        MachineFacts {
            id: machine_id(root),
            boot_id: root.value("/proc/sys/kernel/random/boot_id"),
            distribution: System::long_os_version().ok(),
            vendor: dmi("sys_vendor"),
            product: dmi("product_name"),
        }
    }
}

/// A hash of what does not change from boot to boot. Measured values such as
/// bogomips do, so none is used.
fn machine_id(root: &SysRoot) -> Option<String> {
    let total = || Meminfo::read(root).ok()?.get("MemTotal").map(|total| (total.0 >> 30).to_string());
    let seed = ["/etc/machine-id", "/var/lib/dbus/machine-id", "/sys/class/dmi/id/product_uuid"]
        .iter()
        .find_map(|path| root.value(path).filter(|text| text.len() >= 8))
        .or_else(|| Some(format!("{} {}", root.value("/proc/sys/kernel/hostname")?, total()?)))?;
    let digest = Sha256::digest(format!("run-bench machine {seed}"));
    Some(hex(&digest[..8]))
}

/// Which kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelFacts {
    pub release: Option<String>,
    pub version: Option<String>,
    pub command_line: Option<String>,
    pub clocksource: Option<String>,
    /// Each known flaw of the processor and what is done about it.
    pub mitigations: BTreeMap<String, String>,
    pub tainted: Option<u64>,
}

impl KernelFacts {
    pub(super) fn gather(root: &SysRoot) -> Self {
        KernelFacts {
            release: root.value("/proc/sys/kernel/osrelease"),
            version: root.value("/proc/sys/kernel/version"),
            command_line: root.value("/proc/cmdline"),
            clocksource: clocksource(root),
            mitigations: mitigations(root),
            tainted: root.value("/proc/sys/kernel/tainted").and_then(|text| text.parse().ok()),
        }
    }
}

/// The clock that the kernel reads the time from.
pub fn clocksource(root: &SysRoot) -> Option<String> {
    root.value("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// Each known flaw of the processor and what the kernel does about it.
pub fn mitigations(root: &SysRoot) -> BTreeMap<String, String> {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let flaws = root.names(folder).into_iter();
    flaws.filter_map(|flaw| Some((flaw.clone(), root.value(format!("{folder}/{flaw}"))?))).collect()
}

/// The soft limits of this process; `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitFacts {
    pub open_files: Option<u64>,
    pub locked_memory: Option<u64>,
    pub processes: Option<u64>,
    pub cpu_seconds: Option<u64>,
    pub file_size: Option<u64>,
    pub is_root: bool,
}

impl LimitFacts {
    pub(super) fn gather() -> Self {
        let soft = |resource| getrlimit(resource).current;
        LimitFacts {
            open_files: soft(Resource::Nofile),
            locked_memory: soft(Resource::Memlock),
            processes: soft(Resource::Nproc),
            cpu_seconds: soft(Resource::Cpu),
            file_size: soft(Resource::Fsize),
            is_root: rustix::process::geteuid().is_root(),
        }
    }
}
