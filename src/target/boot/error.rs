//! Why a host cannot be rebooted into an arm's kernel.

use std::path::PathBuf;

use thiserror::Error;

/// A failure of booting, not of a trial.
#[derive(Debug, Error)]
pub enum BootError {
    #[error(
        "this host has neither systemd-boot, nor GRUB with grub-reboot, nor kexec, so no kernel can be booted once; \
         install kexec-tools, or use target.kind = \"vm\" or \"uml\""
    )]
    NoLoader,
    #[error(
        "{place} has no boot entry for {image}; install the kernel as the distribution does (make install, update-grub), \
         so that its initramfs is there too"
    )]
    NoEntry { place: String, image: PathBuf },
    #[error(
        "{config} does not honour grub-reboot: it has no next_entry; set GRUB_DEFAULT=saved in /etc/default/grub and run \
         update-grub"
    )]
    NotOnce { config: PathBuf },
    #[error(
        "the boot entry {entry:?} has no panic= on its command line, so a kernel that panics would stay dead instead of \
         falling back; add panic=10 to GRUB_CMDLINE_LINUX or the entry's options"
    )]
    NoFallback { entry: String },
    #[error("{program} failed: {said}")]
    Command { program: String, said: String },
    #[error(
        "the kernel of arm {arm:?} ({release}) did not come up in {attempts} boots; see the console or \
         `journalctl --boot=-1`, and whether its entry boots by hand"
    )]
    NeverCameUp { arm: String, release: String, attempts: u32 },
    #[error(
        "{boots} boots in a row ended without a trial: the campaign is stopped so that the host does not reboot for \
         ever; nothing will resume it by itself, `run-bench run` does when the reason is found"
    )]
    CrashLoop { boots: u32 },
    #[error(
        "target.kind = \"boot\" boots for every trial, and a warm-up trial is of another boot than those it is for; set \
         schedule.discard-first = false"
    )]
    Discarded,
    #[error("{path} belongs to the campaign {other}; finish that one first, or remove the file", path = path.display())]
    OtherCampaign { path: PathBuf, other: PathBuf },
}

impl BootError {
    /// Whether the experiment is to be changed, not the host.
    pub fn is_usage(&self) -> bool {
        matches!(self, BootError::Discarded)
    }
}
