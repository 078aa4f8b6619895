//! A fake host: a folder that behaves like `/proc`, `/sys`, `/dev` and the
//! cgroup trees, for tests and for `selftest faults`. It never serves a measurement.
//!
//! All its state lies in the tree, so that two hosts are equal when their trees are.

mod block;
mod cgroups;
mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rustix::io::Errno;

use super::kernel::{CommandOutput, Facility, FileIdentity, Kernel, MountCall, RealKernel};
use super::syscall::LoopBacking;

pub use tree::{FakeLayout, FakeTree};

/// A failure to inject: the next `times` calls of `operation` on a path that
/// contains `path` fail with `errno`.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The trait's method: `write`, `remove_dir`, `swapoff`, …
    pub operation: &'static str,
    pub path: String,
    pub errno: Errno,
    pub times: u32,
}

/// The kernel of a fake host.
#[derive(Debug)]
pub struct FakeKernel {
    root: PathBuf,
    faults: Mutex<Vec<Fault>>,
    /// What each command was called with.
    commands: Mutex<Vec<String>>,
    /// Inode and device numbers that the tree cannot hold.
    loops: Mutex<BTreeMap<PathBuf, LoopBacking>>,
}

impl FakeKernel {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        FakeKernel {
            root: root.into(),
            faults: Mutex::default(),
            commands: Mutex::default(),
            loops: Mutex::default(),
        }
    }

    pub fn inject(&self, fault: Fault) {
        self.faults.lock().expect("no holder panics").push(fault);
    }

    /// The commands run so far.
    pub fn commands(&self) -> Vec<String> {
        self.commands.lock().expect("no holder panics").clone()
    }

    /// `path` as the fake host names it.
    fn name<'a>(&self, path: &'a Path) -> &'a str {
        path.strip_prefix(&self.root).unwrap_or(path).to_str().unwrap_or_default()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_default()
    }

    fn fault(&self, operation: &str, path: &Path) -> io::Result<()> {
        let mut faults = self.faults.lock().expect("no holder panics");
        let name = self.name(path);
        let hit = faults
            .iter_mut()
            .find(|fault| fault.operation == operation && fault.times > 0 && name.contains(&fault.path));
        match hit {
            Some(fault) => {
                fault.times -= 1;
                Err(fault.errno.into())
            }
            None => Ok(()),
        }
    }

    fn append_line(&self, path: &str, line: &str) -> io::Result<()> {
        fs::write(self.at(path), format!("{}{line}\n", self.text(path)))
    }

    fn remove_lines(&self, path: &str, gone: impl Fn(&str) -> bool) -> io::Result<bool> {
        let text = self.text(path);
        let kept: String = text.lines().filter(|line| !gone(line)).map(|line| format!("{line}\n")).collect();
        let changed = kept != text;
        fs::write(self.at(path), kept)?;
        Ok(changed)
    }
}

