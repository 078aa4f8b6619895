//! Which kernel and which machine this is, from the running system alone.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::host::SysRoot;
use crate::store::KernelIdentity;

/// The ELF note of the GNU build id.
const BUILD_ID_NOTE: u32 = 3;

/// The kernel that runs now.
pub fn kernel_identity(root: &SysRoot) -> KernelIdentity {
    let name = rustix::system::uname();
    KernelIdentity {
        release: name.release().to_string_lossy().into_owned(),
        version: name.version().to_string_lossy().into_owned(),
        build_id: std::fs::read(root.path("/sys/kernel/notes")).ok().and_then(|notes| build_id(&notes)),
        command_line: root.value("/proc/cmdline"),
        config_hash: config_hash(root, &name.release().to_string_lossy()),
        boot_id: root.value("/proc/sys/kernel/random/boot_id"),
    }
}

/// Hash of `/proc/config.gz`, else of the configuration in `/boot`.
fn config_hash(root: &SysRoot, release: &str) -> Option<String> {
    let packed = std::fs::read(root.path("/proc/config.gz")).ok();
    let plain = || std::fs::read(root.path(Path::new("/boot").join(format!("config-{release}")))).ok();
    packed.or_else(plain).map(|bytes| hex(&Sha256::digest(bytes)))
}

/// A name that stays the same over boots: hashed, so that it tells nothing else.
pub fn stable_host_name(root: &SysRoot) -> String {
    let id = root.value("/etc/machine-id").filter(|id| !id.is_empty());
    let id = id.or_else(|| root.value("/sys/class/dmi/id/product_uuid"));
    let model = root.read("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("model name"))?;
        line.split_once(':').map(|(_, model)| model.trim().to_owned())
    });
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    match id {
        Some(id) => format!("{model} ({})", &hex(&Sha256::digest(id.trim().as_bytes()))[..8]),
        None => model,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Walks ELF notes: name size, description size, type, then both padded to 4 bytes.
fn build_id(notes: &[u8]) -> Option<String> {
    let word =
        |at: usize| notes.get(at..at + 4).map(|b| u32::from_ne_bytes(b.try_into().expect("four bytes")));
    let padded = |size: u32| (size as usize).div_ceil(4) * 4;
    let mut at = 0;
    loop {
        let (name_size, size, kind) = (word(at)?, word(at + 4)?, word(at + 8)?);
        let name = notes.get(at + 12..)?.get(..name_size as usize)?;
        let start = at + 12 + padded(name_size);
        if kind == BUILD_ID_NOTE && name == b"GNU\0" {
            return notes.get(start..start + size as usize).map(hex);
        }
        at = start + padded(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, description: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, description.len() as u32, kind] {
            bytes.extend(word.to_ne_bytes());
        }
        for part in [name, description] {
            bytes.extend(part);
            bytes.resize(bytes.len().div_ceil(4) * 4, 0);
        }
        bytes
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let mut notes = note(b"Xen\0", 6, b"linux");
        notes.extend(note(b"GNU\0", 3, &[0xab, 0xcd, 0x01]));
        assert_eq!(build_id(&notes).as_deref(), Some("abcd01"));
        for cut in 0..notes.len() {
            let _ = build_id(&notes[..cut]);
        }
        assert_eq!(build_id(&note(b"GNU\0", 1, b"x")), None);
    }
}
