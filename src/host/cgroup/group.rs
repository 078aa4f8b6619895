//! One memory cgroup of ours.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::error::HostError;
use super::super::journal::{Change, same_value};
use super::super::reader::Counters;
use super::super::root::SysRoot;
use super::super::session::HostSession;
use super::layout::CgroupLayout;
use super::limit::{self, Limit};
use super::parent;
use super::tree::{self, NAME_PREFIX};
use crate::units::Bytes;

/// What the kernel counted against a group's limits; absent where it does not count it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryEvents {
    pub low: Option<u64>,
    pub high: Option<u64>,
    pub max: Option<u64>,
    pub oom: Option<u64>,
    pub oom_kill: Option<u64>,
    pub oom_group_kill: Option<u64>,
    /// v1's count of hits of the limit.
    pub failcnt: Option<u64>,
}

/// What `memory.reclaim` answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reclaimed {
    All,
    /// Less than asked for (EAGAIN).
    Partly,
}

/// What a swappiness applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwappinessScope {
    Cgroup,
    /// v2 has no file for it: the sysctl was set.
    Host,
}

/// A memory cgroup, with its twin in the unified tree on hybrid hosts.
#[derive(Debug, Clone)]
pub struct MemoryCgroup {
    root: SysRoot,
    dir: PathBuf,
    twin: Option<PathBuf>,
    v2: bool,
}

