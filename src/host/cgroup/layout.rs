//! Where the memory controller sits.

use std::path::{Path, PathBuf};

use super::super::error::HostError;
use super::super::reader::{Mount, mounts};
use super::super::root::SysRoot;

/// The tree that has the memory controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryController {
    V1 { mount: PathBuf },
    V2 { mount: PathBuf },
}

/// The cgroup trees of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupLayout {
    pub memory: MemoryController,
    /// A cgroup2 tree beside a v1 memory controller.
    pub unified: Option<PathBuf>,
    /// The folder of the hierarchy that is mounted, `/` unless in a container.
    memory_root: String,
    unified_root: String,
    read_only: bool,
}

impl CgroupLayout {
    /// From the mounts; `/proc/cgroups` only says why there is no controller.
    pub fn detect(root: &SysRoot) -> Result<Self, HostError> {
        let mounts = mounts(root)?;
        let v1 = mounts.iter().find(|m| m.filesystem == "cgroup" && m.has_super_option("memory"));
        let v2 = mounts.iter().find(|m| m.filesystem == "cgroup2");
        let root_of = |mount: Option<&Mount>| mount.map_or_else(|| "/".to_owned(), |m| m.root.clone());
        if let Some(mount) = v1 {
            return Ok(CgroupLayout {
                memory: MemoryController::V1 { mount: mount.target.clone() },
                unified: v2.map(|m| m.target.clone()),
                memory_root: mount.root.clone(),
                unified_root: root_of(v2),
                read_only: mount.is_read_only(),
            });
        }
        if let Some(mount) = v2 {
            let controllers = root.read(mount.target.join("cgroup.controllers"))?;
            if controllers.split_ascii_whitespace().any(|c| c == "memory") {
                return Ok(CgroupLayout {
                    memory: MemoryController::V2 { mount: mount.target.clone() },
                    unified: None,
                    memory_root: mount.root.clone(),
                    unified_root: mount.root.clone(),
                    read_only: mount.is_read_only(),
                });
            }
        }
        Err(HostError::NoMemoryController { seen: why_absent(root, v2)? })
    }

    /// `v1`, `v2` or `hybrid`.
    pub fn name(&self) -> &'static str {
        match (&self.memory, &self.unified) {
            (MemoryController::V2 { .. }, _) => "v2",
            (MemoryController::V1 { .. }, None) => "v1",
            (MemoryController::V1 { .. }, Some(_)) => "hybrid",
        }
    }

    pub fn memory_mount(&self) -> &Path {
        match &self.memory {
            MemoryController::V1 { mount } | MemoryController::V2 { mount } => mount,
        }
    }

    pub fn is_v2(&self) -> bool {
        matches!(self.memory, MemoryController::V2 { .. })
    }

    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The folder of the calling process in the tree of the memory controller.
    pub(super) fn own_memory_dir(&self, root: &SysRoot) -> Result<PathBuf, HostError> {
        let controller = if self.is_v2() { "" } else { "memory" };
        own_dir(root, controller, self.memory_mount(), &self.memory_root)
    }

    /// The folder of the calling process in the unified tree of a hybrid host.
    pub(super) fn own_unified_dir(&self, root: &SysRoot) -> Result<Option<PathBuf>, HostError> {
        self.unified.as_ref().map(|mount| own_dir(root, "", mount, &self.unified_root)).transpose()
    }
}

fn why_absent(root: &SysRoot, v2: Option<&Mount>) -> Result<String, HostError> {
    let table = root.read_optional("/proc/cgroups")?.unwrap_or_default();
    let row = table.lines().find(|line| line.split_ascii_whitespace().next() == Some("memory"));
    let enabled = row.and_then(|line| line.split_ascii_whitespace().nth(3));
    Ok(match (enabled, v2) {
        (Some("0"), _) => "/proc/cgroups lists it as disabled at boot".to_owned(),
        (Some(_), None) => "the kernel has it and no cgroup tree with it is mounted".to_owned(),
        (Some(_), Some(mount)) => {
            format!("the kernel has it and {} does not offer it", mount.target.display())
        }
        (None, _) => "the kernel lists none in /proc/cgroups".to_owned(),
    })
}

/// `/proc/self/cgroup` names folders from the hierarchy's root, of which the
/// mount may show only a part.
fn own_dir(root: &SysRoot, controller: &str, mount: &Path, mount_root: &str) -> Result<PathBuf, HostError> {
    let file = "/proc/self/cgroup";
    let text = root.read(file)?;
    let own = text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        controllers.split(',').any(|c| c == controller).then_some(path)
    });
    let own = own.ok_or_else(|| HostError::Parse {
        path: root.path(file),
        what: format!("no line for the controller {controller:?}"),
    })?;
    let below = Path::new(own).strip_prefix(mount_root).unwrap_or(Path::new(""));
    Ok(mount.join(below))
}
