//! Settings of the host: sysctls, MGLRU, THP, CPU governors, and any file
//! below `/proc/sys` and `/sys`. Each is read back; the exact prior text is
//! restored at the end.

use std::path::{Component, Path, PathBuf};

use super::error::HostError;
use super::journal::{same_value, selected_value};
use super::root::SysRoot;
use super::session::HostSession;

const LRU_GEN: &str = "/sys/kernel/mm/lru_gen";
const TRANSPARENT_HUGEPAGE: &str = "/sys/kernel/mm/transparent_hugepage";
const CPU: &str = "/sys/devices/system/cpu";

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knob {
    /// By its dotted or slashed name: `vm.swappiness`.
    Sysctl {
        name: String,
        value: String,
    },
    /// MGLRU's switches, as a mask: 0 is off, 7 is all.
    LruGenEnabled {
        mask: u32,
    },
    LruGenMinTtl {
        milliseconds: u64,
    },
    TransparentHugepage {
        mode: String,
    },
    /// Of every CPU.
    Governor {
        name: String,
    },
    /// A file below `/proc/sys` or `/sys`.
    File {
        path: PathBuf,
        value: String,
    },
}

impl Knob {
    /// Sets it; the texts read back, one per file.
    pub fn set(&self, session: &mut HostSession) -> Result<Vec<String>, HostError> {
        let root = session.root().clone();
        let (paths, value) = self.files(&root)?;
        paths.iter().map(|path| set_one(session, path, &value)).collect()
    }

    fn files(&self, root: &SysRoot) -> Result<(Vec<PathBuf>, String), HostError> {
        let one = |path: PathBuf, value: String| Ok((vec![path], value));
        match self {
            Knob::Sysctl { name, value } => one(sysctl_path(name), value.clone()),
            Knob::LruGenEnabled { mask } => {
                need(root, LRU_GEN, "MGLRU", "build the kernel with CONFIG_LRU_GEN=y")?;
                one(Path::new(LRU_GEN).join("enabled"), mask.to_string())
            }
            Knob::LruGenMinTtl { milliseconds } => {
                need(root, LRU_GEN, "MGLRU", "build the kernel with CONFIG_LRU_GEN=y")?;
                one(Path::new(LRU_GEN).join("min_ttl_ms"), milliseconds.to_string())
            }
            Knob::TransparentHugepage { mode } => {
                let remedy = "build the kernel with CONFIG_TRANSPARENT_HUGEPAGE=y";
                need(root, TRANSPARENT_HUGEPAGE, "THP", remedy)?;
                one(Path::new(TRANSPARENT_HUGEPAGE).join("enabled"), mode.clone())
            }
            Knob::Governor { name } => {
                let paths = governor_paths(root);
                if paths.is_empty() {
                    return Err(HostError::Unsupported {
                        what: "a CPU governor",
                        why: format!("no {CPU}/cpu*/cpufreq/scaling_governor (a guest, perhaps)"),
                        remedy: "set the frequency on the host below, or leave the governor alone".to_owned(),
                    });
                }
                Ok((paths, name.clone()))
            }
            Knob::File { path, value } => one(path.clone(), value.clone()),
        }
    }
}

/// Every CPU's governor file.
pub(super) fn governor_paths(root: &SysRoot) -> Vec<PathBuf> {
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|id| id.parse::<u32>().is_ok());
    let cpus = root.names(CPU).into_iter().filter(is_cpu);
    let paths = cpus.map(|cpu| Path::new(CPU).join(cpu).join("cpufreq/scaling_governor"));
    paths.filter(|path| root.exists(path)).collect()
}

fn need(root: &SysRoot, folder: &str, what: &'static str, remedy: &str) -> Result<(), HostError> {
    if root.exists(folder) {
        return Ok(());
    }
    let why = format!("{folder} is absent");
    Err(HostError::Unsupported { what, why, remedy: remedy.to_owned() })
}

fn sysctl_path(name: &str) -> PathBuf {
    let slashed = if name.contains('/') { name.to_owned() } else { name.replace('.', "/") };
    Path::new("/proc/sys").join(slashed.trim_start_matches('/'))
}

fn set_one(session: &mut HostSession, path: &Path, value: &str) -> Result<String, HostError> {
    ensure_allowed(path)?;
    if value.is_empty() || value.contains(['\n', '\0']) {
        return Err(refused(path, format!("{value:?} is not a value of one line")));
    }
    let current = session.root().read(path)?;
    if same_value(&current, value) {
        return Ok(current.trim().to_owned());
    }
    session.set_file(path, value, |wrote, found| same_value(selected_value(found), wrote))
}

