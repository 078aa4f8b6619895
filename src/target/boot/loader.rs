//! Boot loaders: which entry starts an image, and how it is started once.

use std::path::{Path, PathBuf};

use super::error::BootError;
use crate::exec::Tools;
use crate::host::SysRoot;

/// How this host boots a kernel once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loader {
    SystemdBoot,
    Grub,
    Kexec,
}

const GRUB_CONFIG: [&str; 2] = ["/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"];
const ENTRY_FOLDERS: [&str; 3] = ["/boot/loader/entries", "/efi/loader/entries", "/boot/efi/loader/entries"];
/// What kexec boots with besides the arm's own arguments; a panic restarts the default kernel.
const FALLBACK: &str = "panic=10";

/// Commands to run, in this order; the machine restarts in the last one.
pub(super) type Commands = Vec<Vec<String>>;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

impl Loader {
    /// The one that this host has.
    pub(super) fn find(root: &SysRoot, tools: &Tools) -> Result<Self, BootError> {
        let has = |program: &str| tools.find_program(program).is_some();
        let has_entries = ENTRY_FOLDERS.iter().any(|folder| !entries_of(root, folder).is_empty());
        if has_entries && has("bootctl") {
            Ok(Loader::SystemdBoot)
        } else if grub_config(root).is_some() && has("grub-reboot") {
            Ok(Loader::Grub)
        } else if has("kexec") {
            Ok(Loader::Kexec)
        } else {
            Err(BootError::NoLoader)
        }
    }

    /// What boots `image` once. Whatever comes of it, the next boot is the default.
    pub(super) fn once(
        self,
        root: &SysRoot,
        image: &Path,
        release: &str,
        arguments: Option<&str>,
    ) -> Result<Commands, BootError> {
        let restart = words(&["systemctl", "reboot"]);
        match self {
            Loader::SystemdBoot => {
                let entry = systemd_boot_entry(root, image, release)?;
                Ok(vec![words(&["bootctl", "set-oneshot", &entry]), restart])
            }
            Loader::Grub => {
                let entry = grub_entry(root, image)?;
                Ok(vec![words(&["grub-reboot", &entry]), restart])
            }
            Loader::Kexec => {
                let line = root.value("/proc/cmdline").unwrap_or_default();
                let line = format!("{} {FALLBACK} {}", without_image(&line), arguments.unwrap_or_default());
                let mut load = words(&["kexec", "--load"]);
                load.push(image.display().to_string());
                let initrd = initrd_beside(root, image, release);
                load.extend(initrd.map(|path| format!("--initrd={}", path.display())));
                load.push(format!("--command-line={}", line.trim()));
                Ok(vec![load, words(&["systemctl", "kexec"])])
            }
        }
    }
}

impl Loader {
    /// What takes back an entry that was armed and not booted.
    pub(super) fn take_back(self) -> Vec<String> {
        words(match self {
            Loader::SystemdBoot => &["bootctl", "set-oneshot", ""],
            Loader::Grub => &["grub-editenv", "-", "unset", "next_entry"],
            Loader::Kexec => &["kexec", "--unload"],
        })
    }
}

/// The kernel's own words of a command line, without those that the loader put there.
fn without_image(line: &str) -> String {
    let own = |word: &&str| !word.starts_with("BOOT_IMAGE=") && !word.starts_with("initrd=");
    line.split_whitespace().filter(own).collect::<Vec<_>>().join(" ")
}

fn initrd_beside(root: &SysRoot, image: &Path, release: &str) -> Option<PathBuf> {
    let folder = image.parent()?;
    let names = [format!("initrd.img-{release}"), format!("initramfs-{release}.img")];
    names.into_iter().map(|name| folder.join(name)).find(|path| root.exists(path))
}

fn grub_config(root: &SysRoot) -> Option<PathBuf> {
    GRUB_CONFIG.into_iter().map(PathBuf::from).find(|path| root.exists(path))
}

/// Whether a panic of this entry ends in a new boot.
fn falls_back(line: &str) -> bool {
    line.split_whitespace().any(|word| word.strip_prefix("panic=").is_some_and(|value| value != "0"))
}

/// Whether a `linux` line of a loader names this image.
fn names_image(line: &str, image: &Path) -> bool {
    let mut words = line.split_whitespace();
    let is_linux = matches!(words.next(), Some("linux" | "linuxefi" | "linux16"));
    let file = words.next().map(Path::new).and_then(Path::file_name);
    is_linux && file.is_some() && file == image.file_name()
}

/// The path of ids, such as `gnulinux-advanced-…>gnulinux-6.1.0-advanced-…`.
fn grub_entry(root: &SysRoot, image: &Path) -> Result<String, BootError> {
    let config = grub_config(root).ok_or(BootError::NoLoader)?;
    let text = root.read(&config).unwrap_or_default();
    if !text.contains("next_entry") {
        return Err(BootError::NotOnce { config });
    }
    // Menus that are open, none for blocks of other kinds.
    let mut open: Vec<Option<String>> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.ends_with('{') {
            let is_menu = line.starts_with("menuentry ") || line.starts_with("submenu ");
            open.push(is_menu.then(|| grub_id(line)).flatten());
        } else if line == "}" {
            open.pop();
        } else if names_image(line, image) && !line.split_whitespace().any(|w| w == "single") {
            let ids: Vec<&str> = open.iter().flatten().map(String::as_str).collect();
            let entry = ids.join(">");
            return if falls_back(line) { Ok(entry) } else { Err(BootError::NoFallback { entry }) };
        }
    }
    Err(BootError::NoEntry { place: config.display().to_string(), image: image.to_owned() })
}

/// The id of a menu line, else its title: what grub-reboot takes.
fn grub_id(line: &str) -> Option<String> {
    let quoted = |text: &str| {
        let quote = text.trim_start().chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        text.trim_start()[1..].split(quote).next().map(str::to_owned)
    };
    let after = |mark: &str| line.split_once(mark).and_then(|(_, rest)| quoted(rest));
    after("$menuentry_id_option")
        .or_else(|| after("--id"))
        .or_else(|| line.split_once(' ').and_then(|(_, rest)| quoted(rest)))
}

/// Names of a folder's entries.
fn entries_of(root: &SysRoot, folder: &str) -> Vec<String> {
    root.names(folder).into_iter().filter(|name| name.ends_with(".conf")).collect()
}

fn systemd_boot_entry(root: &SysRoot, image: &Path, release: &str) -> Result<String, BootError> {
    for folder in ENTRY_FOLDERS {
        for name in entries_of(root, folder) {
            let text = root.read(Path::new(folder).join(&name)).unwrap_or_default();
            let value = |key: &str| {
                text.lines().find_map(|l| l.strip_prefix(key).filter(|r| r.starts_with([' ', '\t'])))
            };
            let is_release = value("version").is_some_and(|v| v.trim() == release);
            if !is_release && !text.lines().any(|line| names_image(line, image)) {
                continue;
            }
            return if value("options").is_some_and(falls_back) {
                Ok(name)
            } else {
                Err(BootError::NoFallback { entry: name })
            };
        }
    }
    Err(BootError::NoEntry { place: "the loader's entries".to_owned(), image: image.to_owned() })
}

#[cfg(test)]
#[path = "loader_tests.rs"]
mod tests;
