//! A working copy of a kernel tree, kept in the cache. The user's tree is only
//! ever read.
//!
//! All revisions of a repository share one working copy, and all patches are
//! laid over it file by file, so that a build after another compiles only what
//! differs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::error::KernelError;
use crate::exec;
use crate::exec::{Command, Output};
use crate::units::{Bytes, hex};

/// Where a kernel's source comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// A tar archive of a tree, packed or not.
    Archive(PathBuf),
    /// A git repository, and which revision; without one, what is checked out
    /// together with changes that are not committed.
    Git { folder: PathBuf, revision: Option<String> },
    /// A folder without git.
    Folder(PathBuf),
}

/// A tree whose exact content is known.
#[derive(Debug, Clone)]
pub struct Source {
    tree: Tree,
    /// Name of the working copy in the cache.
    pub(super) name: String,
    /// Hash of the content.
    pub(super) identity: String,
    /// Commit and uncommitted changes, for git.
    commit: Option<String>,
    pub(super) uncommitted: Option<String>,
}

const QUICK: Duration = Duration::from_secs(120);
const SLOW: Duration = Duration::from_secs(1800);

/// Short and stable: enough to tell trees of one cache apart.
fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

fn hash_text(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hash_file(path: &Path) -> Result<String, KernelError> {
    let mut file = File::open(path).map_err(KernelError::io("open", path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(KernelError::io("read", path))? {
            0 => return Ok(hex(&hasher.finalize())),
            length => hasher.update(&buffer[..length]),
        }
    }
}

/// Runs a program that has to succeed.
async fn run(command: Command, doing: &str, cancel: &CancellationToken) -> Result<Output, KernelError> {
    let output = exec::run(&command, cancel).await?;
    if output.ended.success() {
        return Ok(output);
    }
    let said = output.stderr.text();
    let said = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing").to_owned();
    Err(KernelError::Tool { doing: doing.to_owned(), program: command.program(), ended: output.ended, said })
}

fn git(folder: &Path) -> Command {
    // Optional locks would write to the user's repository.
    Command::new("git").arg("--no-optional-locks").arg("-C").arg(folder).deadline(QUICK)
}

async fn git_line(
    folder: &Path,
    arguments: &[&str],
    cancel: &CancellationToken,
) -> Result<String, KernelError> {
    let doing = format!("read the repository {}", folder.display());
    let output = run(git(folder).args(arguments.iter().copied()), &doing, cancel).await?;
    Ok(output.stdout.text().trim().to_owned())
}

impl Tree {
    /// What `path` is; `revision` only goes with git.
    pub fn at(path: &Path, revision: Option<String>) -> Result<Self, KernelError> {
        let path = std::fs::canonicalize(path).map_err(KernelError::io("find the kernel tree", path))?;
        let refuse = |what| Err(KernelError::Tree { path: path.clone(), what });
        if path.is_file() {
            return if revision.is_some() {
                refuse("is an archive, which has no revisions; leave --rev out")
            } else {
                Ok(Tree::Archive(path))
            };
        }
        if !path.join("Kbuild").exists() || !path.join("mm").is_dir() {
            // A bare repository has neither and is as good with a revision.
            if !path.join("objects").is_dir() {
                return refuse("is no kernel tree: it has no Kbuild file and no mm folder");
            }
        }
        if path.join(".git").exists() || path.join("objects").is_dir() {
            return Ok(Tree::Git { folder: path, revision });
        }
        if revision.is_some() {
            refuse("has no git, so no revisions; leave --rev out")
        } else {
            Ok(Tree::Folder(path))
        }
    }

    /// Finds out what exactly the tree holds.
    pub async fn identify(self, cancel: &CancellationToken) -> Result<Source, KernelError> {
        match &self {
            Tree::Archive(path) => {
                let identity = hash_file(path)?;
                let name = format!("archive-{}", short(&identity));
                Ok(Source { name, identity, commit: None, uncommitted: None, tree: self })
            }
            Tree::Git { folder, revision } => {
                let wanted = revision.as_deref().unwrap_or("HEAD");
                let commit = format!("{wanted}^{{commit}}");
                let commit = git_line(folder, &["rev-parse", "--verify", "--quiet", &commit], cancel).await;
                let commit = commit.map_err(|_| KernelError::Revision {
                    revision: wanted.to_owned(),
                    folder: folder.clone(),
                })?;
                let content = git_line(folder, &["rev-parse", &format!("{commit}^{{tree}}")], cancel).await?;
                let uncommitted = match revision {
                    Some(_) => None,
                    None => Some(uncommitted(folder, cancel).await?).filter(|d| !d.is_empty()),
                };
                let identity =
                    hash_text(&format!("{content}\n{}", uncommitted.as_deref().unwrap_or_default()));
                let name = format!("git-{}", short(&hash_text(&folder.to_string_lossy())));
                Ok(Source { name, identity, commit: Some(commit), uncommitted, tree: self })
            }
            Tree::Folder(path) => {
                let mut listing = Vec::new();
                list(path, Path::new(""), &mut listing)?;
                listing.sort();
                let identity = hash_text(&listing.join("\n"));
                let name = format!("folder-{}", short(&hash_text(&path.to_string_lossy())));
                Ok(Source { name, identity, commit: None, uncommitted: None, tree: self })
            }
        }
    }
}

/// Changes of tracked files that are not committed, as a diff.
async fn uncommitted(folder: &Path, cancel: &CancellationToken) -> Result<String, KernelError> {
    let command = git(folder).args([
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "HEAD",
    ]);
    let command = Command { output_limit: Bytes::mib(64), ..command };
    let output = run(command, "read uncommitted changes", cancel).await?;
    Ok(output.stdout.text())
}

/// Name, size and time of every file: changes when any of them was written.
fn list(root: &Path, below: &Path, lines: &mut Vec<String>) -> Result<(), KernelError> {
    use std::os::unix::fs::MetadataExt;
    let folder = root.join(below);
    for entry in std::fs::read_dir(&folder).map_err(KernelError::io("list", &folder))? {
        let entry = entry.map_err(KernelError::io("list", &folder))?;
        let below = below.join(entry.file_name());
        let meta = entry.metadata().map_err(KernelError::io("look at", &below))?;
        if meta.is_dir() {
            list(root, &below, lines)?;
        } else {
            lines.push(format!("{} {} {}.{}", below.display(), meta.len(), meta.mtime(), meta.mtime_nsec()));
        }
    }
    Ok(())
}

impl Source {
    /// Brings the working copy `to` to this source's content, before patches.
    /// `present` is the identity that it has now.
    pub(super) async fn check_out(
        &self,
        to: &Path,
        present: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<(), KernelError> {
        let marker = self.commit.as_deref().unwrap_or(&self.identity);
        if present == Some(marker) {
            return Ok(());
        }
        let doing = format!("copy the kernel tree to {}", to.display());
        match &self.tree {
            Tree::Archive(path) => {
                empty(to)?;
                let tar = Command::new("tar")
                    .arg("-x")
                    .arg("--strip-components=1")
                    .arg("-C")
                    .arg(to)
                    .arg("-f")
                    .arg(path);
                run(tar.deadline(SLOW), &doing, cancel).await?;
            }
            Tree::Folder(path) => {
                empty(to)?;
                let from = path.join(".");
                let copy = Command::new("cp")
                    .args(["-R", "--preserve=mode,links", "--reflink=auto"])
                    .arg(from)
                    .arg(to);
                run(copy.deadline(SLOW), &doing, cancel).await?;
                // A tree that was built in place cannot be built beside itself.
                for leftover in [".config", "include/config", "include/generated"] {
                    let path = to.join(leftover);
                    let _ = if path.is_dir() {
                        std::fs::remove_dir_all(&path)
                    } else {
                        std::fs::remove_file(&path)
                    };
                }
            }
            Tree::Git { folder, .. } => {
                if present.is_none() {
                    empty(to)?;
                }
                let index = to.with_extension("index");
                let command = |words: &[&str]| {
                    let mut command =
                        git(folder).arg("--work-tree").arg(to).args(words.iter().copied()).deadline(SLOW);
                    command.environment.push(("GIT_INDEX_FILE".into(), index.clone().into()));
                    command
                };
                if present.is_none() {
                    let _ = std::fs::remove_file(&index);
                }
                // With an index of our own, only files that differ between the two revisions are written.
                run(command(&["read-tree", "--reset", "-u", marker]), &doing, cancel).await?;
            }
        }
        Ok(())
    }

    /// What [`Source::check_out`] compares with the next time.
    pub(super) fn marker(&self) -> &str {
        self.commit.as_deref().unwrap_or(&self.identity)
    }

    /// Commit of a git tree.
    pub fn commit(&self) -> Option<&str> {
        self.commit.as_deref()
    }
}

fn empty(folder: &Path) -> Result<(), KernelError> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(KernelError::io("empty", folder))?;
    }
    std::fs::create_dir_all(folder).map_err(KernelError::io("create", folder))
}