impl MemoryCgroup {
    /// Makes `run-bench-<mark>-<name>` where this process may.
    pub fn create(session: &mut HostSession, name: &str) -> Result<Self, HostError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            return Err(HostError::Refused {
                action: "create cgroup",
                subject: format!("{name:?}"),
                why: "a name has 1 to 64 letters, digits, `-` or `_`".to_owned(),
            });
        }
        let root = session.root().clone();
        let layout = CgroupLayout::detect(&root)?;
        let parent = parent::prepare(session, &layout)?;
        let name = format!("{NAME_PREFIX}{}-{name}", session.nonce()?);
        let dir = parent.join(&name);
        make(session, &dir)?;
        let probe = if layout.is_v2() { "memory.max" } else { "memory.limit_in_bytes" };
        if !root.exists(dir.join(probe)) {
            return Err(HostError::NoMemoryController {
                seen: format!("the new group {} has no {probe}", root.path(&dir).display()),
            });
        }
        let twin = make_twin(session, &layout, &name)?;
        Ok(MemoryCgroup { root, dir, twin, v2: layout.is_v2() })
    }

    /// The folder in the tree of the memory controller.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn is_v2(&self) -> bool {
        self.v2
    }

    /// The folders a child must join: write its pid to `cgroup.procs` in each.
    pub fn join_dirs(&self) -> Vec<PathBuf> {
        let dirs = std::iter::once(&self.dir).chain(&self.twin);
        dirs.map(|dir| self.root.path(dir)).collect()
    }

    /// Memory, and swap on top of it. On v1 the kernel limits their sum.
    pub fn set_limits(&self, memory: Limit, swap: Limit) -> Result<(), HostError> {
        let set = if self.v2 { limit::set_v2 } else { limit::set_v1 };
        set(&self.root, &self.dir, memory, swap)
    }

    /// The memory limit in force.
    pub fn limit(&self) -> Result<Limit, HostError> {
        limit::read_limit(&self.root, &self.file("memory.max", "memory.limit_in_bytes"))
    }

    pub fn set_high(&self, high: Limit) -> Result<(), HostError> {
        if self.v2 { limit::set_v2_high(&self.root, &self.dir, high) } else { Err(only_v2("memory.high")) }
    }

    /// Of this group on v1, of the whole host (journalled) on v2.
    pub fn set_swappiness(
        &self,
        session: &mut HostSession,
        swappiness: u8,
    ) -> Result<SwappinessScope, HostError> {
        let text = swappiness.to_string();
        if self.v2 {
            session.set_file(Path::new("/proc/sys/vm/swappiness"), &text, same_value)?;
            return Ok(SwappinessScope::Host);
        }
        self.root.write_checked(self.dir.join("memory.swappiness"), &text, same_value)?;
        Ok(SwappinessScope::Cgroup)
    }

    /// `memory.stat` by the kernel's names.
    pub fn stat(&self) -> Result<Counters, HostError> {
        Counters::read(&self.root, self.stat_path())
    }

    /// Where `memory.stat` lies, for a sampler that keeps it open.
    pub fn stat_path(&self) -> PathBuf {
        self.dir.join("memory.stat")
    }

    pub fn events(&self) -> Result<MemoryEvents, HostError> {
        if self.v2 {
            let counts = Counters::read(&self.root, self.dir.join("memory.events"))?;
            return Ok(MemoryEvents {
                low: counts.get("low"),
                high: counts.get("high"),
                max: counts.get("max"),
                oom: counts.get("oom"),
                oom_kill: counts.get("oom_kill"),
                oom_group_kill: counts.get("oom_group_kill"),
                failcnt: None,
            });
        }
        let control = Counters::read(&self.root, self.dir.join("memory.oom_control"))?;
        let failcnt = self.root.value(self.dir.join("memory.failcnt")).and_then(|text| text.parse().ok());
        Ok(MemoryEvents { oom_kill: control.get("oom_kill"), failcnt, ..MemoryEvents::default() })
    }

    pub fn usage(&self) -> Result<Bytes, HostError> {
        self.bytes(&self.file("memory.current", "memory.usage_in_bytes"))
    }

    /// The highest usage so far; `None` on v2 before 5.19.
    pub fn peak(&self) -> Result<Option<Bytes>, HostError> {
        let path = self.file("memory.peak", "memory.max_usage_in_bytes");
        self.root.exists(&path).then(|| self.bytes(&path)).transpose()
    }

    /// Swap charged to the group; `None` without swap accounting.
    pub fn swap_usage(&self) -> Result<Option<Bytes>, HostError> {
        if self.v2 {
            let path = self.dir.join("memory.swap.current");
            return self.root.exists(&path).then(|| self.bytes(&path)).transpose();
        }
        Ok(self.stat()?.get("swap").map(Bytes))
    }

    /// Asks the kernel to reclaim `bytes` from the group now.
    pub fn reclaim(&self, bytes: Bytes, swappiness: Option<u8>) -> Result<Reclaimed, HostError> {
        if !self.v2 {
            return Err(only_v2("memory.reclaim"));
        }
        let path = self.dir.join("memory.reclaim");
        let unsupported = |why: String| HostError::Unsupported {
            what: "memory.reclaim",
            why,
            remedy: "use Linux 5.19 or later (6.10 for a swappiness of its own)".to_owned(),
        };
        if !self.root.exists(&path) {
            return Err(unsupported("this kernel's cgroups have no such file".to_owned()));
        }
        let text = match swappiness {
            Some(swappiness) => format!("{} swappiness={swappiness}", bytes.0),
            None => bytes.0.to_string(),
        };
        match self.root.write(&path, &text) {
            Ok(()) => Ok(Reclaimed::All),
            Err(error) => match error.errno().map(rustix::io::Errno::from_raw_os_error) {
                Some(rustix::io::Errno::AGAIN) => Ok(Reclaimed::Partly),
                Some(rustix::io::Errno::INVAL) if swappiness.is_some() => {
                    Err(unsupported(format!("{text:?} was refused")))
                }
                _ => Err(error),
            },
        }
    }

    /// The processes in the group or in its twin.
    pub fn pids(&self) -> Result<Vec<u32>, HostError> {
        let mut pids = BTreeSet::new();
        for dir in std::iter::once(&self.dir).chain(&self.twin) {
            pids.extend(tree::members(&self.root, dir)?);
        }
        Ok(pids.into_iter().collect())
    }

    /// Moves a process, with its threads, into the group.
    pub fn move_in(&self, pid: u32) -> Result<(), HostError> {
        for dir in std::iter::once(&self.dir).chain(&self.twin) {
            self.root.write(dir.join("cgroup.procs"), &pid.to_string())?;
        }
        Ok(())
    }

    /// Ends everything in the group and waits until it is empty.
    pub fn kill(&self) -> Result<(), HostError> {
        // The twin first: where it has `cgroup.kill`, nothing can fork away.
        for dir in self.twin.iter().chain(std::iter::once(&self.dir)) {
            tree::kill_tree(&self.root, dir)?;
        }
        Ok(())
    }

    /// Kills, then removes the group before the session ends; the session's
    /// own undo finds it gone.
    pub fn remove(self) -> Result<(), HostError> {
        self.kill()?;
        for dir in self.twin.iter().chain(std::iter::once(&self.dir)) {
            tree::remove_tree(&self.root, dir)?;
        }
        Ok(())
    }

    fn file(&self, v2: &str, v1: &str) -> PathBuf {
        self.dir.join(if self.v2 { v2 } else { v1 })
    }

    fn bytes(&self, path: &Path) -> Result<Bytes, HostError> {
        let text = self.root.read(path)?;
        let bad = |_| HostError::Parse { path: self.root.path(path), what: format!("{text:?} is no size") };
        text.trim().parse().map(Bytes).map_err(bad)
    }
}

fn only_v2(what: &'static str) -> HostError {
    HostError::Unsupported {
        what,
        why: "the memory controller of this host is v1, which has no such file".to_owned(),
        remedy: "boot with `systemd.unified_cgroup_hierarchy=1`, or run in a guest".to_owned(),
    }
}

fn make(session: &mut HostSession, dir: &Path) -> Result<(), HostError> {
    session.apply(Change::Cgroup { path: dir.to_owned() }, |root| root.create_dir(dir))
}

/// The twin serves `cgroup.kill` alone: where it cannot be made, killing goes one by one.
fn make_twin(
    session: &mut HostSession,
    layout: &CgroupLayout,
    name: &str,
) -> Result<Option<PathBuf>, HostError> {
    let root = session.root().clone();
    let own = layout.own_unified_dir(&root)?;
    for parent in layout.unified.iter().chain(&own) {
        let twin = parent.join(name);
        match make(session, &twin) {
            Ok(()) if root.exists(twin.join("cgroup.procs")) => return Ok(Some(twin)),
            Err(stop @ (HostError::CrashPoint { .. } | HostError::Journal { .. })) => return Err(stop),
            _ => continue,
        }
    }
    Ok(None)
}
