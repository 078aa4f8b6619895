//! Whose files results are: created without following links, and at the end the
//! property of the user who called through sudo.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, fstat, openat};

use super::error::StoreError;

/// Folders below a campaign are three deep; a deeper tree is not ours.
const DEEPEST: u32 = 8;

/// `O_NOFOLLOW`, for files in folders that somebody else may have filled.
pub(super) fn no_links() -> i32 {
    OFlags::NOFOLLOW.bits().cast_signed()
}

/// A new or emptied file for writing; a symbolic link is an error.
pub fn create_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).custom_flags(no_links()).mode(0o644).open(path)
}

/// Writes a whole file that [`create_file`] makes.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut create_file(path)?, bytes)
}

/// The user who called sudo, where this process is root by it.
pub fn caller() -> Option<(Uid, Gid)> {
    let number =
        |name| std::env::var(name).ok()?.parse::<u32>().ok().filter(|id| *id != 0 && *id != u32::MAX);
    let ids = (number("SUDO_UID")?, number("SUDO_GID")?);
    rustix::process::geteuid().is_root().then(|| (Uid::from_raw(ids.0), Gid::from_raw(ids.1)))
}

/// Gives a folder and all that is root's in it to `user`. Each entry is held open
/// while it is judged, so that no link put there meanwhile leads elsewhere; links
/// are left out, and so are files with a second name, which may be another's.
pub fn hand_over(folder: &Path, user: (Uid, Gid)) -> Result<(), StoreError> {
    let error = |source: rustix::io::Errno| StoreError::io("give to the caller", folder)(source.into());
    let opened = openat(CWD, folder, folder_flags(), Mode::empty()).map_err(error)?;
    hand_over_below(&opened, user, DEEPEST).and_then(|()| give(opened.as_fd(), user)).map_err(error)
}

/// Hands a campaign over when it is dropped, however its run ended; nothing without sudo.
#[derive(Debug)]
pub struct HandOver {
    folder: PathBuf,
    user: Option<(Uid, Gid)>,
}

impl HandOver {
    /// For a folder that this process writes to from now on.
    pub fn at_end(folder: &Path) -> Self {
        HandOver { folder: folder.to_owned(), user: caller() }
    }
}

impl Drop for HandOver {
    fn drop(&mut self) {
        let Some(user) = self.user else { return };
        if let Err(error) = hand_over(&self.folder, user) {
            tracing::warn!("the results stay root's: {error}; `chown -R` them if they should be yours");
        }
        // The folder around it may have been made for it, inside one of the caller's.
        if let Some(results) = self.folder.parent() {
            let _ = hand_over_made(results, user);
        }
    }
}

/// Gives a folder alone, where it stands in one of the user's.
fn hand_over_made(results: &Path, user: (Uid, Gid)) -> rustix::io::Result<()> {
    let opened = openat(CWD, results, folder_flags(), Mode::empty())?;
    let around = openat(&opened, c"..", folder_flags(), Mode::empty())?;
    if fstat(around)?.st_uid == user.0.as_raw() {
        give(opened.as_fd(), user)?;
    }
    Ok(())
}

fn folder_flags() -> OFlags {
    OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Contents before their folder: until then nobody else can reach into it.
fn hand_over_below(folder: &OwnedFd, user: (Uid, Gid), deeper: u32) -> rustix::io::Result<()> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let held = openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let found = fstat(&held)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory if deeper > 0 && found.st_dev == fstat(folder)?.st_dev => {
                let inner = openat(&held, c".", folder_flags(), Mode::empty())?;
                hand_over_below(&inner, user, deeper - 1)?;
                give(held.as_fd(), user)?;
            }
            FileType::RegularFile if found.st_nlink == 1 => give(held.as_fd(), user)?,
            _ => {}
        }
    }
    Ok(())
}

/// Only what is root's: what others own was not made by this program.
fn give(held: BorrowedFd<'_>, (user, group): (Uid, Gid)) -> rustix::io::Result<()> {
    if fstat(held)?.st_uid != 0 {
        return Ok(());
    }
    chownat(held, c"", Some(user), Some(group), AtFlags::EMPTY_PATH)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn no_link_is_followed_when_a_file_is_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "kept").expect("written");
        symlink(&victim, folder.path().join("link")).expect("linked");
        assert!(write_file(&folder.path().join("link"), b"lost").is_err());
        assert_eq!(std::fs::read(&victim).expect("there"), b"kept");
        write_file(&folder.path().join("new"), b"x").expect("written");
    }

    #[test]
    fn only_what_is_ours_is_handed_over() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let (results, outside) = (folder.path().join("results"), folder.path().join("outside"));
        std::fs::create_dir_all(results.join("trials/a/raw")).expect("made");
        std::fs::create_dir(&outside).expect("made");
        for file in [results.join("manifest.json"), results.join("trials/a/raw/x"), outside.join("secret")] {
            std::fs::write(file, "x").expect("written");
        }
        symlink(&outside, results.join("trials/linked")).expect("linked");
        symlink(outside.join("secret"), results.join("link")).expect("linked");
        std::fs::hard_link(outside.join("secret"), results.join("second")).expect("linked");
        let theirs = results.join("theirs");
        std::fs::write(&theirs, "x").expect("written");
        std::os::unix::fs::chown(&theirs, Some(4242), Some(4242)).expect("given");
        hand_over(&results, (Uid::from_raw(1234), Gid::from_raw(1235))).expect("handed over");
        let owner = |path: &Path| {
            let meta = std::fs::symlink_metadata(path).expect("there");
            (meta.uid(), meta.gid())
        };
        for ours in ["", "manifest.json", "trials", "trials/a", "trials/a/raw", "trials/a/raw/x"] {
            assert_eq!(owner(&results.join(ours)), (1234, 1235), "{ours:?}");
        }
        for other in ["link", "second", "trials/linked"] {
            assert_eq!(owner(&results.join(other)).0, 0, "{other}");
        }
        assert_eq!((owner(&outside), owner(&outside.join("secret"))), ((0, 0), (0, 0)));
        assert_eq!(owner(&theirs), (4242, 4242));
        assert!(hand_over(&results.join("trials/linked"), (Uid::from_raw(1), Gid::from_raw(1))).is_err());
    }
}
