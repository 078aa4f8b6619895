//! Where groups may be made: the root of the tree for root, a delegated
//! subtree otherwise; and how v2 hands the controller down to them.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::super::error::HostError;
use super::super::journal::Change;
use super::super::root::SysRoot;
use super::super::session::HostSession;
use super::layout::CgroupLayout;
use super::tree::{NAME_PREFIX, members};

/// Whether this process may make memory cgroups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delegation {
    /// Below this folder.
    Granted { parent: PathBuf },
    /// After a restart of the tool behind these words.
    NeedsScope { prefix: Vec<String> },
    /// Not at all, with the reason and what to do.
    Denied { why: String, remedy: String },
}

/// Looks where groups may be made; changes nothing.
pub fn delegation(root: &SysRoot, layout: &CgroupLayout) -> Result<Delegation, HostError> {
    if layout.is_read_only() {
        let mount = layout.memory_mount().display();
        let remedy =
            format!("remount it (`mount -o remount,rw {mount}`), or start the container with it writable");
        return Ok(Delegation::Denied { why: format!("{mount} is mounted read-only"), remedy });
    }
    let own = layout.own_memory_dir(root)?;
    for parent in [layout.memory_mount(), own.as_path()] {
        if may_create(root, parent) {
            return Ok(Delegation::Granted { parent: parent.to_owned() });
        }
    }
    if layout.is_v2() && root.exists("/run/systemd/system") {
        let words = ["systemd-run", "--user", "--scope", "--quiet", "--collect", "-p", "Delegate=yes", "--"];
        return Ok(Delegation::NeedsScope { prefix: words.map(str::to_owned).to_vec() });
    }
    let why = format!("{} belongs to somebody else", own.display());
    Ok(Delegation::Denied { why, remedy: "run as root: `sudo run-bench …`".to_owned() })
}

/// A group is made by mkdir and filled through `cgroup.procs`.
fn may_create(root: &SysRoot, dir: &Path) -> bool {
    let writable = |path: PathBuf| access(&path, Access::WRITE_OK).is_ok();
    writable(root.path(dir)) && writable(root.path(dir.join("cgroup.procs")))
}

/// The folder below which to make groups, with the controller handed down.
pub(super) fn prepare(session: &mut HostSession, layout: &CgroupLayout) -> Result<PathBuf, HostError> {
    let root = session.root().clone();
    let own = layout.own_memory_dir(&root)?;
    let refuse =
        |seen: String, remedy: String| HostError::NotDelegated { path: root.path(&own), seen, remedy };
    let parent = match delegation(&root, layout)? {
        Delegation::Granted { parent } => parent,
        Delegation::NeedsScope { prefix } => {
            let remedy = format!("run as root, or in a delegated scope: `{} run-bench …`", prefix.join(" "));
            return Err(refuse("the folder is not ours to write".to_owned(), remedy));
        }
        Delegation::Denied { why, remedy } => return Err(refuse(why, remedy)),
    };
    if layout.is_v2() {
        hand_down(session, &parent)?;
    }
    Ok(parent)
}

fn has_memory(root: &SysRoot, dir: &Path, file: &str) -> Result<bool, HostError> {
    Ok(root.read(dir.join(file))?.split_ascii_whitespace().any(|word| word == "memory"))
}

/// Enables the memory controller for the children of `parent`. A cgroup that
/// holds processes cannot do that, so ours move to a leaf first.
fn hand_down(session: &mut HostSession, parent: &Path) -> Result<(), HostError> {
    let root = session.root().clone();
    if has_memory(&root, parent, "cgroup.subtree_control")? {
        return Ok(());
    }
    if !has_memory(&root, parent, "cgroup.controllers")? {
        return Err(HostError::NoMemoryController {
            seen: format!("{} was not given it by its parent", root.path(parent).display()),
        });
    }
    // Only the real root may hold processes and hand controllers down.
    let is_root_group = !root.exists(parent.join("cgroup.type"));
    let members = members(&root, parent)?;
    if !is_root_group && !members.is_empty() {
        step_aside(session, parent, &members)?;
    }
    let change = Change::SubtreeControl { path: parent.to_owned(), controllers: vec!["memory".to_owned()] };
    let file = parent.join("cgroup.subtree_control");
    session.apply(change, |root| root.write(&file, "+memory"))?;
    if has_memory(&root, parent, "cgroup.subtree_control")? {
        return Ok(());
    }
    let found = root.read(&file)?.trim().to_owned();
    Err(HostError::ReadBack { path: root.path(&file), wrote: "+memory".to_owned(), found })
}

fn step_aside(session: &mut HostSession, parent: &Path, members: &[u32]) -> Result<(), HostError> {
    let root = session.root().clone();
    let foreign: Vec<String> =
        members.iter().filter(|pid| !is_this_program(&root, **pid)).map(u32::to_string).collect();
    if !foreign.is_empty() {
        return Err(HostError::InternalProcesses { path: root.path(parent), processes: foreign.join(", ") });
    }
    let leaf = parent.join(format!("{NAME_PREFIX}{}-tool", session.nonce()?));
    let change = Change::ControllerLeaf { leaf: leaf.clone(), from: parent.to_owned() };
    session.apply(change, |root| {
        root.create_dir(&leaf)?;
        for pid in members {
            root.write(leaf.join("cgroup.procs"), &pid.to_string())?;
        }
        Ok(())
    })
}

/// Whether a process runs the same binary: the campaign that started this trial, say.
fn is_this_program(root: &SysRoot, pid: u32) -> bool {
    let exe = |pid: &str| fs::read_link(root.path(format!("/proc/{pid}/exe"))).ok();
    pid == std::process::id() || exe(&pid.to_string()).is_some_and(|path| Some(path) == exe("self"))
}
