//! The file system that a folder lies on, by its magic number.

use std::path::Path;
use std::path::PathBuf;

use tempfile::TempDir;

use super::Context;
use super::WorkloadError;

const TMPFS: &str = "tmpfs";
/// Magic numbers of <linux/magic.h> that load generators meet.
const NAMES: [(i64, &str); 8] = [
    (0xEF53, "ext4"),
    (0x0102_1994, TMPFS),
    (0x5846_5342, "xfs"),
    (0x9123_683E, "btrfs"),
    (0x794C_7630, "overlay"),
    (0x00C0_FFEE, "hostfs"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
];

/// The kernel's name, the magic number of an unknown one, or why it cannot be told.
pub(super) fn name(folder: &Path) -> String {
    match rustix::fs::statfs(folder) {
        Ok(found) => {
            let magic = found.f_type & 0xffff_ffff;
            let known = NAMES.iter().find(|(number, _)| *number == magic);
            known.map_or_else(|| format!("{magic:#x}"), |(_, name)| (*name).to_owned())
        }
        Err(error) => format!("unknown: {error}"),
    }
}

/// A folder for files that must lie in the page cache and not in swap-backed memory.
#[derive(Debug)]
pub(super) struct FileFolder {
    path: PathBuf,
    /// Removed with what is in it, where it was made for this run.
    _made: Option<TempDir>,
}

impl FileFolder {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// The file system under test, else the scratch folder, else a folder among the raw
/// output: the first that is not a tmpfs, whose pages are reclaimed as anonymous ones.
pub(super) fn for_files(ctx: &Context<'_>) -> Result<FileFolder, WorkloadError> {
    let usable = |path: &Path| name(path) != TMPFS;
    if let Some(path) = ctx.data.into_iter().chain([ctx.scratch]).find(|path| usable(path)) {
        return Ok(FileFolder { path: path.to_owned(), _made: None });
    }
    if usable(ctx.raw) {
        let made = tempfile::tempdir_in(ctx.raw).map_err(|source| WorkloadError::Io {
            what: "make a folder in",
            path: ctx.raw.to_owned(),
            source,
        })?;
        return Ok(FileFolder { path: made.path().to_owned(), _made: Some(made) });
    }
    Err(WorkloadError::Refused(format!(
        "{:?} and {:?} lie on a tmpfs, whose pages are swapped and not dropped, so nothing would be measured of file \
         pages; set TMPDIR to a folder on a disk",
        ctx.scratch, ctx.raw
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_or_numbers() {
        assert!(name(Path::new("/nowhere/at/all")).starts_with("unknown: "));
        // procfs is none that loads run on.
        assert_eq!(name(Path::new("/proc")), "0x9fa0");
    }
}
