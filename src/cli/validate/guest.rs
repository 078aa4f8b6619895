//! A cell in a guest: swap and a file system on ramdisks, a memcg, the replay.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use super::cell::Cell;
use super::replay::{self, Order, Snapshot};
use crate::config::TargetSection;
use crate::host::SysRoot;
use crate::model::version::PolicyKind;
use crate::target::UmlTarget;
use crate::target::guest::PROGRAM;
use crate::target::kernel::KernelImage;
use crate::trial::stable_host_name;
use crate::units::Bytes;

const MEMCG: &str = "/sys/fs/cgroup/cell";
const DEADLINE: Duration = Duration::from_secs(600);
/// Each of the two ramdisks: swap, and the file's file system.
pub const RAMDISK: Bytes = Bytes::mib(352);
const MEMORY: Bytes = Bytes::mib(1024);

/// Boots a guest for `cell` and returns its counters before and after each phase.
pub async fn measure(
    image: &KernelImage,
    section: TargetSection,
    cell: &Cell,
    cancel: &CancellationToken,
) -> anyhow::Result<Vec<Snapshot>> {
    let section = TargetSection { memory: MEMORY, ..section };
    // Only pages of the process are charged; time stands still while it runs.
    let words = format!("cgroup.memory=nokmem time-travel=inf-cpu brd.rd_size={}", RAMDISK.0 / 1024);
    let program = std::env::current_exe().context("cannot find the path of the running program")?;
    let host = stable_host_name(&SysRoot::host());
    let target = UmlTarget::new(image.clone(), section, Some(words), program, host);
    let argv = vec!["/bin/sh".to_owned(), "-ec".to_owned(), script(cell)?];
    let end = target.run_command(argv, DEADLINE, cancel).await?;
    let (stdout, stderr) = (String::from_utf8_lossy(&end.stdout), String::from_utf8_lossy(&end.stderr));
    serde_json::from_str(stdout.trim()).with_context(|| {
        let (exit, problem) = (&end.exit, &end.problem);
        format!("the guest of {:?} printed no counters: {exit:?} {problem:?} {stdout}{stderr}", cell.name)
    })
}

fn script(cell: &Cell) -> anyhow::Result<String> {
    let order =
        Order { load: cell.load.clone(), memcg: PathBuf::from(MEMCG), file: PathBuf::from("/run/cell/file") };
    let order = serde_json::to_string(&order)?;
    let lru_gen = if cell.policy == PolicyKind::Classic { "n" } else { "y" };
    let limit = cell.limit.0 * 4096;
    let swappiness = cell.swappiness;
    let name = replay::NAME;
    Ok(format!(
        "export PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec 3>&1 >/dev/null
mkswap /dev/ram0
swapon /dev/ram0
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 /dev/ram1
mkdir -p /run/cell
mount -o noatime /dev/ram1 /run/cell
echo {lru_gen} > /sys/kernel/mm/lru_gen/enabled
echo 0 > /proc/sys/vm/page-cluster
echo {swappiness} > /proc/sys/vm/swappiness
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mkdir {MEMCG}
echo {limit} > {MEMCG}/memory.max
exec {PROGRAM} {name} '{order}' >&3
"
    ))
}
