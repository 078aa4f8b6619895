//! The files of a fake host, and its snapshot for comparing before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::journal::Owner;
use super::super::root::SysRoot;
use super::FakeKernel;

const BOOT_ID: &str = "5b1f3c2e-0000-4000-8000-00000000aaaa";

/// Where a fake host has its memory controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FakeLayout {
    V1,
    V2,
    Hybrid,
    /// cgroup2 without the memory controller, nothing else.
    None,
}

/// A fake host in a folder.
#[derive(Debug)]
pub struct FakeTree {
    folder: PathBuf,
    kernel: Arc<FakeKernel>,
}

impl FakeTree {
    /// Fills `folder` with a host that has zram0 as somebody's swap, and loop devices.
    pub fn create(folder: &Path, layout: FakeLayout) -> io::Result<Self> {
        let tree = FakeTree { folder: folder.to_owned(), kernel: Arc::new(FakeKernel::new(folder)) };
        tree.put("proc/sys/kernel/random/boot_id", BOOT_ID)?;
        tree.put("proc/swaps", "Filename Type Size Used Priority\n/dev/zram0 partition 1048576 0 100\n")?;
        tree.put("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n")?;
        tree.put("proc/sys/vm/swappiness", "60\n")?;
        tree.put("proc/sys/vm/page-cluster", "3\n")?;
        tree.put("proc/sys/vm/drop_caches", "0\n")?;
        tree.put("proc/sys/vm/compact_memory", "0\n")?;
        tree.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")?;
        tree.put("sys/kernel/mm/lru_gen/enabled", "0x0007\n")?;
        tree.put("sys/kernel/mm/lru_gen/min_ttl_ms", "0\n")?;
        for cpu in ["cpu0", "cpu1"] {
            let folder = format!("sys/devices/system/cpu/{cpu}/cpufreq");
            tree.put(&format!("{folder}/scaling_available_governors"), "performance schedutil\n")?;
            tree.put(&format!("{folder}/scaling_governor"), "schedutil\n")?;
        }
        tree.put("sys/class/zram-control/hot_add", "")?;
        tree.put("sys/class/zram-control/hot_remove", "")?;
        tree.put("sys/block/zram0/disksize", "1073741824\n")?;
        tree.put("sys/block/zram0/diskseq", "1\n")?;
        tree.put("diskseq", "1")?;
        tree.put("dev/zram0", "SWAPSPACE2")?;
        for empty in ["run", "sys/module"] {
            fs::create_dir_all(folder.join(empty))?;
        }
        tree.put_cgroups(layout)?;
        tree.put_process(std::process::id(), 4242)?;
        Ok(tree)
    }

    pub fn root(&self) -> SysRoot {
        SysRoot::with_kernel(&self.folder, self.kernel.clone())
    }

    pub fn kernel(&self) -> &FakeKernel {
        &self.kernel
    }

    /// Writes a file of the tree, with its folders.
    pub fn put(&self, path: &str, text: &str) -> io::Result<()> {
        let full = self.folder.join(path);
        if let Some(parent) = full.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(full, text)
    }

    pub fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(path))
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap_or_default()
    }

    /// A process as `/proc` shows it.
    pub fn put_process(&self, pid: u32, start_time: u64) -> io::Result<()> {
        let zeros = "0 ".repeat(16);
        let text = format!("{pid} (run-bench) S 1 {pid} {zeros}{start_time} 0 0 0 0\n");
        self.put(&format!("proc/{pid}/stat"), &text)
    }

    /// A process of this boot that does not run.
    pub fn dead_owner(&self) -> Owner {
        Owner { pid: 999_999, start_time: 1, boot_id: BOOT_ID.to_owned() }
    }

    /// Every folder and file with its text, save the tool's own folder and the
    /// kernel's counter of disks.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        collect(&self.folder, &self.folder, &mut files);
        files.retain(|path, _| path != Path::new("diskseq") && !path.starts_with("run/run-bench"));
        files
    }

    /// What is not as `before`, one line per file.
    pub fn differences(&self, before: &BTreeMap<PathBuf, String>) -> Vec<String> {
        let after = self.snapshot();
        let names: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let differ = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
        differ
            .map(|name| format!("{}: {:?} -> {:?}", name.display(), before.get(name), after.get(name)))
            .collect()
    }

    fn put_cgroups(&self, layout: FakeLayout) -> io::Result<()> {
        let v1 = "31 1 0:35 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
        let unified = "32 1 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let v2 = "32 1 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";
        let (mounts, own) = match layout {
            FakeLayout::V1 => (v1.to_owned(), "4:memory:/\n"),
            FakeLayout::Hybrid => (format!("{v1}{unified}"), "4:memory:/\n0::/\n"),
            FakeLayout::V2 | FakeLayout::None => (v2.to_owned(), "0::/\n"),
        };
        self.put("proc/self/mountinfo", &format!("22 1 0:21 / /proc rw - proc proc rw\n{mounts}"))?;
        self.put("proc/self/cgroup", own)?;
        let enabled = u8::from(layout != FakeLayout::None);
        self.put(
            "proc/cgroups",
            &format!("#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t4\t3\t{enabled}\n"),
        )?;
        if matches!(layout, FakeLayout::V1 | FakeLayout::Hybrid) {
            self.put("sys/fs/cgroup/memory/cgroup.procs", "")?;
            self.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")?;
        }
        let (folder, controllers) = match layout {
            FakeLayout::V1 => return Ok(()),
            FakeLayout::Hybrid => ("sys/fs/cgroup/unified", ""),
            FakeLayout::None => ("sys/fs/cgroup", "cpu io\n"),
            FakeLayout::V2 => ("sys/fs/cgroup", "cpu io memory\n"),
        };
        self.put(&format!("{folder}/cgroup.controllers"), controllers)?;
        self.put(&format!("{folder}/cgroup.subtree_control"), "")?;
        self.put(&format!("{folder}/cgroup.procs"), "")
    }
}

fn collect(base: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(base).unwrap_or(&path).to_owned();
        if path.is_dir() {
            files.insert(name, "folder".to_owned());
            collect(base, &path, files);
        } else {
            files.insert(name, fs::read_to_string(&path).unwrap_or_default());
        }
    }
}
