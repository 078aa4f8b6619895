//! From what an arm calls its kernel to an image: the running one, a path, an
//! installed release, a kernel of the cache, or a tree (with patches) to build.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::build::{BuildRequest, BuildStep, build};
use super::cache::KernelCache;
use super::error::KernelError;
use super::image::{KernelImage, KernelKind};
use super::layout::Layout;

/// What the words of an arm's `kernel` mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelName {
    /// The kernel that runs this host.
    Running,
    /// An image, at this path.
    Image(PathBuf),
    /// A tree to build, and which revision of it: `TREE@REVISION`.
    Tree { tree: PathBuf, revision: Option<String> },
}

/// Where names are looked up.
#[derive(Debug, Clone)]
pub struct KernelPlaces {
    pub cache: KernelCache,
    /// The folder of installed kernels.
    pub boot: PathBuf,
    /// The tree that revisions are of.
    pub tree: Option<PathBuf>,
}

impl KernelPlaces {
    /// The user's cache and `/boot`.
    pub fn of_host(tree: Option<PathBuf>) -> Result<Self, KernelError> {
        Ok(KernelPlaces { cache: KernelCache::from_environment()?, boot: PathBuf::from("/boot"), tree })
    }

    /// Finds out what an arm means.
    pub fn find(&self, name: &str, has_patches: bool) -> Result<KernelName, KernelError> {
        if name == "running" && !has_patches {
            return Ok(KernelName::Running);
        }
        let path = Path::new(name);
        if let Some((tree, revision)) = name.rsplit_once('@')
            && Path::new(tree).is_dir()
        {
            return Ok(KernelName::Tree { tree: tree.into(), revision: Some(revision.to_owned()) });
        }
        if name.contains('/') || path.is_file() {
            if path.is_dir() || is_archive(name) {
                return Ok(KernelName::Tree { tree: path.to_owned(), revision: None });
            }
            return self.image(name, path.to_owned(), has_patches);
        }
        let installed =
            [self.cache.image(name), self.boot.join(format!("vmlinuz-{name}")), self.boot.join(name)];
        if let Some(image) = installed.into_iter().find(|path| path.is_file())
            && !has_patches
        {
            return Ok(KernelName::Image(image));
        }
        match &self.tree {
            Some(tree) if name == "running" => Err(KernelError::Unresolved {
                name: name.to_owned(),
                why: format!("patches go onto source; name a revision of {} instead", tree.display()),
            }),
            Some(tree) => Ok(KernelName::Tree { tree: tree.clone(), revision: Some(name.to_owned()) }),
            None if has_patches => Err(KernelError::Unresolved {
                name: name.to_owned(),
                why: "patches go onto source; give the tree with --kernel-tree, or an archive or folder of it as the \
                      arm's kernel"
                    .to_owned(),
            }),
            None => Err(KernelError::Unresolved {
                name: name.to_owned(),
                why: format!(
                    "it is no path, no kernel of the cache (run-bench kernel list), not installed in {}, and without \
                     --kernel-tree it cannot be a revision",
                    self.boot.display()
                ),
            }),
        }
    }

    fn image(&self, name: &str, path: PathBuf, has_patches: bool) -> Result<KernelName, KernelError> {
        if has_patches {
            let why = "it is an image, and patches go onto source; name a tree or a revision".to_owned();
            return Err(KernelError::Unresolved { name: name.to_owned(), why });
        }
        Ok(KernelName::Image(path))
    }

    /// The image of an arm's kernel, built where it has to be; none for the running one.
    pub async fn resolve(
        &self,
        name: &str,
        patches: &[PathBuf],
        kind: KernelKind,
        step: impl Fn(&BuildStep),
        cancel: &CancellationToken,
    ) -> Result<Option<KernelImage>, KernelError> {
        let path = match self.find(name, !patches.is_empty())? {
            KernelName::Running => return Ok(None),
            KernelName::Image(path) => path,
            KernelName::Tree { tree, revision } => {
                let request = BuildRequest {
                    tree,
                    revision,
                    patches: patches.to_vec(),
                    kind,
                    fragments: Vec::new(),
                    base_config: None,
                    layout: Layout::Plain,
                    make_arguments: Vec::new(),
                    jobs: None,
                    program: None,
                };
                let built = build(&self.cache, &request, step, cancel).await?;
                self.cache.image(&built.name)
            }
        };
        let image = KernelImage::read(&path).await?;
        if image.kind == kind { Ok(Some(image)) } else { Err(KernelError::Kind { path, found: image.kind }) }
    }
}

fn is_archive(name: &str) -> bool {
    let endings = [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2"];
    endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(folder: &Path, tree: Option<&str>) -> KernelPlaces {
        let boot = folder.join("boot");
        std::fs::create_dir_all(&boot).unwrap();
        std::fs::write(boot.join("vmlinuz-9.9.9-inv"), "").unwrap();
        let cache = KernelCache::at(folder.join("cache"));
        std::fs::create_dir_all(cache.kernel_folder("9.9.9-rb01-uml")).unwrap();
        std::fs::write(cache.image("9.9.9-rb01-uml"), "").unwrap();
        KernelPlaces { cache, boot, tree: tree.map(PathBuf::from) }
    }

    #[test]
    fn names_are_found_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path(), Some("/src/linux"));
        let image = |path: PathBuf| KernelName::Image(path);
        let boot = folder.path().join("boot/vmlinuz-9.9.9-inv");
        let tree = |revision: &str| KernelName::Tree {
            tree: "/src/linux".into(),
            revision: Some(revision.to_owned()),
        };
        let archive = KernelName::Tree { tree: "./x.tar.xz".into(), revision: None };
        for (name, patches, expected) in [
            ("running", false, KernelName::Running),
            ("9.9.9-inv", false, image(boot.clone())),
            ("vmlinuz-9.9.9-inv", false, image(boot)),
            ("9.9.9-rb01-uml", false, image(places.cache.image("9.9.9-rb01-uml"))),
            ("/some/bzImage", false, image("/some/bzImage".into())),
            ("./x.tar.xz", true, archive),
            ("v6.7", false, tree("v6.7")),
            ("v6.7", true, tree("v6.7")),
        ] {
            assert_eq!(places.find(name, patches).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn a_tree_and_its_revision_are_one_word() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path(), None);
        let name = format!("{}@v6.7", folder.path().display());
        let found = places.find(&name, true).unwrap();
        let expected = KernelName::Tree { tree: folder.path().to_owned(), revision: Some("v6.7".to_owned()) };
        assert_eq!(found, expected);
        assert!(places.find("v6.7@x", false).is_err());
    }

    #[test]
    fn what_cannot_be_found_says_where_it_was_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path(), None);
        for (name, patches, words) in [
            ("v6.7", false, "without --kernel-tree"),
            ("running", true, "--kernel-tree"),
            ("/some/bzImage", true, "patches go onto source"),
        ] {
            let error = places.find(name, patches).unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
    }
}
