//! Whether KVM really runs a guest here. `/dev/kvm` alone does not say so: the
//! processor that is lent to a cloud machine often cannot, or only in part. So
//! it is tried with the very processor that guests get.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::qemu::Accelerator;
use crate::exec;
use crate::exec::{Command, Ended};
use crate::target::error::TargetError;

/// Port and value by which the guest tells that it ran.
const PORT: u8 = 0xf4;
const VALUE: u8 = 0x2a;
/// QEMU's device ends with twice the value and one.
const STATUS: i32 = (VALUE as i32) * 2 + 1;

/// A boot sector that writes [`VALUE`] to [`PORT`] and halts.
fn boot_sector() -> Vec<u8> {
    // mov al, VALUE; mov dx, PORT; out dx, al; hlt; jmp to the hlt
    let mut sector = vec![0xb0, VALUE, 0xba, PORT, 0x00, 0xee, 0xf4, 0xeb, 0xfd];
    sector.resize(510, 0);
    sector.extend([0x55, 0xaa]);
    sector
}

fn command(qemu: &Path, accelerator: Accelerator, folder: &Path, disk: &Path) -> Command {
    let mut drive = std::ffi::OsString::from("format=raw,if=ide,file=");
    drive.push(disk);
    // QEMU aborts where the host's processor is lent in part; its core goes with the folder.
    Command { working_directory: Some(folder.to_owned()), ..Command::new(qemu) }
        .args(accelerator.arguments())
        .args(["-nodefaults", "-display", "none", "-no-reboot", "-m", "16", "-drive"])
        .arg(drive)
        .args(["-device", &format!("isa-debug-exit,iobase={PORT:#x},iosize=1")])
        .deadline(Duration::from_secs(15))
}

/// Boots the sector with `accelerator`, which works or does not.
pub(super) async fn works(qemu: &Path, accelerator: Accelerator, folder: &Path) -> Result<bool, TargetError> {
    let disk = folder.join("probe.img");
    std::fs::write(&disk, boot_sector()).map_err(TargetError::io("write", &disk))?;
    let output = exec::run(&command(qemu, accelerator, folder, &disk), &CancellationToken::new()).await?;
    Ok(output.ended == Ended::Exited(STATUS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Tools;

    #[tokio::test]
    async fn the_sector_runs_where_the_processor_is_emulated() {
        let Some(qemu) = Tools::from_environment().find_program("qemu-system-x86_64") else {
            eprintln!("skipped: qemu-system-x86_64 is not installed");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        assert!(works(&qemu, Accelerator::Tcg, folder.path()).await.unwrap());
        // Not QEMU at all: nothing tells that the sector ran.
        assert!(!works(Path::new("/bin/true"), Accelerator::Kvm, folder.path()).await.unwrap());
    }
}
