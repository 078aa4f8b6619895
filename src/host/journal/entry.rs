//! What can be changed, with what is needed to undo it.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::owner::Owner;

/// The version of the lines of a journal.
pub(super) const SCHEMA: u32 = 1;

/// Which device a name stood for. Device names are given again; these are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceIdentity {
    /// The kernel's disk sequence number (5.15 and later).
    pub diskseq: Option<u64>,
    /// Inode of the device node, new for each device that appears.
    pub inode: u64,
}

impl DeviceIdentity {
    /// Of the block device `/dev/NAME`.
    pub(in super::super) fn of(root: &SysRoot, name: &str) -> Result<Self, HostError> {
        let diskseq = root.value(format!("/sys/block/{name}/diskseq")).and_then(|text| text.parse().ok());
        let inode = root.identity(&PathBuf::from(format!("/dev/{name}")))?.inode;
        Ok(DeviceIdentity { diskseq, inode })
    }

    pub(in super::super) fn is_same(self, other: Self) -> bool {
        match (self.diskseq, other.diskseq) {
            (Some(own), Some(theirs)) => own == theirs,
            _ => self.inode == other.inode,
        }
    }
}

/// One change of the host. Paths are the host's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Change {
    /// A file got a new value; `prior` is `None` where there was no file.
    WriteFile {
        path: PathBuf,
        prior: Option<String>,
        value: String,
    },
    CreateFile {
        path: PathBuf,
    },
    CreateDir {
        path: PathBuf,
    },
    /// A cgroup of ours; whatever runs in it is ours to kill.
    Cgroup {
        path: PathBuf,
    },
    /// A cgroup into which the tool moved itself, out of `from`.
    ControllerLeaf {
        leaf: PathBuf,
        from: PathBuf,
    },
    /// Controllers enabled for the children of a cgroup that had them off.
    SubtreeControl {
        path: PathBuf,
        controllers: Vec<String>,
    },
    Mount {
        target: PathBuf,
        filesystem: String,
    },
    /// A loop device that will be attached to this file.
    LoopAttach {
        backing: PathBuf,
        device: u64,
        inode: u64,
    },
    /// A zram device about to appear; its number is not known yet.
    ZramHotAdd {
        present: Vec<u32>,
        at: i64,
    },
    ZramDevice {
        id: u32,
        identity: DeviceIdentity,
    },
    /// A kernel module that was absent.
    Module {
        name: String,
    },
    /// A ramdisk that was there, unused and blank.
    BlankDevice {
        device: PathBuf,
        identity: DeviceIdentity,
    },
    SwapOn {
        device: PathBuf,
        identity: DeviceIdentity,
    },
    /// A process to be killed where no cgroup holds it.
    Process {
        pid: u32,
        start_time: u64,
    },
}

impl Change {
    /// Whether the change outlives a reboot.
    pub(super) fn is_persistent(&self) -> bool {
        matches!(self, Change::CreateFile { .. } | Change::CreateDir { .. })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::WriteFile { path, prior, value } => {
                let prior = prior.as_deref().unwrap_or("absent").trim();
                write!(f, "{} set to {value:?} (was {prior:?})", path.display())
            }
            Change::CreateFile { path } => write!(f, "file {}", path.display()),
            Change::CreateDir { path } => write!(f, "folder {}", path.display()),
            Change::Cgroup { path } => write!(f, "cgroup {}", path.display()),
            Change::ControllerLeaf { leaf, .. } => write!(f, "cgroup of the tool itself {}", leaf.display()),
            Change::SubtreeControl { path, controllers } => {
                write!(f, "controllers {} enabled below {}", controllers.join(" "), path.display())
            }
            Change::Mount { target, filesystem } => {
                write!(f, "{filesystem} mounted on {}", target.display())
            }
            Change::LoopAttach { backing, .. } => write!(f, "loop device on {}", backing.display()),
            Change::ZramHotAdd { .. } => write!(f, "a zram device by hot_add"),
            Change::ZramDevice { id, .. } => write!(f, "zram{id}"),
            Change::Module { name } => write!(f, "module {name}"),
            Change::BlankDevice { device, .. } => write!(f, "ramdisk {} in use", device.display()),
            Change::SwapOn { device, .. } => write!(f, "swap on {}", device.display()),
            Change::Process { pid, .. } => write!(f, "process {pid}"),
        }
    }
}

/// First line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub schema: u32,
    pub version: String,
    pub nonce: String,
    pub purpose: String,
    pub owner: Owner,
}

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Line {
    Header(Header),
    Change {
        step: u64,
        change: Change,
    },
    /// What the file read after our write; another value later is somebody else's.
    Seen {
        step: u64,
        value: String,
    },
    /// The change was refused before it took effect: there is nothing to undo.
    Void {
        step: u64,
    },
    Undone {
        step: u64,
    },
}
