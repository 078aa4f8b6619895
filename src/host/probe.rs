//! What this host can do, found by doing it in small and undoing it.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cgroup::{CgroupLayout, Limit, MemoryCgroup};
use super::error::HostError;
use super::kernel::Facility;
use super::ramdisk::{Ramdisk, RamdiskChoice, mount_noswap};
use super::root::SysRoot;
use super::session::{HostSession, SessionOptions};
use crate::units::Bytes;

/// One ability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ability {
    Works,
    Missing {
        why: String,
        remedy: String,
    },
    /// Could not be tried now: no privilege, or the host is held.
    Unknown {
        why: String,
    },
}

impl Ability {
    pub fn works(&self) -> bool {
        matches!(self, Ability::Works)
    }
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abilities {
    /// A memory limit on a group of ours.
    pub memory_limit: Ability,
    /// A swap limit, tried in a child group.
    pub swap_accounting: Ability,
    /// `memory.reclaim`.
    pub memory_reclaim: Ability,
    pub zram: Ability,
    pub brd: Ability,
    pub noswap_tmpfs: Ability,
    /// A loop device on a noswap tmpfs.
    pub loop_tmpfs: Ability,
    pub io_uring: Ability,
    pub sctp: Ability,
    pub kvm: Ability,
    pub perf_events: Ability,
}

impl Abilities {
    /// Tries everything; the host is as before when this returns.
    pub fn probe(root: &SysRoot, folder: &Path) -> Self {
        let options =
            SessionOptions { folder: folder.to_owned(), purpose: "probing what the host can do".to_owned() };
        let mut session = HostSession::open(root.clone(), options).map_err(|error| error.to_string());
        let mut tried = |probe: fn(&mut HostSession) -> Result<(), HostError>| match &mut session {
            Ok(session) => attempt(session, probe),
            Err(why) => Ability::Unknown { why: why.clone() },
        };
        Abilities {
            memory_limit: tried(|session| limit_group(session, Limit::Max)),
            swap_accounting: tried(|session| limit_group(session, Limit::Bytes(Bytes::mib(16)))),
            memory_reclaim: tried(reclaim_group),
            zram: tried(|session| ramdisk(session, &RamdiskChoice::Zram { algorithm: None })),
            brd: tried(|session| ramdisk(session, &RamdiskChoice::Brd)),
            noswap_tmpfs: tried(|session| mount_noswap(session, "probe", Bytes::mib(1)).map(|_| ())),
            loop_tmpfs: tried(|session| ramdisk(session, &RamdiskChoice::LoopTmpfs)),
            io_uring: io_uring(root),
            sctp: facility(root, Facility::SctpSocket, "load or build sctp (CONFIG_IP_SCTP)"),
            kvm: kvm(root),
            perf_events: facility(
                root,
                Facility::PerfEvents,
                "lower kernel.perf_event_paranoid or run as root",
            ),
        }
    }
}

/// One probe with its undo.
fn attempt(session: &mut HostSession, probe: fn(&mut HostSession) -> Result<(), HostError>) -> Ability {
    let mark = session.mark();
    let result = probe(session);
    let report = session.undo_since(mark);
    if let Some(left) = report.left.first() {
        return Ability::Unknown { why: format!("could not undo the probe: {} ({})", left.change, left.why) };
    }
    match result {
        Ok(()) => Ability::Works,
        Err(HostError::Unsupported { why, remedy, .. }) => Ability::Missing { why, remedy },
        Err(error @ HostError::NoMemoryController { .. }) => {
            Ability::Missing { why: error.to_string(), remedy: "boot with `cgroup_enable=memory`".to_owned() }
        }
        Err(error) if is_privilege(&error) => Ability::Unknown { why: error.to_string() },
        Err(error) => Ability::Missing { why: error.to_string(), remedy: "see the reason".to_owned() },
    }
}

fn is_privilege(error: &HostError) -> bool {
    let errno = error.errno().map(rustix::io::Errno::from_raw_os_error);
    matches!(errno, Some(rustix::io::Errno::PERM | rustix::io::Errno::ACCESS))
        || matches!(
            error,
            HostError::Privilege { .. }
                | HostError::NotDelegated { .. }
                | HostError::InternalProcesses { .. }
        )
}

fn limit_group(session: &mut HostSession, swap: Limit) -> Result<(), HostError> {
    let group = MemoryCgroup::create(session, "probe")?;
    group.set_limits(Limit::Bytes(Bytes::mib(16)), swap)
}

fn reclaim_group(session: &mut HostSession) -> Result<(), HostError> {
    CgroupLayout::detect(session.root())?;
    MemoryCgroup::create(session, "probe")?.reclaim(Bytes::kib(4), None).map(|_| ())
}

fn ramdisk(session: &mut HostSession, choice: &RamdiskChoice) -> Result<(), HostError> {
    Ramdisk::create(session, choice, Bytes::mib(1)).map(|_| ())
}

fn facility(root: &SysRoot, facility: Facility, remedy: &str) -> Ability {
    match root.try_facility(facility) {
        Ok(()) => Ability::Works,
        Err(error) => Ability::Missing { why: error.to_string(), remedy: remedy.to_owned() },
    }
}

/// The same error has several causes; the sysctl tells them apart.
fn io_uring(root: &SysRoot) -> Ability {
    let Err(error) = root.try_facility(Facility::IoUring) else { return Ability::Works };
    let disabled = root.value("/proc/sys/kernel/io_uring_disabled").filter(|value| value != "0");
    let remedy = match (error.kind(), &disabled) {
        (_, Some(_)) => "sysctl kernel.io_uring_disabled=0",
        (io::ErrorKind::PermissionDenied, None) => {
            "a seccomp filter or LSM forbids it: loosen the container's profile"
        }
        _ => "build the kernel with CONFIG_IO_URING=y",
    };
    let why = match disabled {
        Some(value) => format!("{error}; kernel.io_uring_disabled is {value}"),
        None => error.to_string(),
    };
    Ability::Missing { why, remedy: remedy.to_owned() }
}

fn kvm(root: &SysRoot) -> Ability {
    match OpenOptions::new().read(true).write(true).open(root.path("/dev/kvm")) {
        Ok(_) => Ability::Works,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ability::Missing { why: error.to_string(), remedy: "join the group kvm".to_owned() }
        }
        Err(error) => Ability::Missing {
            why: format!("/dev/kvm: {error}"),
            remedy: "enable virtualisation in the firmware or nest it; without KVM guests are for function, not for timing".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{FakeLayout, FakeTree, Fault};
    use super::*;

    const FOLDER: &str = "/run/run-bench";

    fn fake(layout: FakeLayout) -> (tempfile::TempDir, FakeTree) {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let tree = FakeTree::create(folder.path(), layout).expect("a tree");
        (folder, tree)
    }

    fn fault(operation: &'static str, path: &str, errno: rustix::io::Errno) -> Fault {
        Fault { operation, path: path.to_owned(), errno, times: u32::MAX }
    }

    #[test]
    fn probing_leaves_the_host_as_it_was() {
        let (_folder, tree) = fake(FakeLayout::V2);
        let before = tree.snapshot();
        let abilities = Abilities::probe(&tree.root(), Path::new(FOLDER));
        assert_eq!(tree.differences(&before), Vec::<String>::new());
        for works in [
            abilities.memory_limit,
            abilities.swap_accounting,
            abilities.memory_reclaim,
            abilities.zram,
            abilities.noswap_tmpfs,
            abilities.loop_tmpfs,
            abilities.io_uring,
        ] {
            assert_eq!(works, Ability::Works);
        }
        assert!(matches!(abilities.brd, Ability::Missing { .. }));
        assert!(matches!(abilities.kvm, Ability::Missing { .. }));
    }

    #[test]
    fn causes_and_remedies_are_named() {
        let (_folder, tree) = fake(FakeLayout::V2);
        tree.put("no-swap-accounting", "").expect("written");
        tree.put("proc/sys/kernel/io_uring_disabled", "2\n").expect("written");
        tree.kernel().inject(fault("mount", "", rustix::io::Errno::INVAL));
        tree.kernel().inject(fault("try_facility", "IoUring", rustix::io::Errno::PERM));
        let abilities = Abilities::probe(&tree.root(), Path::new(FOLDER));
        let text = |ability: &Ability| format!("{ability:?}");
        assert!(text(&abilities.swap_accounting).contains("swapaccount=1"), "{abilities:?}");
        assert!(text(&abilities.io_uring).contains("io_uring_disabled=0"), "{abilities:?}");
        assert!(text(&abilities.noswap_tmpfs).contains("does not know the option noswap"), "{abilities:?}");
        assert!(abilities.memory_limit.works());
    }

    #[test]
    fn a_held_host_is_not_probed() {
        let (_folder, tree) = fake(FakeLayout::V2);
        let options = SessionOptions { folder: FOLDER.into(), purpose: "a run".to_owned() };
        let _held = HostSession::open(tree.root(), options).expect("opens");
        let abilities = Abilities::probe(&tree.root(), Path::new(FOLDER));
        assert!(
            matches!(&abilities.zram, Ability::Unknown { why } if why.contains("a run")),
            "{abilities:?}"
        );
        assert!(abilities.io_uring.works());
    }
}
