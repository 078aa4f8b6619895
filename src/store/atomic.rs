//! Files that are whole or absent: stage beside the target, sync, rename.

use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use crate::host::DiskRoom;
use crate::input;

/// Writes `bytes` to `path` so that a crash leaves the old file or the new one.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_on(&DiskRoom::default(), path, bytes)
}

/// As [`write_atomically`], on a disk with so much room.
fn write_on(disk: &DiskRoom, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    // A bare name has the empty path for its parent.
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut staged =
        tempfile::NamedTempFile::new_in(folder).map_err(StoreError::io("stage a file in", folder))?;
    disk.take().and_then(|()| staged.write_all(bytes)).map_err(StoreError::io("write", path))?;
    staged.as_file().sync_all().map_err(StoreError::io("sync", path))?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    staged.as_file().set_permissions(mode).map_err(StoreError::io("set the mode of", path))?;
    staged.persist(path).map_err(|e| StoreError::io("rename to", path)(e.error))?;
    sync_folder(folder)
}

/// Makes a rename or a new file in `folder` durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let opened = File::open(folder).map_err(StoreError::io("open", folder))?;
    opened.sync_all().map_err(StoreError::io("sync", folder))
}

/// Writes a value as indented JSON with a final newline.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    write_json_on(&DiskRoom::default(), path, value)
}

/// As [`write_json`], on a disk with so much room.
pub(super) fn write_json_on<T: Serialize>(disk: &DiskRoom, path: &Path, value: &T) -> Result<(), StoreError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|source| StoreError::Json {
        what: "value to store",
        path: path.to_owned(),
        source,
    })?;
    bytes.push(b'\n');
    write_on(disk, path, &bytes)
}

/// Reads a JSON file that carries a `schema` of at most [`super::SCHEMA`].
pub fn read_json<T: DeserializeOwned>(path: &Path, what: &'static str) -> Result<T, StoreError> {
    let bytes = input::read(path, input::RECORD).map_err(StoreError::io("read", path))?;
    parse_json(path, &bytes, what)
}

/// The same from bytes; `path` is for messages only.
pub fn parse_json<T: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
    what: &'static str,
) -> Result<T, StoreError> {
    check_schema(path, bytes)?;
    serde_json::from_slice(bytes).map_err(|source| StoreError::Json { what, path: path.to_owned(), source })
}

#[derive(serde::Deserialize)]
struct SchemaOnly {
    schema: Option<u32>,
}

/// Names a newer schema before its unknown fields become a parse error.
pub(super) fn check_schema(path: &Path, json: &[u8]) -> Result<(), StoreError> {
    match serde_json::from_slice::<SchemaOnly>(json) {
        Ok(SchemaOnly { schema: Some(found) }) if found > super::SCHEMA => {
            Err(StoreError::NewerSchema { path: path.to_owned(), found, known: super::SCHEMA })
        }
        _ => Ok(()),
    }
}

/// Creates a folder (and its parents) that only this user can enter.
pub fn create_private_folder(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(StoreError::io("create", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_schema_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record.json");
        write_atomically(&path, br#"{"schema": 99, "surprise": true}"#).expect("written");
        let error = read_json::<SchemaOnly>(&path, "record").map(|_| ()).expect_err("newer");
        assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error}");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        write_atomically(&path, b"old").expect("written");
        let missing = folder.path().join("absent/x.json");
        assert!(write_atomically(&missing, b"new").is_err());
        assert_eq!(std::fs::read(&path).expect("there"), b"old");
        let leftovers = std::fs::read_dir(folder.path()).expect("listing").count();
        assert_eq!(leftovers, 1, "no staged file stays behind");
    }
}
