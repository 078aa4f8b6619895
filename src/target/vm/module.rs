//! Kernel modules that a guest needs, with those that they need themselves, in
//! the order in which they have to be loaded. Read from the modules, since an
//! unpacked package has no index of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::exec;
use crate::exec::Command;
use crate::target::error::TargetError;
use crate::target::kernel::elf_section;
use crate::units::Bytes;

/// A module to put into the guest, unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadableModule {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// The modules of one kernel release.
#[derive(Debug)]
pub(super) struct ModuleFolder {
    paths: BTreeMap<String, PathBuf>,
}

/// Where modules of `release` may lie: installed, or beside the image in an unpacked package.
pub(super) fn find_folder(image: &Path, release: &str) -> Option<PathBuf> {
    let beside = image.parent().and_then(Path::parent).map(|root| root.join("lib/modules"));
    let roots = [Some(PathBuf::from("/lib/modules")), beside];
    roots.into_iter().flatten().map(|root| root.join(release)).find(|folder| folder.is_dir())
}

/// `lz4-compress.ko.xz` is the module `lz4_compress`.
fn module_name(file: &str) -> Option<String> {
    let (stem, packing) = file.split_once(".ko")?;
    matches!(packing, "" | ".xz" | ".zst" | ".gz").then(|| stem.replace('-', "_"))
}

impl ModuleFolder {
    pub(super) fn read(folder: &Path) -> Result<Self, TargetError> {
        let mut paths = BTreeMap::new();
        walk(folder, &mut paths)?;
        Ok(ModuleFolder { paths })
    }

    /// The wanted modules that exist, dependencies first. Those that do not exist are
    /// built into the kernel or not to be had, which the trial then finds out.
    pub(super) async fn closure(&self, wanted: &[&str]) -> Result<Vec<LoadableModule>, TargetError> {
        let mut loaded: Vec<LoadableModule> = Vec::new();
        let mut seen = BTreeSet::new();
        // A module waits on the stack until those that it needs are loaded.
        let mut stack: Vec<(String, Option<LoadableModule>)> =
            wanted.iter().rev().map(|name| ((*name).to_owned(), None)).collect();
        while let Some((name, ready)) = stack.pop() {
            if let Some(module) = ready {
                loaded.push(module);
                continue;
            }
            let Some(path) = self.paths.get(&name).filter(|_| seen.insert(name.clone())) else { continue };
            let bytes = unpack(path).await?;
            let needs = dependencies(&bytes);
            stack.push((name.clone(), Some(LoadableModule { name, bytes })));
            stack.extend(needs.into_iter().rev().map(|need| (need, None)));
        }
        Ok(loaded)
    }
}

fn walk(folder: &Path, paths: &mut BTreeMap<String, PathBuf>) -> Result<(), TargetError> {
    for entry in std::fs::read_dir(folder).map_err(TargetError::io("list", folder))? {
        let entry = entry.map_err(TargetError::io("list", folder))?;
        let kind = entry.file_type().map_err(TargetError::io("look at", folder))?;
        // The links `build` and `source` lead out of the folder.
        if kind.is_dir() {
            walk(&entry.path(), paths)?;
        } else if let Some(name) = entry.file_name().to_str().and_then(module_name) {
            paths.insert(name, entry.path());
        }
    }
    Ok(())
}

async fn unpack(path: &Path) -> Result<Vec<u8>, TargetError> {
    let program = match path.extension().and_then(|e| e.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return std::fs::read(path).map_err(TargetError::io("read", path)),
    };
    // Half of the limit is kept whole from the start, and no module is that large.
    let command = Command { output_limit: Bytes::mib(512), ..Command::new(program) }.args(["-d", "-c", "-q"]);
    let command = command.arg(path).deadline(Duration::from_secs(60));
    let output = exec::run(&command, &CancellationToken::new()).await?;
    if output.ended.success() {
        return Ok(output.stdout.bytes());
    }
    Err(TargetError::Module { path: path.to_owned(), said: output.stderr.text().trim().to_owned() })
}

/// The names after `depends=` in the module's own description.
fn dependencies(module: &[u8]) -> Vec<String> {
    let Some(section) = elf_section(module, ".modinfo") else { return Vec::new() };
    let entries = section.split(|b| *b == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
    let listed =
        entries.filter_map(|entry| entry.strip_prefix("depends=")).flat_map(|names| names.split(','));
    listed.filter(|name| !name.is_empty()).map(|name| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one section, `.modinfo`.
    fn module(depends: &str) -> Vec<u8> {
        let info = format!("license=GPL\0depends={depends}\0name=x\0");
        let names = b"\0.modinfo\0.shstrtab\0";
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        let info_at = bytes.len();
        bytes.extend(info.as_bytes());
        let names_at = bytes.len();
        bytes.extend(names);
        let table = bytes.len();
        for (name, at, length) in [(0, 0, 0), (1, info_at, info.len()), (10, names_at, names.len())] {
            let mut header = vec![0u8; 64];
            header[..4].copy_from_slice(&(name as u32).to_le_bytes());
            header[24..32].copy_from_slice(&(at as u64).to_le_bytes());
            header[32..40].copy_from_slice(&(length as u64).to_le_bytes());
            bytes.extend(header);
        }
        bytes[40..48].copy_from_slice(&(table as u64).to_le_bytes());
        bytes[58..60].copy_from_slice(&64u16.to_le_bytes());
        bytes[60..62].copy_from_slice(&3u16.to_le_bytes());
        bytes[62..64].copy_from_slice(&2u16.to_le_bytes());
        bytes
    }

    #[tokio::test]
    async fn dependencies_come_first_and_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("kernel/drivers")).unwrap();
        for (file, depends) in [
            ("zram.ko", "zs-malloc,lz4_compress"),
            ("zs-malloc.ko", ""),
            ("lz4_compress.ko", "zs_malloc"),
            ("x.ko", ""),
        ] {
            std::fs::write(folder.path().join("kernel/drivers").join(file), module(depends)).unwrap();
        }
        let modules = ModuleFolder::read(folder.path()).unwrap();
        let names: Vec<String> = modules
            .closure(&["zs_malloc", "brd", "zram"])
            .await
            .unwrap()
            .into_iter()
            .map(|module| module.name)
            .collect();
        assert_eq!(names, ["zs_malloc", "lz4_compress", "zram"], "brd is built in");
    }

    #[test]
    fn names_are_those_that_the_kernel_uses() {
        assert_eq!(module_name("lz4-compress.ko.xz").as_deref(), Some("lz4_compress"));
        assert_eq!(module_name("brd.ko").as_deref(), Some("brd"));
        assert_eq!(module_name("modules.dep"), None);
        assert_eq!(module_name("x.ko.sig"), None);
    }
}
