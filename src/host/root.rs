//! The root under which `/proc`, `/sys`, `/dev` and the cgroup mounts are
//! found. Every access of this module goes through it, so that tests can put a
//! fake tree in its place. Paths given to it are absolute, as the host has them.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::crash::CrashPoint;
use super::disk_room::DiskRoom;
use super::error::HostError;
use super::kernel::{CommandOutput, Facility, FileIdentity, Kernel, MountCall, RealKernel};
use super::syscall::LoopBacking;

/// The host, or a tree that stands for one.
#[derive(Debug, Clone)]
pub struct SysRoot {
    root: PathBuf,
    kernel: Arc<dyn Kernel>,
    crash: Arc<CrashPoint>,
    disk: DiskRoom,
}

impl SysRoot {
    /// The running host.
    pub fn host() -> Self {
        SysRoot::at("/")
    }

    /// A tree at `root`, read and written as plain files.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        SysRoot::with_kernel(root, Arc::new(RealKernel))
    }

    /// A tree at `root` that behaves as `kernel` says.
    pub fn with_kernel(root: impl Into<PathBuf>, kernel: Arc<dyn Kernel>) -> Self {
        SysRoot { root: root.into(), kernel, crash: Arc::new(CrashPoint::never()), disk: DiskRoom::default() }
    }

    /// The same tree with a crash point.
    pub fn with_crash_point(&self, crash: Arc<CrashPoint>) -> Self {
        SysRoot { crash, ..self.clone() }
    }

    /// The same tree, whose journals lie on a disk with so much room.
    pub fn on(&self, disk: DiskRoom) -> Self {
        SysRoot { disk, ..self.clone() }
    }

    pub(super) fn disk(&self) -> &DiskRoom {
        &self.disk
    }

    pub(super) fn crash(&self) -> &CrashPoint {
        &self.crash
    }

    /// Where the host's absolute `path` lies in this tree.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let mut full = self.root.clone();
        // Parent components would leave a fake tree.
        full.extend(path.as_ref().components().filter(|c| matches!(c, Component::Normal(_))));
        full
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        fs::symlink_metadata(self.path(path)).is_ok()
    }

    /// A text file; bytes that are not UTF-8 become replacement characters.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<String, HostError> {
        let path = self.path(path);
        match self.kernel.read(&path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(source) => Err(HostError::Read { path, source }),
        }
    }

    /// A text file, or `None` where it does not exist.
    pub fn read_optional(&self, path: impl AsRef<Path>) -> Result<Option<String>, HostError> {
        match self.read(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A one-value file without its line end; `None` where it cannot be read.
    pub fn value(&self, path: impl AsRef<Path>) -> Option<String> {
        self.read(path).ok().map(|text| text.trim().to_owned())
    }

    /// The names in a folder, sorted; empty where it does not exist.
    pub fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The names of the folders in a folder, sorted.
    pub fn folder_names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let folder = folder.as_ref();
        self.names(folder).into_iter().filter(|name| self.path(folder.join(name)).is_dir()).collect()
    }

    pub(super) fn write(&self, path: impl AsRef<Path>, value: &str) -> Result<(), HostError> {
        let path = self.path(path);
        self.crash.step(|| format!("write {value:?} to {}", path.display()))?;
        self.kernel.write(&path, value).map_err(|source| HostError::Write {
            path,
            value: value.to_owned(),
            source,
        })
    }

    /// A file whose reading changes the host, such as zram's `hot_add`.
    pub(super) fn read_that_changes(&self, path: &Path) -> Result<String, HostError> {
        self.crash.step(|| format!("read {}", self.path(path).display()))?;
        self.read(path)
    }

    /// Writes, then reads back; `same` compares what was written with what is read.
    pub(super) fn write_checked(
        &self,
        path: impl AsRef<Path>,
        value: &str,
        same: impl Fn(&str, &str) -> bool,
    ) -> Result<String, HostError> {
        let path = path.as_ref();
        self.write(path, value)?;
        let found = self.read(path)?.trim().to_owned();
        if same(value, &found) {
            Ok(found)
        } else {
            Err(HostError::ReadBack { path: self.path(path), wrote: value.to_owned(), found })
        }
    }

    pub(super) fn create_dir(&self, path: &Path) -> Result<(), HostError> {
        let full = self.path(path);
        self.crash.step(|| format!("mkdir {}", full.display()))?;
        self.kernel.create_dir(&full).map_err(|source| syscall("mkdir", &full, source))
    }

    pub(super) fn remove_dir(&self, path: &Path) -> Result<(), HostError> {
        let full = self.path(path);
        self.crash.step(|| format!("rmdir {}", full.display()))?;
        self.kernel.remove_dir(&full).map_err(|source| syscall("rmdir", &full, source))
    }

    pub(super) fn create_file(&self, path: &Path, size: u64) -> Result<(), HostError> {
        let full = self.path(path);
        self.crash.step(|| format!("create {}", full.display()))?;
        self.kernel.create_file(&full, size).map_err(|source| syscall("fallocate", &full, source))
    }

    pub(super) fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        let full = self.path(path);
        self.crash.step(|| format!("unlink {}", full.display()))?;
        self.kernel.remove_file(&full).map_err(|source| syscall("unlink", &full, source))
    }

    pub(super) fn identity(&self, path: &Path) -> Result<FileIdentity, HostError> {
        let full = self.path(path);
        self.kernel.identity(&full).map_err(|source| syscall("stat", &full, source))
    }

    /// `call.target` is a path of the host; its source too when it is a device.
    pub(super) fn mount(&self, call: &MountCall) -> Result<(), HostError> {
        let target = self.path(&call.target);
        self.crash.step(|| format!("mount {}", target.display()))?;
        let source = if call.source.starts_with('/') {
            self.path(&call.source).display().to_string()
        } else {
            call.source.clone()
        };
        let full = MountCall { source, target, ..call.clone() };
        self.kernel.mount(&full).map_err(|source| syscall("mount", &full.target, source))
    }

    pub(super) fn unmount(&self, target: &Path) -> Result<(), HostError> {
        let full = self.path(target);
        self.crash.step(|| format!("umount {}", full.display()))?;
        self.kernel.unmount(&full).map_err(|source| syscall("umount", &full, source))
    }

    pub(super) fn swapon(&self, device: &Path, priority: u16) -> Result<(), HostError> {
        let full = self.path(device);
        self.crash.step(|| format!("swapon {}", full.display()))?;
        self.kernel.swapon(&full, priority).map_err(|source| syscall("swapon", &full, source))
    }

    /// Swapoff may take minutes: it runs in a thread that is left behind at the deadline.
    pub(super) fn swapoff(&self, device: &Path, deadline: Duration) -> Result<(), HostError> {
        let full = self.path(device);
        self.crash.step(|| format!("swapoff {}", full.display()))?;
        let (sender, receiver) = mpsc::channel();
        let (kernel, target) = (Arc::clone(&self.kernel), full.clone());
        thread::spawn(move || sender.send(kernel.swapoff(&target)));
        match receiver.recv_timeout(deadline) {
            Ok(result) => result.map_err(|source| syscall("swapoff", &full, source)),
            Err(_) => Err(HostError::Deadline {
                what: "swapoff",
                subject: full.display().to_string(),
                seconds: deadline.as_secs(),
            }),
        }
    }

    pub(super) fn loop_backing(&self, device: &Path) -> Result<Option<LoopBacking>, HostError> {
        let full = self.path(device);
        self.kernel.loop_backing(&full).map_err(|source| syscall("LOOP_GET_STATUS64", &full, source))
    }

    pub(super) fn zero_start(&self, device: &Path, length: usize) -> Result<(), HostError> {
        let full = self.path(device);
        self.crash.step(|| format!("wipe {}", full.display()))?;
        self.kernel.zero_start(&full, length).map_err(|source| syscall("write", &full, source))
    }

    pub(super) fn read_start(&self, device: &Path, length: usize) -> Result<Vec<u8>, HostError> {
        let full = self.path(device);
        self.kernel.read_start(&full, length).map_err(|source| syscall("read", &full, source))
    }

    /// Runs a helper command that changes the host; its output, or why it failed.
    pub(super) fn command(&self, argv: &[&str], deadline: Duration) -> Result<CommandOutput, HostError> {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let command = argv.join(" ");
        self.crash.step(|| command.clone())?;
        let failed = |outcome: String| HostError::Command { command: command.clone(), outcome };
        match self.kernel.command(&argv, deadline) {
            Ok(output) if output.success => Ok(output),
            Ok(output) => Err(failed(format!("{} {}", output.stderr.trim(), output.stdout.trim()))),
            // Permission: a folder of the PATH that may not be searched, or no right to execute.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
            {
                Err(failed(format!("{error}; install the package that has {:?}", argv[0])))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    pub(super) fn kill(&self, pid: u32, proof: &dyn Fn() -> bool) -> Result<(), HostError> {
        self.crash.step(|| format!("kill {pid}"))?;
        self.kernel.kill(pid, proof).map_err(|source| HostError::Syscall {
            call: "kill",
            subject: pid.to_string(),
            source,
        })
    }

    pub(super) fn try_facility(&self, facility: Facility) -> io::Result<()> {
        self.kernel.try_facility(facility)
    }

    pub(super) fn sleep(&self, time: Duration) {
        self.kernel.sleep(time);
    }
}

fn syscall(call: &'static str, path: &Path, source: io::Error) -> HostError {
    HostError::Syscall { call, subject: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_tree_and_errors_carry_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(folder.path());
        assert_eq!(root.path("/proc/../../etc/passwd"), folder.path().join("proc/etc/passwd"));
        let error = root.read("/proc/vmstat").expect_err("absent");
        assert!(error.to_string().contains("proc/vmstat"), "{error}");
        assert_eq!(root.read_optional("/proc/vmstat").expect("absent is fine"), None);
    }

    #[test]
    fn a_value_that_does_not_stick_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("knob"), "1\n").expect("written");
        let root = SysRoot::at(folder.path());
        assert_eq!(root.write_checked("/knob", "2", |w, f| w == f).expect("sticks"), "2");
        let error = root.write_checked("/knob", "3", |_, f| f == "4").expect_err("differs");
        assert!(matches!(error, HostError::ReadBack { .. }), "{error}");
    }

    #[test]
    fn helper_commands_have_a_deadline() {
        let root = SysRoot::host();
        let error = root.command(&["sleep", "60"], Duration::from_millis(50)).expect_err("too long");
        assert!(matches!(error, HostError::Command { .. }), "{error}");
        let error =
            root.command(&["no-such-program-here"], Duration::from_secs(1)).expect_err("absent program");
        assert!(error.to_string().contains("install"), "{error}");
    }
}