impl Kernel for FakeKernel {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.fault("read", path)?;
        if self.name(path) == "sys/class/zram-control/hot_add" {
            return self.zram_hot_add();
        }
        fs::read(path)
    }

    fn write(&self, path: &Path, value: &str) -> io::Result<()> {
        self.fault("write", path)?;
        let name = self.name(path).to_owned();
        if name == "sys/class/zram-control/hot_remove" {
            return self.zram_hot_remove(value);
        }
        if !path.is_file() {
            return Err(Errno::NOENT.into());
        }
        if name.starts_with("sys/block/zram") {
            return self.zram_write(&name, value);
        }
        if name.starts_with("sys/fs/cgroup") {
            return self.cgroup_write(path, value);
        }
        fs::write(path, format!("{}\n", chosen(&fs::read_to_string(path)?, value)?))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.fault("create_dir", path)?;
        if self.name(path).starts_with("sys/fs/cgroup") {
            return self.cgroup_create(path);
        }
        RealKernel.create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.fault("remove_dir", path)?;
        if self.name(path).starts_with("sys/fs/cgroup") {
            return self.cgroup_remove(path);
        }
        fs::remove_dir(path)
    }

    fn create_file(&self, path: &Path, size: u64) -> io::Result<()> {
        self.fault("create_file", path)?;
        RealKernel.create_file(path, size)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.fault("remove_file", path)?;
        fs::remove_file(path)
    }

    fn identity(&self, path: &Path) -> io::Result<FileIdentity> {
        RealKernel.identity(path)
    }

    fn mount(&self, call: &MountCall) -> io::Result<()> {
        self.fault("mount", &call.target)?;
        let options = if call.options.is_empty() { "rw".to_owned() } else { format!("rw,{}", call.options) };
        // A kernel that ignores the option instead of refusing it.
        let ignored = self.at("noswap-ignored").exists();
        let options = if ignored { options.replace(",noswap", "") } else { options };
        let source = self.name(Path::new(&call.source));
        let source = if call.source.starts_with('/') { format!("/{source}") } else { source.to_owned() };
        let target = self.name(&call.target);
        let line = format!("99 1 0:99 / /{target} rw,nosuid - {} {source} {options}", call.filesystem);
        self.append_line("proc/self/mountinfo", &line)
    }

    fn unmount(&self, target: &Path) -> io::Result<()> {
        self.fault("unmount", target)?;
        let mark = format!(" /{} ", self.name(target));
        if !self.remove_lines("proc/self/mountinfo", |line| line.contains(&mark))? {
            return Err(Errno::INVAL.into());
        }
        // What was in the mount is gone with it.
        for entry in fs::read_dir(target)? {
            fs::remove_file(entry?.path())?;
        }
        Ok(())
    }

    fn swapon(&self, device: &Path, priority: u16) -> io::Result<()> {
        self.fault("swapon", device)?;
        let name = self.name(device);
        if fs::read(device)? != b"SWAPSPACE2" {
            return Err(Errno::INVAL.into());
        }
        let kib = self.device_size(name) / 1024 - 4;
        self.append_line("proc/swaps", &format!("/{name} partition {kib} 0 {priority}"))
    }

    fn swapoff(&self, device: &Path) -> io::Result<()> {
        self.fault("swapoff", device)?;
        let mark = format!("/{} ", self.name(device));
        let found = self.remove_lines("proc/swaps", |line| line.starts_with(&mark))?;
        if found { Ok(()) } else { Err(Errno::INVAL.into()) }
    }

    fn loop_backing(&self, device: &Path) -> io::Result<Option<LoopBacking>> {
        Ok(self.loops.lock().expect("no holder panics").get(device).copied())
    }

    fn zero_start(&self, device: &Path, _length: usize) -> io::Result<()> {
        fs::write(device, "")
    }

    fn read_start(&self, device: &Path, _length: usize) -> io::Result<Vec<u8>> {
        fs::read(device)
    }

    fn command(&self, argv: &[String], _deadline: Duration) -> io::Result<CommandOutput> {
        self.commands.lock().expect("no holder panics").push(argv.join(" "));
        self.fault("command", Path::new(&argv[0]))?;
        self.block_command(argv)
    }

    fn try_facility(&self, facility: Facility) -> io::Result<()> {
        self.fault("try_facility", Path::new(&format!("{facility:?}")))
    }

    fn kill(&self, pid: u32, proof: &dyn Fn() -> bool) -> io::Result<()> {
        if proof() { self.end_process(pid) } else { Ok(()) }
    }

    fn sleep(&self, _time: Duration) {}
}

/// A list such as `always [madvise] never` takes one of its words; any other
/// file takes the value.
fn chosen(current: &str, value: &str) -> io::Result<String> {
    if !current.contains('[') {
        return Ok(value.to_owned());
    }
    let words: Vec<String> = current.split_whitespace().map(|w| w.replace(['[', ']'], "")).collect();
    if !words.iter().any(|word| word == value) {
        return Err(Errno::INVAL.into());
    }
    let mark = |word: &String| if word == value { format!("[{word}]") } else { word.clone() };
    Ok(words.iter().map(mark).collect::<Vec<_>>().join(" "))
}
