//! A file system on a ramdisk, for workloads that read and write files.

use std::path::{Path, PathBuf};

use super::super::error::HostError;
use super::super::journal::Change;
use super::super::kernel::MountCall;
use super::super::reader::mounts;
use super::super::session::HostSession;
use super::{COMMAND_DEADLINE, Ramdisk, RamdiskChoice};
use crate::units::Bytes;

/// A mounted ext4 on a ramdisk of this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RamdiskFilesystem {
    pub ramdisk: Ramdisk,
    mount_point: PathBuf,
}

impl RamdiskFilesystem {
    /// Makes the ramdisk, an ext4 on it, and mounts it below the session's folder.
    pub fn create(session: &mut HostSession, choice: &RamdiskChoice, size: Bytes) -> Result<Self, HostError> {
        let ramdisk = Ramdisk::create(session, choice, size)?;
        let root = session.root().clone();
        let device = root.path(&ramdisk.device).display().to_string();
        // Without lazy initialisation nothing writes to it behind a measurement.
        let lazy = "lazy_itable_init=0,lazy_journal_init=0";
        root.command(&["mkfs.ext4", "-q", "-F", "-E", lazy, &device], COMMAND_DEADLINE)?;
        let mount_point = session.private_folder()?.join(format!("files-{}", session.mark()));
        session
            .apply(Change::CreateDir { path: mount_point.clone() }, |root| root.create_dir(&mount_point))?;
        let call = MountCall {
            source: ramdisk.device.display().to_string(),
            target: mount_point.clone(),
            filesystem: "ext4".to_owned(),
            options: String::new(),
        };
        let change = Change::Mount { target: mount_point.clone(), filesystem: "ext4".to_owned() };
        session.apply(change, |root| root.mount(&call))?;
        if mounts(&root)?.iter().any(|m| m.target == mount_point && m.filesystem == "ext4") {
            return Ok(RamdiskFilesystem { ramdisk, mount_point });
        }
        Err(HostError::ReadBack {
            path: mount_point,
            wrote: "an ext4 mount".to_owned(),
            found: "no such mount in /proc/self/mountinfo".to_owned(),
        })
    }

    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }
}
