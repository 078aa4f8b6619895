//! The external tools: where they are and which version they say they are.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::Command;
use super::ExecError;
use super::run;

/// Folders to search before `PATH`, joined by colons.
pub const FOLDERS_VARIABLE: &str = "RUN_BENCH_TOOLS";

/// A tool that some workload can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolName {
    Memcached,
    Memtier,
    Fio,
    Netperf,
    Netserver,
    WillItScale,
    Perf,
}

impl ToolName {
    pub const ALL: [ToolName; 7] = [
        ToolName::Memcached,
        ToolName::Memtier,
        ToolName::Fio,
        ToolName::Netperf,
        ToolName::Netserver,
        ToolName::WillItScale,
        ToolName::Perf,
    ];

    /// The file to look for. will-it-scale has one program per test; this is one of them.
    pub fn program(self) -> &'static str {
        match self {
            ToolName::Memcached => "memcached",
            ToolName::Memtier => "memtier_benchmark",
            ToolName::Fio => "fio",
            ToolName::Netperf => "netperf",
            ToolName::Netserver => "netserver",
            ToolName::WillItScale => "pread2_processes",
            ToolName::Perf => "perf",
        }
    }

    /// How to ask for the version; will-it-scale cannot be asked.
    /// Where the tool comes from.
    pub fn remedy(self) -> &'static str {
        match self {
            ToolName::Memcached => "install the package memcached",
            ToolName::Memtier => "build memtier_benchmark (no Debian suite has it)",
            ToolName::Fio => "install the package fio",
            ToolName::Netperf | ToolName::Netserver => {
                "install the package netperf (Debian: component non-free)"
            }
            ToolName::WillItScale => "build will-it-scale",
            ToolName::Perf => "install the package linux-perf (Ubuntu: linux-tools-generic)",
        }
    }

    fn version_argument(self) -> Option<&'static str> {
        match self {
            ToolName::Netperf | ToolName::Netserver => Some("-V"),
            ToolName::WillItScale => None,
            ToolName::Memcached | ToolName::Memtier | ToolName::Fio | ToolName::Perf => Some("--version"),
        }
    }

    /// The word before the version in the tool's answer.
    fn version_mark(self) -> &'static str {
        match self {
            ToolName::Memcached => "memcached ",
            ToolName::Memtier => "memtier_benchmark ",
            ToolName::Fio => "fio-",
            ToolName::Netperf | ToolName::Netserver => "ersion ",
            ToolName::Perf => "perf version ",
            ToolName::WillItScale => "",
        }
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.program())
    }
}

/// A version as the tool prints it, and its leading numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolVersion {
    /// The whole line, with commit and libraries where it names them.
    pub line: String,
    /// The version's text, such as `3.33` or `1.6.18`.
    pub text: String,
    pub numbers: Vec<u32>,
}

impl ToolVersion {
    /// Reads the version from what the tool printed.
    pub fn parse(tool: ToolName, printed: &str) -> Option<Self> {
        let mark = tool.version_mark();
        let line = printed.lines().find(|line| line.contains(mark))?.trim();
        let (_, rest) = line.split_once(mark)?;
        let word = rest.split_whitespace().next()?.trim_start_matches(['v', '=']);
        let leading: String = word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let numbers: Option<Vec<u32>> =
            leading.trim_end_matches('.').split('.').map(|n| n.parse().ok()).collect();
        Some(ToolVersion { line: line.to_owned(), text: word.to_owned(), numbers: numbers? })
    }
}

/// A tool that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub name: ToolName,
    pub path: PathBuf,
    /// None for a tool that cannot tell.
    pub version: Option<ToolVersion>,
}

/// Where tools are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    folders: Vec<PathBuf>,
}