/// Only settings of the kernel, and only by a plain path.
fn ensure_allowed(path: &Path) -> Result<(), HostError> {
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let below = [Path::new("/proc/sys"), Path::new("/sys")].iter().any(|base| path.starts_with(base));
    // The groups there have limits of their own, which the tool sets itself.
    let cgroup = path.starts_with("/sys/fs/cgroup");
    if plain && below && !cgroup {
        return Ok(());
    }
    Err(refused(path, "only files below /proc/sys and /sys (without /sys/fs/cgroup) may be set".to_owned()))
}

fn refused(path: &Path, why: String) -> HostError {
    HostError::Refused { action: "set", subject: path.display().to_string(), why }
}

/// Writes back dirty pages and drops clean page cache, dentries and inodes.
/// Cannot be undone; the caches fill again.
pub fn drop_caches(session: &HostSession) -> Result<(), HostError> {
    rustix::fs::sync();
    session.root().write("/proc/sys/vm/drop_caches", "3")
}

/// Compacts all zones. Cannot be undone.
pub fn compact_memory(session: &HostSession) -> Result<(), HostError> {
    session.root().write("/proc/sys/vm/compact_memory", "1")
}

#[cfg(test)]
mod tests {
    use super::super::fake::{FakeLayout, FakeTree};
    use super::super::session::SessionOptions;
    use super::*;

    fn fake() -> (tempfile::TempDir, FakeTree) {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = FakeTree::create(folder.path(), FakeLayout::V2).expect("a tree");
        (folder, tree)
    }

    fn open(tree: &FakeTree) -> HostSession {
        let options = SessionOptions { folder: "/run/run-bench".into(), purpose: "knobs".to_owned() };
        HostSession::open(tree.root(), options).expect("a session")
    }

    #[test]
    fn settings_are_read_back_and_restored_exactly() {
        let (_folder, tree) = fake();
        let before = tree.snapshot();
        let mut session = open(&tree);
        let knobs = [
            Knob::Sysctl { name: "vm.swappiness".to_owned(), value: "10".to_owned() },
            Knob::Sysctl { name: "vm/page-cluster".to_owned(), value: "0".to_owned() },
            Knob::LruGenEnabled { mask: 0 },
            Knob::LruGenMinTtl { milliseconds: 1000 },
            Knob::TransparentHugepage { mode: "never".to_owned() },
            Knob::Governor { name: "performance".to_owned() },
        ];
        for knob in &knobs {
            knob.set(&mut session).expect("set");
        }
        assert_eq!(tree.text("proc/sys/vm/swappiness"), "10\n");
        assert_eq!(tree.text("sys/kernel/mm/transparent_hugepage/enabled"), "always madvise [never]\n");
        assert_eq!(session.changes().len(), 7, "one change per file, two CPUs");
        assert!(session.undo().left.is_empty());
        assert_eq!(tree.differences(&before), Vec::<String>::new());
    }

    #[test]
    fn refuses_files_that_are_no_settings() {
        let (_folder, tree) = fake();
        let mut session = open(&tree);
        for path in [
            "/etc/passwd",
            "/sys/../etc/passwd",
            "/proc/self/oom_score_adj",
            "/sys/fs/cgroup/memory.max",
            "sys/x",
        ] {
            let knob = Knob::File { path: path.into(), value: "1".to_owned() };
            assert!(matches!(knob.set(&mut session), Err(HostError::Refused { .. })), "{path}");
        }
        let knob = Knob::Sysctl { name: "../../etc/passwd".to_owned(), value: "1".to_owned() };
        assert!(matches!(knob.set(&mut session), Err(HostError::Refused { .. })));
        assert!(session.changes().is_empty());
    }

    #[test]
    fn a_value_changed_by_somebody_else_is_left_alone() {
        let (_folder, tree) = fake();
        let mut session = open(&tree);
        let knob = Knob::Sysctl { name: "vm.swappiness".to_owned(), value: "10".to_owned() };
        knob.set(&mut session).expect("set");
        tree.put("proc/sys/vm/swappiness", "33\n").expect("written");
        let report = session.undo();
        assert_eq!((report.foreign.len(), report.left.len()), (1, 0));
        assert!(report.foreign[0].why.contains("somebody else"), "{report:?}");
        assert_eq!(tree.text("proc/sys/vm/swappiness"), "33\n");
    }

    #[test]
    fn what_is_absent_is_named_with_its_remedy() {
        let (_folder, tree) = fake();
        std::fs::remove_dir_all(tree.root().path(LRU_GEN)).expect("removed");
        let mut session = open(&tree);
        let error = Knob::LruGenEnabled { mask: 7 }.set(&mut session).expect_err("absent");
        assert!(error.to_string().contains("CONFIG_LRU_GEN"), "{error}");
        let wrong = Knob::TransparentHugepage { mode: "sometimes".to_owned() };
        assert!(matches!(wrong.set(&mut session), Err(HostError::Write { .. })));
        drop_caches(&session).expect("dropped");
        compact_memory(&session).expect("compacted");
    }
}
