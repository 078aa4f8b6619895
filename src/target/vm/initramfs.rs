//! An initramfs made of this host's own programs and the libraries they need.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::exec;
use crate::exec::{Command, Tools};
use crate::target::cpio;
use crate::target::cpio::{Entry, Node};
use crate::target::error::TargetError;
use crate::target::kernel::elf_interpreter;

/// Files of this host that programs look things up in.
const LOOKED_UP: [&str; 5] =
    ["/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/protocols"];

/// Collects files at the paths that they have on this host.
#[derive(Debug, Default)]
pub(super) struct Initramfs {
    /// By path without a leading slash.
    files: BTreeMap<String, (u32, Node)>,
}

/// A path as the archive has it: without `.`, `..` and the leading slash.
fn archive_name(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => {
                parts.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

impl Initramfs {
    /// One with the devices and the files that any program may need.
    pub(super) fn new() -> Self {
        let mut initramfs = Initramfs::default();
        initramfs.files.insert("dev/console".to_owned(), (0o600, Node::Device { major: 5, minor: 1 }));
        initramfs.files.insert("dev/null".to_owned(), (0o666, Node::Device { major: 1, minor: 3 }));
        for path in LOOKED_UP {
            if let Ok(bytes) = std::fs::read(path) {
                initramfs.file(Path::new(path), 0o644, bytes);
            }
        }
        initramfs
    }

    pub(super) fn file(&mut self, path: &Path, mode: u32, bytes: Vec<u8>) {
        if let Some(name) = archive_name(path) {
            self.files.insert(name, (mode, Node::File(bytes)));
        }
    }

    /// A program under `to`, with its loader, libraries and, for a script, its interpreter.
    pub(super) async fn program(&mut self, from: &Path, to: &Path) -> Result<(), TargetError> {
        let mut pending = vec![(from.to_owned(), to.to_owned())];
        while let Some((from, to)) = pending.pop() {
            let bytes = std::fs::read(&from).map_err(TargetError::io("read", &from))?;
            let mode = std::fs::metadata(&from).map_or(0o755, |m| m.permissions().mode() & 0o7777);
            if let Some(interpreter) = script_interpreter(&bytes) {
                pending.push((interpreter.clone(), interpreter));
            } else if let Some(loader) = elf_interpreter(&bytes) {
                for library in libraries(Path::new(&loader), &from).await? {
                    self.plain(&library)?;
                }
                self.plain(Path::new(&loader))?;
            }
            self.file(&to, mode, bytes);
        }
        Ok(())
    }

    fn plain(&mut self, path: &Path) -> Result<(), TargetError> {
        if archive_name(path).is_some_and(|name| self.files.contains_key(&name)) {
            return Ok(());
        }
        let bytes = std::fs::read(path).map_err(TargetError::io("read", path))?;
        self.file(path, 0o755, bytes);
        Ok(())
    }

    /// The programs of these names that this host has; the others are left out.
    pub(super) async fn tools(&mut self, names: &[&str]) -> Result<(), TargetError> {
        let places = Tools::from_environment();
        let system = Tools::in_folders(["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from));
        for name in names {
            if let Some(path) = places.find_program(name).or_else(|| system.find_program(name)) {
                self.program(&path, &path).await?;
            }
        }
        Ok(())
    }

    /// The archive, every folder before what is in it.
    pub(super) fn pack(self) -> Vec<u8> {
        let mut all: BTreeMap<String, (u32, Node)> = BTreeMap::new();
        for name in self.files.keys() {
            for (at, _) in name.match_indices('/') {
                all.insert(name[..at].to_owned(), (0o755, Node::Folder));
            }
        }
        all.extend(self.files);
        let mut writer = cpio::Writer::default();
        for (name, (mode, node)) in all {
            writer.push(&Entry { name, mode, node });
        }
        writer.finish()
    }
}

/// The program after `#!`.
fn script_interpreter(bytes: &[u8]) -> Option<PathBuf> {
    let line = bytes.strip_prefix(b"#!")?.split(|b| *b == b'\n').next()?;
    let word = std::str::from_utf8(line).ok()?.split_whitespace().next()?;
    Some(PathBuf::from(word))
}

/// What the loader says it would load. It runs no code of the program.
async fn libraries(loader: &Path, program: &Path) -> Result<Vec<PathBuf>, TargetError> {
    let command = Command::new(loader).arg("--list").arg(program).deadline(Duration::from_secs(20));
    let output = exec::run(&command, &CancellationToken::new()).await?;
    if !output.ended.success() {
        let said = output.stderr.text();
        let said = said.lines().next().unwrap_or("it said nothing").to_owned();
        return Err(TargetError::Libraries { program: program.to_owned(), said });
    }
    parse_libraries(&output.stdout.text()).map_err(|library| TargetError::Libraries {
        program: program.to_owned(),
        said: format!("{library} is not found"),
    })
}

/// Lines such as `libc.so.6 => /lib/libc.so.6 (0x…)`; an error is a library that is missing.
fn parse_libraries(text: &str) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for line in text.lines().map(str::trim) {
        let (name, rest) = line.split_once(" => ").unwrap_or((line, line));
        let path = rest.split(" (").next().unwrap_or(rest).trim();
        if path == "not found" {
            return Err(name.to_owned());
        }
        if path.starts_with('/') {
            paths.push(PathBuf::from(path));
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_answer_is_read() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x00007f)\n\t/lib64/ld.so.2 (0x0)\n";
        assert_eq!(
            parse_libraries(text).unwrap(),
            [PathBuf::from("/lib/x/libc.so.6"), "/lib64/ld.so.2".into()]
        );
        assert_eq!(parse_libraries("\tlibx.so => not found\n").unwrap_err(), "libx.so");
        assert!(parse_libraries("\tstatically linked\n").unwrap().is_empty());
    }

    #[test]
    fn folders_come_before_files_and_paths_are_plain() {
        let mut initramfs = Initramfs::default();
        initramfs.file(Path::new("/a/b/../c/file"), 0o644, b"x".to_vec());
        initramfs.file(Path::new("/init"), 0o755, b"y".to_vec());
        let names: Vec<String> = cpio::read(&initramfs.pack()).unwrap().into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["a", "a/c", "a/c/file", "init"]);
    }

    #[tokio::test]
    async fn a_script_brings_its_interpreter_and_that_its_libraries() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("tool");
        std::fs::write(&script, "#!/bin/sh -e\n").unwrap();
        let mut initramfs = Initramfs::default();
        initramfs.program(&script, Path::new("/usr/bin/tool")).await.unwrap();
        let names: Vec<&String> = initramfs.files.keys().collect();
        assert!(names.iter().any(|n| n.as_str() == "bin/sh"), "{names:?}");
        assert!(names.iter().any(|n| n.contains("libc.so")), "{names:?}");
    }
}
