//! Which kernel runs: release, build id, configuration, command line, boot.

use std::fs;

use super::kernel_config;
use super::kernel_config::KernelConfig;
use super::root::SysRoot;
use crate::units::hex;

const NOTE_BUILD_ID: u32 = 3;

/// What the running kernel says about itself; absent is what it does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunningKernel {
    /// `uname -r`.
    pub release: Option<String>,
    /// `uname -v`.
    pub version: Option<String>,
    /// GNU build id, in hex.
    pub build_id: Option<String>,
    pub command_line: Option<String>,
    pub config: Option<KernelConfig>,
    pub boot_id: Option<String>,
}

impl RunningKernel {
    pub fn read(root: &SysRoot) -> Self {
        let release = root.value("/proc/sys/kernel/osrelease");
        RunningKernel {
            version: root.value("/proc/sys/kernel/version"),
            build_id: fs::read(root.path("/sys/kernel/notes"))
                .ok()
                .and_then(|notes| build_id_in_notes(&notes)),
            command_line: root.value("/proc/cmdline"),
            config: config(root, release.as_deref()),
            boot_id: root.value("/proc/sys/kernel/random/boot_id"),
            release,
        }
    }
}

/// From the kernel itself, else from the file that distributions install beside it.
fn config(root: &SysRoot, release: Option<&str>) -> Option<KernelConfig> {
    let own = fs::read(root.path("/proc/config.gz")).ok().and_then(|b| kernel_config::unpack_gzip(&b).ok());
    let installed = || root.value(format!("/boot/config-{}", release?));
    let config = KernelConfig::parse(&own.or_else(installed)?);
    (!config.is_empty()).then_some(config)
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(offset..offset.checked_add(4)?)?.try_into().ok()?))
}

/// The GNU build id in a block of notes, such as `/sys/kernel/notes`, in hex.
pub fn build_id_in_notes(notes: &[u8]) -> Option<String> {
    let mut at = 0;
    while at + 12 <= notes.len() {
        let name_length = word(notes, at)? as usize;
        let value_length = word(notes, at + 4)? as usize;
        let kind = word(notes, at + 8)?;
        let name_at = at + 12;
        let value_at = name_at.checked_add(name_length.checked_next_multiple_of(4)?)?;
        let value = notes.get(value_at..value_at.checked_add(value_length)?)?;
        if kind == NOTE_BUILD_ID && notes.get(name_at..name_at + name_length)? == b"GNU\0" {
            return Some(hex(value));
        }
        at = value_at.checked_add(value_length.checked_next_multiple_of(4)?)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, value: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((name.len() as u32).to_le_bytes());
        bytes.extend((value.len() as u32).to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(name);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let notes =
            [note(b"Xen\0", 3, &[9; 20]), note(b"Linux\0", 3, &[1, 2]), note(b"GNU\0", 3, &[0xab; 20])];
        assert_eq!(build_id_in_notes(&notes.concat()), Some("ab".repeat(20)));
        assert_eq!(build_id_in_notes(&notes[..2].concat()), None);
        assert_eq!(build_id_in_notes(&notes.concat()[..notes.concat().len() - 4]), None, "cut short");
    }

    #[test]
    fn a_fake_tree_is_read_and_an_empty_one_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = SysRoot::at(folder.path());
        assert_eq!(RunningKernel::read(&root), RunningKernel::default());
        for (path, text) in
            [("/proc/sys/kernel/osrelease", "9.9.9\n"), ("/boot/config-9.9.9", "CONFIG_HZ=250\n")]
        {
            let path = root.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let notes = root.path("/sys/kernel/notes");
        fs::create_dir_all(notes.parent().unwrap()).unwrap();
        fs::write(notes, note(b"GNU\0", 3, &[0x1f; 20])).unwrap();
        let kernel = RunningKernel::read(&root);
        assert_eq!(kernel.release.as_deref(), Some("9.9.9"));
        assert_eq!(kernel.build_id, Some("1f".repeat(20)));
        assert_eq!(kernel.config.unwrap().value("HZ"), "250");
    }
}
