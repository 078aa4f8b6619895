//! Kernels that were built, on disk.
//!
//! ```text
//! <cache>/
//!   kernels/<name>/     kernel  config  System.map  kernel.json  build.log
//!   sources/<tree>      a working copy for each tree, with its state beside it
//!   builds/<key>/       a build folder for each tree, configuration and compiler
//!   lock                held while something is built
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::KernelError;
use super::image::KernelKind;
use super::layout::Layout;
use crate::store::{create_private_folder, read_json};
use crate::units::{Bytes, hex};

/// Variable that names the cache's folder.
pub const CACHE_VARIABLE: &str = "RUN_BENCH_CACHE";

/// What a built kernel was made of, and what it says it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuiltKernel {
    pub schema: u32,
    /// Its folder's name: the release and the kind.
    pub name: String,
    /// Hash of everything it was made of.
    pub key: String,
    pub kind: KernelKind,
    pub release: String,
    pub version: String,
    pub build_id: Option<String>,
    pub config_hash: String,
    pub layout: Layout,
    /// The tree as it was given, and its commit where it has one.
    pub tree: PathBuf,
    pub commit: Option<String>,
    /// Whether changes that were not committed went in.
    pub uncommitted: bool,
    /// File names of the patches, in order.
    pub patches: Vec<String>,
    pub compiler: String,
    /// SHA-256 of the image, so that damage is seen.
    pub image_hash: String,
    pub built: Timestamp,
    /// Symbols that fragments asked for and that could not be had.
    pub unmet: Vec<String>,
}

/// A kernel in the cache, whole or not.
#[derive(Debug)]
pub struct CachedKernel {
    pub folder: PathBuf,
    pub size: Bytes,
    /// What it is, or why it cannot be used.
    pub kernel: Result<BuiltKernel, KernelError>,
}

/// The folder that built kernels live in.
#[derive(Debug, Clone)]
pub struct KernelCache {
    folder: PathBuf,
}

pub(super) const IMAGE: &str = "kernel";
pub(super) const DESCRIPTION: &str = "kernel.json";

impl KernelCache {
    /// `RUN_BENCH_CACHE`, else the user's cache folder.
    pub fn from_environment() -> Result<Self, KernelError> {
        let named = std::env::var_os(CACHE_VARIABLE).map(PathBuf::from);
        let user = || std::env::var_os("XDG_CACHE_HOME").map(|c| PathBuf::from(c).join("run-bench"));
        let home = || std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache/run-bench"));
        let folder = named.or_else(user).or_else(home).ok_or(KernelError::NoCache)?;
        Ok(KernelCache::at(std::path::absolute(&folder).map_err(KernelError::io("find", &folder))?))
    }

    pub fn at(folder: PathBuf) -> Self {
        KernelCache { folder }
    }

    pub(super) fn part(&self, name: &str) -> Result<PathBuf, KernelError> {
        let path = self.folder.join(name);
        create_private_folder(&path)?;
        Ok(path)
    }

    /// The folder of the kernel called `name`.
    pub fn kernel_folder(&self, name: &str) -> PathBuf {
        self.folder.join("kernels").join(name)
    }

    /// The image of the kernel called `name`.
    pub fn image(&self, name: &str) -> PathBuf {
        self.kernel_folder(name).join(IMAGE)
    }

    /// Reads a kernel and checks its image against its description.
    pub fn load(&self, name: &str) -> Result<BuiltKernel, KernelError> {
        let folder = self.kernel_folder(name);
        let kernel: BuiltKernel = read_json(&folder.join(DESCRIPTION), "kernel description")?;
        let image = folder.join(IMAGE);
        let found = hash_image(&image)?;
        if found == kernel.image_hash && kernel.name == name {
            Ok(kernel)
        } else {
            Err(KernelError::Damaged { folder })
        }
    }

    /// Every kernel, by name.
    pub fn list(&self) -> Result<Vec<CachedKernel>, KernelError> {
        let folder = self.folder.join("kernels");
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
        let mut kernels = Vec::new();
        for entry in entries {
            let entry = entry.map_err(KernelError::io("list", &folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Half-made ones begin with a dot.
            if !name.starts_with('.') && entry.path().is_dir() {
                let size = size_of(&entry.path());
                kernels.push(CachedKernel { folder: entry.path(), size, kernel: self.load(&name) });
            }
        }
        kernels.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(kernels)
    }

    /// A whole kernel that was made of exactly this.
    pub(super) fn find(&self, key: &str) -> Option<BuiltKernel> {
        let kernels = self.list().ok()?;
        kernels.into_iter().filter_map(|k| k.kernel.ok()).find(|kernel| kernel.key == key)
    }

    /// Takes the cache for building, until the file is dropped.
    pub(super) fn lock(&self) -> Result<File, KernelError> {
        create_private_folder(&self.folder)?;
        let path = self.folder.join("lock");
        super::super::lock::take(&path, "kernel build")
            .map_err(|holder| KernelError::Locked { folder: self.folder.clone(), holder: holder.to_string() })
    }
}

pub(super) fn hash_image(path: &Path) -> Result<String, KernelError> {
    let bytes = std::fs::read(path).map_err(KernelError::io("read", path))?;
    Ok(hex(&Sha256::digest(&bytes)))
}

fn size_of(folder: &Path) -> Bytes {
    let Ok(entries) = std::fs::read_dir(folder) else { return Bytes(0) };
    Bytes(entries.flatten().filter_map(|e| e.metadata().ok()).map(|m| m.len()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str, image: &[u8]) -> BuiltKernel {
        BuiltKernel {
            schema: crate::store::SCHEMA,
            name: name.to_owned(),
            key: format!("key of {name}"),
            kind: KernelKind::Uml,
            release: "9.9.9-rb0".to_owned(),
            version: "#1".to_owned(),
            build_id: None,
            config_hash: String::new(),
            layout: Layout::Plain,
            tree: "/invented".into(),
            commit: None,
            uncommitted: false,
            patches: Vec::new(),
            compiler: String::new(),
            image_hash: hex(&Sha256::digest(image)),
            built: Timestamp::UNIX_EPOCH,
            unmet: Vec::new(),
        }
    }

    fn place(cache: &KernelCache, name: &str) {
        let folder = cache.kernel_folder(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(IMAGE), name).unwrap();
        crate::store::write_json(&folder.join(DESCRIPTION), &kernel(name, name.as_bytes())).unwrap();
    }

    #[test]
    fn damaged_kernels_are_listed_as_such_and_never_found() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::at(folder.path().to_owned());
        for name in ["good", "changed", "torn", ".half"] {
            place(&cache, name);
        }
        std::fs::write(cache.image("changed"), "other").unwrap();
        std::fs::write(cache.kernel_folder("torn").join(DESCRIPTION), "{").unwrap();
        let list = cache.list().unwrap();
        let usable: Vec<(String, bool)> = list
            .iter()
            .map(|k| (k.folder.file_name().unwrap().to_string_lossy().into_owned(), k.kernel.is_ok()))
            .collect();
        let expected = [("changed", false), ("good", true), ("torn", false)];
        assert_eq!(usable, expected.map(|(name, ok)| (name.to_owned(), ok)));
        assert!(cache.find("key of good").is_some());
        assert!(cache.find("key of changed").is_none());
    }
}
