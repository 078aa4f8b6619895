//! cgroup trees of a fake host: files that appear with a folder, the rules of
//! v1's two limits, of v2's controllers, and of busy folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::FakeKernel;

const V1_UNLIMITED: &str = "9223372036854771712";
const V2_CORE: [(&str, &str); 7] = [
    ("cgroup.type", "domain\n"),
    ("cgroup.procs", ""),
    ("cgroup.controllers", ""),
    ("cgroup.subtree_control", ""),
    ("cgroup.events", "populated 0\nfrozen 0\n"),
    ("cgroup.freeze", "0\n"),
    ("cgroup.kill", ""),
];
const V2_MEMORY: [(&str, &str); 10] = [
    ("memory.current", "0\n"),
    ("memory.peak", "0\n"),
    ("memory.max", "max\n"),
    ("memory.high", "max\n"),
    ("memory.swap.max", "max\n"),
    ("memory.swap.current", "0\n"),
    ("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n"),
    ("memory.stat", "anon 0\nfile 0\npgscan 0\npgsteal 0\n"),
    ("memory.reclaim", ""),
    ("memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
];
const V1_MEMORY: [(&str, &str); 8] = [
    ("cgroup.procs", ""),
    ("memory.usage_in_bytes", "0\n"),
    ("memory.max_usage_in_bytes", "0\n"),
    ("memory.limit_in_bytes", "9223372036854771712\n"),
    ("memory.memsw.limit_in_bytes", "9223372036854771712\n"),
    ("memory.swappiness", "60\n"),
    ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"),
    ("memory.failcnt", "0\n"),
];

impl FakeKernel {
    fn is_v1(&self, path: &Path) -> bool {
        self.name(path).starts_with("sys/fs/cgroup/memory")
    }

    pub(super) fn cgroup_create(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)?;
        if self.is_v1(path) {
            fs::write(path.join("memory.stat"), "cache 0\nrss 0\nswap 0\n")?;
            for (file, text) in V1_MEMORY {
                if file.contains("memsw") && self.at("no-swap-accounting").exists() {
                    continue;
                }
                fs::write(path.join(file), text)?;
            }
            return Ok(());
        }
        for (file, text) in V2_CORE {
            fs::write(path.join(file), text)?;
        }
        let parent = path.parent().unwrap_or(path);
        if words(&parent.join("cgroup.subtree_control")).contains(&"memory".to_owned()) {
            self.give_memory(path)?;
        }
        Ok(())
    }

    fn give_memory(&self, path: &Path) -> io::Result<()> {
        fs::write(path.join("cgroup.controllers"), "memory\n")?;
        for (file, text) in V2_MEMORY {
            if file.contains("swap") && self.at("no-swap-accounting").exists() {
                continue;
            }
            fs::write(path.join(file), text)?;
        }
        Ok(())
    }

    pub(super) fn cgroup_remove(&self, path: &Path) -> io::Result<()> {
        let has_children = children(path).next().is_some();
        if has_children || !words(&path.join("cgroup.procs")).is_empty() {
            return Err(Errno::BUSY.into());
        }
        fs::remove_dir_all(path)
    }

    pub(super) fn cgroup_write(&self, path: &Path, value: &str) -> io::Result<()> {
        let dir = path.parent().unwrap_or(path).to_owned();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match file.as_str() {
            "cgroup.procs" => self.join(&dir, value.trim()),
            "cgroup.kill" => self.kill_all(&dir),
            "cgroup.subtree_control" => self.subtree_control(&dir, value),
            "memory.limit_in_bytes" | "memory.memsw.limit_in_bytes" => set_v1_limit(&dir, &file, value),
            "memory.max" | "memory.high" | "memory.swap.max" => {
                let text = match value.parse::<u64>() {
                    Ok(bytes) => (bytes / 4096 * 4096).to_string(),
                    Err(_) => value.to_owned(),
                };
                fs::write(path, format!("{text}\n"))
            }
            _ => fs::write(path, format!("{value}\n")),
        }
    }

    /// The tree to which a folder belongs, as its mount point.
    fn tree_of(&self, dir: &Path) -> PathBuf {
        let first = self.name(dir).trim_start_matches("sys/fs/cgroup").trim_start_matches('/');
        let first = first.split('/').next().unwrap_or_default();
        let base = self.at("sys/fs/cgroup");
        match first {
            "memory" | "unified" => base.join(first),
            _ => base,
        }
    }

    fn join(&self, dir: &Path, pid: &str) -> io::Result<()> {
        remove_member(&self.tree_of(dir), pid)?;
        let procs = dir.join("cgroup.procs");
        fs::write(&procs, format!("{}{pid}\n", fs::read_to_string(&procs)?))
    }

    fn kill_all(&self, dir: &Path) -> io::Result<()> {
        for pid in words(&dir.join("cgroup.procs")) {
            self.end_process(pid.parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?)?;
        }
        Ok(())
    }

    pub(super) fn end_process(&self, pid: u32) -> io::Result<()> {
        let _ = fs::remove_dir_all(self.at(&format!("proc/{pid}")));
        remove_member(&self.at("sys/fs/cgroup"), &pid.to_string())
    }

    fn subtree_control(&self, dir: &Path, value: &str) -> io::Result<()> {
        let file = dir.join("cgroup.subtree_control");
        let mut enabled = words(&file);
        let is_root = !dir.join("cgroup.type").exists();
        for change in value.split_whitespace() {
            if let Some(name) = change.strip_prefix('+') {
                if !words(&dir.join("cgroup.controllers")).contains(&name.to_owned()) {
                    return Err(Errno::NOENT.into());
                }
                if !is_root && !words(&dir.join("cgroup.procs")).is_empty() {
                    return Err(Errno::BUSY.into());
                }
                enabled.push(name.to_owned());
                for child in children(dir) {
                    self.give_memory(&child)?;
                }
            } else {
                let name = change.trim_start_matches('-');
                enabled.retain(|word| word != name);
                for child in children(dir) {
                    fs::write(child.join("cgroup.controllers"), "")?;
                    for (file, _) in V2_MEMORY {
                        let _ = fs::remove_file(child.join(file));
                    }
                }
            }
        }
        let text = if enabled.is_empty() { String::new() } else { format!("{}\n", enabled.join(" ")) };
        fs::write(file, text)
    }
}

/// v1 keeps memory+swap at or above memory.
fn set_v1_limit(dir: &Path, file: &str, value: &str) -> io::Result<()> {
    let value = if value == "-1" { V1_UNLIMITED } else { value };
    let new: u64 = value.parse().map_err(|_| io::Error::from(Errno::INVAL))?;
    let new = new / 4096 * 4096;
    let both_path = dir.join("memory.memsw.limit_in_bytes");
    let limit_path = dir.join("memory.limit_in_bytes");
    let number = |path: &Path| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let wrong = if file.contains("memsw") {
        number(&limit_path).is_some_and(|limit| new < limit)
    } else {
        number(&both_path).is_some_and(|both| new > both)
    };
    if wrong {
        return Err(Errno::INVAL.into());
    }
    fs::write(dir.join(file), format!("{new}\n"))
}

fn words(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

fn children(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_dir())
}

fn remove_member(dir: &Path, pid: &str) -> io::Result<()> {
    let procs = dir.join("cgroup.procs");
    if procs.exists() {
        let kept: String =
            words(&procs).iter().filter(|word| *word != pid).map(|word| format!("{word}\n")).collect();
        fs::write(procs, kept)?;
    }
    for child in children(dir) {
        remove_member(&child, pid)?;
    }
    Ok(())
}
