//! Patches laid over a working copy: only files whose content changes are
//! written, so that a build sees nothing else as new.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::apply::Files;
use super::error::KernelError;
use crate::store::{read_json, write_json};

/// A working copy and what is laid over it. The state is on disk before a file
/// is touched, so that a killed build leaves a copy that can be restored.
#[derive(Debug)]
pub(super) struct WorkingCopy {
    folder: PathBuf,
    /// Beside the folder: what is in it, and the original files.
    state: PathBuf,
    originals: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    schema: u32,
    /// What was checked out; none while that is under way.
    source: Option<String>,
    /// Files that patches changed or made, and whether the tree itself has them.
    changed: BTreeMap<String, bool>,
}

impl WorkingCopy {
    pub(super) fn at(folder: PathBuf) -> Self {
        let (state, originals) = (folder.with_extension("json"), folder.with_extension("originals"));
        WorkingCopy { folder, state, originals }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn state(&self) -> State {
        // A state that cannot be read is as good as none: all is checked out again.
        let state = read_json(&self.state, "state of a working copy").unwrap_or_default();
        if self.folder.is_dir() { state } else { State::default() }
    }

    fn save(&self, state: &State) -> Result<(), KernelError> {
        Ok(write_json(&self.state, state)?)
    }

    /// What is checked out, where that is certain.
    pub(super) fn source(&self) -> Option<String> {
        self.state().source
    }

    /// Notes that the folder is about to be changed as a whole; patches are taken off first.
    pub(super) fn begin_check_out(&self) -> Result<(), KernelError> {
        self.lay(&Files::new())?;
        self.save(&State { schema: crate::store::SCHEMA, ..State::default() })
    }

    pub(super) fn end_check_out(&self, source: &str) -> Result<(), KernelError> {
        let source = Some(source.to_owned());
        self.save(&State { schema: crate::store::SCHEMA, source, ..State::default() })
    }

    /// The files of the tree without patches.
    pub(super) fn pristine<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<Files, KernelError> {
        let state = self.state();
        let mut files = Files::new();
        for path in paths {
            let content = match state.changed.get(path) {
                Some(false) => None,
                Some(true) => read(&self.originals.join(path))?,
                None => read(&self.folder.join(path))?,
            };
            files.insert(path.to_owned(), content);
        }
        Ok(files)
    }

    /// Makes the copy the tree with exactly these files changed.
    pub(super) fn lay(&self, files: &Files) -> Result<(), KernelError> {
        let mut state = self.state();
        let all: BTreeSet<String> = state.changed.keys().chain(files.keys()).cloned().collect();
        let pristine = self.pristine(all.iter().map(String::as_str))?;
        for (path, original) in &pristine {
            if !state.changed.contains_key(path) {
                if let Some(bytes) = original {
                    write(&self.originals.join(path), bytes)?;
                }
                state.changed.insert(path.clone(), original.is_some());
            }
        }
        if state.changed.is_empty() {
            return Ok(());
        }
        self.save(&state)?;
        for (path, original) in &pristine {
            let wanted = files.get(path).unwrap_or(original);
            let at = self.folder.join(path);
            if read(&at)? == *wanted {
                continue;
            }
            match wanted {
                Some(bytes) => write(&at, bytes)?,
                None => std::fs::remove_file(&at).map_err(KernelError::io("remove", &at))?,
            }
        }
        state.changed.retain(|path, _| files.contains_key(path));
        self.save(&state)
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, KernelError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(e) => Err(KernelError::io("read", path)(e)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), KernelError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(KernelError::io("create", folder))?;
    }
    std::fs::write(path, bytes).map_err(KernelError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(folder: &Path) -> WorkingCopy {
        let copy = WorkingCopy::at(folder.join("tree"));
        copy.begin_check_out().unwrap();
        std::fs::create_dir_all(folder.join("tree/mm")).unwrap();
        std::fs::write(folder.join("tree/mm/a.c"), "a").unwrap();
        std::fs::write(folder.join("tree/mm/b.c"), "b").unwrap();
        copy.end_check_out("source-1").unwrap();
        copy
    }

    fn overlay(files: &[(&str, Option<&str>)]) -> Files {
        files.iter().map(|(p, c)| ((*p).to_owned(), c.map(|c| c.as_bytes().to_vec()))).collect()
    }

    fn content(copy: &WorkingCopy, path: &str) -> Option<String> {
        read(&copy.folder().join(path)).unwrap().map(|b| String::from_utf8(b).unwrap())
    }

    #[test]
    fn one_overlay_replaces_another_and_none_restores_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path());
        copy.lay(&overlay(&[("mm/a.c", Some("A")), ("mm/new.c", Some("n"))])).unwrap();
        copy.lay(&overlay(&[("mm/a.c", Some("AA")), ("mm/b.c", None)])).unwrap();
        assert_eq!(content(&copy, "mm/a.c").as_deref(), Some("AA"));
        assert_eq!((content(&copy, "mm/b.c"), content(&copy, "mm/new.c")), (None, None));
        let pristine = copy.pristine(["mm/a.c", "mm/b.c", "mm/new.c"]).unwrap();
        assert_eq!(pristine, overlay(&[("mm/a.c", Some("a")), ("mm/b.c", Some("b")), ("mm/new.c", None)]));
        copy.lay(&Files::new()).unwrap();
        assert_eq!(
            (content(&copy, "mm/a.c").as_deref(), content(&copy, "mm/b.c").as_deref()),
            (Some("a"), Some("b"))
        );
    }

    #[test]
    fn files_that_stay_the_same_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path());
        let files = overlay(&[("mm/a.c", Some("A"))]);
        copy.lay(&files).unwrap();
        let time = |path: &str| std::fs::metadata(copy.folder().join(path)).unwrap().modified().unwrap();
        let before = (time("mm/a.c"), time("mm/b.c"));
        std::thread::sleep(std::time::Duration::from_millis(20));
        copy.lay(&overlay(&[("mm/a.c", Some("A")), ("mm/b.c", Some("b"))])).unwrap();
        assert_eq!((time("mm/a.c"), time("mm/b.c")), before);
    }

    #[test]
    fn a_state_that_is_damaged_is_no_state() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path());
        assert_eq!(copy.source().as_deref(), Some("source-1"));
        std::fs::write(folder.path().join("tree.json"), "{torn").unwrap();
        assert_eq!(copy.source(), None);
    }
}