impl Tools {
    /// The folders of `RUN_BENCH_TOOLS`, then those of `PATH`.
    pub fn from_environment() -> Self {
        let listed = [FOLDERS_VARIABLE, "PATH"].into_iter().filter_map(std::env::var_os);
        Tools::in_folders(listed.flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>()))
    }

    /// Only these folders, the first one first.
    pub fn in_folders(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        // An empty or relative folder would depend on where the program was started.
        Tools { folders: folders.into_iter().filter(|folder| folder.is_absolute()).collect() }
    }

    /// The path of an executable file of that name.
    pub fn find_program(&self, program: impl AsRef<OsStr>) -> Option<PathBuf> {
        let program = Path::new(program.as_ref());
        self.folders.iter().map(|folder| folder.join(program)).find(|path| is_executable(path))
    }

    /// The path of the tool.
    pub fn find(&self, tool: ToolName) -> Result<PathBuf, ExecError> {
        self.find_program(tool.program()).ok_or_else(|| {
            let places: Vec<String> = self.folders.iter().map(|f| f.display().to_string()).collect();
            ExecError::ToolMissing { tool: tool.program(), places: places.join(":"), remedy: tool.remedy() }
        })
    }

    /// The path of the tool and the version it prints.
    pub async fn probe(&self, name: ToolName) -> Result<Tool, ExecError> {
        let path = self.find(name)?;
        let Some(argument) = name.version_argument() else {
            return Ok(Tool { name, path, version: None });
        };
        let command = Command::new(&path).arg(argument).deadline(Duration::from_secs(10));
        let output = run(&command, &CancellationToken::new()).await?;
        let printed = format!("{}\n{}", output.stdout.text(), output.stderr.text());
        let version = ToolVersion::parse(name, &printed);
        let version = version.ok_or_else(|| ExecError::ToolVersion {
            path: path.clone(),
            seen: printed.trim().chars().take(200).collect(),
        })?;
        Ok(Tool { name, path, version: Some(version) })
    }

    /// Every tool, found or not and why.
    pub async fn probe_all(&self) -> BTreeMap<ToolName, Result<Tool, ExecError>> {
        let mut all = BTreeMap::new();
        for name in ToolName::ALL {
            all.insert(name, self.probe(name).await);
        }
        all
    }
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_tools_print() {
        for (tool, printed, text, numbers) in [
            (ToolName::Memcached, "memcached 1.6.21\n", "1.6.21", vec![1, 6, 21]),
            (ToolName::Memtier, "memtier_benchmark 1.3.0\nCopyright (C) 2011\n", "1.3.0", vec![1, 3, 0]),
            (
                ToolName::Memtier,
                "memtier_benchmark v=2.1.4 sha=00c0ffee:0 bits=64 libevent=2.1.12-stable\n",
                "2.1.4",
                vec![2, 1, 4],
            ),
            (ToolName::Fio, "fio-3.36-17-gabc\n", "3.36-17-gabc", vec![3, 36]),
            (ToolName::Netperf, "Netperf version 2.7.1\n", "2.7.1", vec![2, 7, 1]),
            (ToolName::Netserver, "\nNetperf version 2.7.0 \n", "2.7.0", vec![2, 7, 0]),
            (ToolName::Perf, "perf version 6.8.12\n", "6.8.12", vec![6, 8, 12]),
        ] {
            let version = ToolVersion::parse(tool, printed).expect(printed);
            assert_eq!((version.text.as_str(), version.numbers), (text, numbers), "{printed}");
        }
    }

    #[test]
    fn what_is_no_version_is_none() {
        for (tool, printed) in [
            (ToolName::Memcached, ""),
            (ToolName::Memcached, "memcached unknown"),
            (ToolName::Fio, "Segmentation fault"),
            (ToolName::Perf, "WARNING: perf not found for kernel 6.1.0\n"),
        ] {
            assert_eq!(ToolVersion::parse(tool, printed), None, "{printed}");
        }
    }

    fn place(folder: &Path, name: &str, text: &str, mode: u32) {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[tokio::test]
    async fn the_first_executable_is_taken_and_asked() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        place(folders[0].path(), "fio", "not for execution", 0o644);
        place(folders[1].path(), "fio", "#!/bin/sh\necho fio-9.81\n", 0o755);
        place(folders[1].path(), "memcached", "#!/bin/sh\necho hello\n", 0o755);
        let tools = Tools::in_folders(folders.iter().map(|f| f.path().to_path_buf()));
        let fio = tools.probe(ToolName::Fio).await.unwrap();
        assert_eq!(fio.path, folders[1].path().join("fio"));
        assert_eq!(fio.version.unwrap().numbers, [9, 81]);
        let all = tools.probe_all().await;
        assert!(matches!(all[&ToolName::Memcached], Err(ExecError::ToolVersion { .. })));
        assert!(matches!(all[&ToolName::Perf], Err(ExecError::ToolMissing { .. })));
    }

    #[test]
    fn relative_folders_are_not_searched() {
        assert_eq!(Tools::in_folders(["".into(), "bin".into()]), Tools { folders: Vec::new() });
    }
}
