//! What a trial makes of the host, in order: settings, swap, cgroup, caches.

use std::path::PathBuf;

use crate::config::{Limit as ConfigLimit, MemcgSection, SwapKind, SwapSection};
use crate::host::cgroup::{Limit, MemoryCgroup};
use crate::host::knob::{Knob, drop_caches};
use crate::host::ramdisk::{RamdiskChoice, RamdiskFilesystem};
use crate::host::reader::{SwapEntry, swaps};
use crate::host::swap::{RamdiskSwap, SwapRequest};
use crate::host::{HostError, HostSession};
use crate::store::TrialSpec;

/// Everything that is in force for the workload.
#[derive(Debug)]
pub(super) struct HostSetup {
    pub cgroup: Option<MemoryCgroup>,
    pub swap: Option<RamdiskSwap>,
    /// Folder on the file system under test.
    pub data: Option<PathBuf>,
    /// All swap devices before the workload began.
    pub swaps_before: Vec<SwapEntry>,
}

impl HostSetup {
    /// Applies the specification; every change is in the session's journal first.
    pub(super) fn apply(session: &mut HostSession, spec: &TrialSpec) -> Result<Self, HostError> {
        for (name, value) in &spec.knobs {
            knob(name, value)?.set(session)?;
        }
        let data = match (&spec.fixture, spec.workload.file_space()) {
            (Some(kept), _) => Some(kept.clone()),
            (None, Some(space)) => {
                let made = RamdiskFilesystem::create(session, &RamdiskChoice::Plain, space)?;
                Some(made.mount_point().to_owned())
            }
            (None, None) => None,
        };
        let swap =
            spec.swap.as_ref().map(|swap| RamdiskSwap::enable(session, &swap_request(swap))).transpose()?;
        let cgroup = spec.memcg.as_ref().map(|memcg| confine(session, memcg)).transpose()?;
        if spec.environment.drop_caches {
            drop_caches(session)?;
        }
        let swaps_before = swaps(session.root())?;
        Ok(HostSetup { cgroup, swap, data, swaps_before })
    }

    /// Cgroup folders that confined processes join.
    pub(super) fn confined(&self) -> Vec<PathBuf> {
        self.cgroup.as_ref().map(MemoryCgroup::join_dirs).unwrap_or_default()
    }
}

fn confine(session: &mut HostSession, memcg: &MemcgSection) -> Result<MemoryCgroup, HostError> {
    let cgroup = MemoryCgroup::create(session, "trial")?;
    cgroup.set_limits(limit(memcg.limit), limit(memcg.swap_limit))?;
    if let Some(swappiness) = memcg.swappiness {
        let swappiness = u8::try_from(swappiness).unwrap_or(u8::MAX);
        cgroup.set_swappiness(session, swappiness)?;
    }
    Ok(cgroup)
}

fn limit(limit: ConfigLimit) -> Limit {
    match limit {
        ConfigLimit::Max => Limit::Max,
        ConfigLimit::Bytes(bytes) => Limit::Bytes(bytes),
    }
}

fn swap_request(swap: &SwapSection) -> SwapRequest {
    let choice = match swap.kind {
        SwapKind::Ramdisk => RamdiskChoice::Plain,
        SwapKind::Brd => RamdiskChoice::Brd,
        SwapKind::Loop => RamdiskChoice::LoopTmpfs,
        SwapKind::Zram => RamdiskChoice::Zram { algorithm: swap.algorithm.clone() },
    };
    SwapRequest { choice, size: swap.size }
}

/// A knob of an experiment as a setting of the host.
fn knob(name: &str, value: &str) -> Result<Knob, HostError> {
    let value = value.trim().to_owned();
    let number = |what: &'static str| HostError::Refused {
        action: "set",
        subject: format!("{name} = {value:?}"),
        why: format!("{what}; correct it in [environment] or the arm's knobs"),
    };
    Ok(match name {
        "lru_gen" => {
            let mask = match value.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            };
            Knob::LruGenEnabled { mask: mask.ok_or_else(|| number("a mask such as \"0x7\" was expected"))? }
        }
        "min_ttl_ms" => Knob::LruGenMinTtl {
            milliseconds: value.parse().map_err(|_| number("a number of milliseconds was expected"))?,
        },
        "thp" => Knob::TransparentHugepage { mode: value },
        "governor" => Knob::Governor { name: value },
        path if path.starts_with('/') => Knob::File { path: path.into(), value },
        sysctl => Knob::Sysctl { name: sysctl.to_owned(), value },
    })
}
