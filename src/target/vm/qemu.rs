//! QEMU: which accelerator works, and the command line of a guest.

use std::path::{Path, PathBuf};

use super::kvm;
use crate::config::TargetSection;
use crate::exec::{Command, Tools};
use crate::target::error::TargetError;

/// What runs the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    Kvm,
    /// QEMU's own translation: right, slow, and of no machine's speed.
    Tcg,
}

impl Accelerator {
    /// QEMU's options for it and for the best processor that it has.
    pub(super) fn arguments(self) -> [&'static str; 4] {
        match self {
            Accelerator::Kvm => ["-accel", "kvm", "-cpu", "host"],
            Accelerator::Tcg => ["-accel", "tcg", "-cpu", "max"],
        }
    }

    /// Why no statement about time may rest on what it runs.
    pub fn functional_only(self) -> Option<String> {
        let why = "the processor was emulated (QEMU TCG, KVM does not work here): the trial shows that things work, \
                   not how long they take";
        (self == Accelerator::Tcg).then(|| why.to_owned())
    }
}

/// QEMU on this host.
#[derive(Debug, Clone)]
pub(super) struct Qemu {
    pub(super) program: PathBuf,
    pub(super) accelerator: Accelerator,
}

impl Qemu {
    /// Finds QEMU and tries KVM by running a guest of a few instructions.
    pub(super) async fn find() -> Result<Self, TargetError> {
        let program =
            Tools::from_environment().find_program("qemu-system-x86_64").ok_or(TargetError::NoQemu)?;
        let folder =
            tempfile::tempdir().map_err(TargetError::io("create a folder in", &std::env::temp_dir()))?;
        let accelerator = choose(&program, Path::new("/dev/kvm"), folder.path()).await?;
        Ok(Qemu { program, accelerator })
    }

    /// The command that runs a guest; its console is the command's output.
    pub(super) fn command(&self, guest: &GuestFiles<'_>, section: &TargetSection) -> Command {
        let mut disk = std::ffi::OsString::from("format=raw,if=virtio,cache=unsafe,file=");
        disk.push(guest.disk);
        Command::new(&self.program)
            .args(self.accelerator.arguments())
            .args(["-m", &format!("{}K", section.memory.0 / 1024), "-smp", &section.cpus.to_string()])
            .args(["-nodefaults", "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot"])
            .arg("-kernel")
            .arg(guest.kernel)
            .arg("-initrd")
            .arg(guest.initramfs)
            .arg("-drive")
            .arg(disk)
            .arg("-append")
            .arg(guest.kernel_line)
    }
}

/// KVM where its device is there and a guest runs by it, else emulation.
async fn choose(program: &Path, device: &Path, folder: &Path) -> Result<Accelerator, TargetError> {
    let works = device.exists() && kvm::works(program, Accelerator::Kvm, folder).await?;
    Ok(if works { Accelerator::Kvm } else { Accelerator::Tcg })
}

/// What a guest boots from.
#[derive(Debug)]
pub(super) struct GuestFiles<'a> {
    pub(super) kernel: &'a Path,
    pub(super) initramfs: &'a Path,
    pub(super) disk: &'a Path,
    pub(super) kernel_line: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn the_command_names_all_files() {
        let qemu = Qemu { program: "/q".into(), accelerator: Accelerator::Tcg };
        let files = GuestFiles {
            kernel: Path::new("/k"),
            initramfs: Path::new("/i"),
            disk: Path::new("/d"),
            kernel_line: "console=ttyS0 -- x",
        };
        let section = TargetSection { memory: Bytes::gib(1), cpus: 2, ..TargetSection::default() };
        let argv: Vec<String> =
            qemu.command(&files, &section).argv.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        let line = argv.join(" ");
        assert!(line.contains("-accel tcg -cpu max -m 1048576K -smp 2 "), "{line}");
        assert!(line.contains("-kernel /k -initrd /i "), "{line}");
        assert_eq!(argv.last().map(String::as_str), Some("console=ttyS0 -- x"));
    }

    /// A program that ends as QEMU does when the sector ran.
    fn ready(folder: &Path) -> PathBuf {
        let program = folder.join("qemu");
        std::fs::write(&program, "#!/bin/sh\nexit 85\n").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        program
    }

    #[tokio::test]
    async fn without_the_device_the_guest_is_emulated() {
        let folder = tempfile::tempdir().unwrap();
        let (path, program) = (folder.path(), ready(folder.path()));
        let chosen = choose(&program, &path.join("no-kvm"), path).await.unwrap();
        assert_eq!(chosen, Accelerator::Tcg);
        std::fs::write(path.join("kvm"), "").unwrap();
        assert_eq!(choose(&program, &path.join("kvm"), path).await.unwrap(), Accelerator::Kvm);
        let broken = choose(Path::new("/bin/false"), &path.join("kvm"), path).await.unwrap();
        assert_eq!(broken, Accelerator::Tcg, "a device by which nothing runs");
    }

    #[test]
    fn only_emulation_is_stamped() {
        assert!(Accelerator::Tcg.functional_only().is_some_and(|why| why.contains("emulated")));
        assert_eq!(Accelerator::Kvm.functional_only(), None);
    }
}
