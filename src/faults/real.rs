//! Faults on the real host: whole campaigns of this very program, each with
//! the exit code and the words that it must end with.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::host::SysRoot;
use crate::host::cgroup::CgroupLayout;
use crate::host::reader::{mounts, swaps};

/// A campaign with a fault in it.
#[derive(Debug, Clone, Copy)]
pub struct RealCase {
    pub what: &'static str,
    /// The workload's sections.
    workload: &'static str,
    primary: &'static str,
    /// A replacement of `PATH`.
    path: Option<&'static str>,
    /// Run by `sh` in mounts of its own; `$0` is the program.
    script: Option<&'static str>,
    code: i32,
    words: &'static [&'static str],
}

/// How a case ended.
#[derive(Debug)]
pub(super) struct RealEnd {
    pub(super) passed: bool,
    pub(super) said: String,
    pub(super) restored: bool,
}

const fn of_command(
    what: &'static str,
    workload: &'static str,
    code: i32,
    words: &'static [&'static str],
) -> RealCase {
    RealCase { what, workload, primary: "command.wall_time", path: None, script: None, code, words }
}

const TRUE: &str = "[workload.command]\nargv = [\"true\"]\ndeadline = \"20s\"\n";

pub(super) const READ_ONLY: &[RealCase] = &[RealCase {
    script: Some(
        "at=/sys/fs/cgroup; test -d $at/memory && at=$at/memory; \
         mount -o remount,ro,bind $at && exec \"$0\" run fault.toml --results results --name c",
    ),
    ..of_command("a read-only cgroup tree", TRUE, 3, &["mounted read-only; remount it"])
}];

pub(super) const OUT_OF_MEMORY: &[RealCase] = &[of_command(
    "the kernel kills the workload",
    "[workload.command]\nargv = [\"tail\", \"/dev/zero\"]\ndeadline = \"30s\"\n",
    4,
    &["host.oom-kill"],
)];

pub(super) const FULL_DISK: &[RealCase] = &[RealCase {
    script: Some(
        "mount -t tmpfs -o size=120k none results || exit 99; \
         \"$0\" run fault.toml --results results --name c; echo first $?; \
         mount -o remount,size=64m results; \
         \"$0\" run fault.toml --results results --name c; echo second $?; \
         \"$0\" status results/c",
    ),
    ..of_command(
        "a full disk, then more room",
        TRUE,
        0,
        &["first 3", "No space left on device", "with --results", "8 trial(s) valid"],
    )
}];

pub(super) const NO_TOOL: &[RealCase] = &[
    RealCase {
        path: Some("/nonexistent"),
        primary: "memcached.ops_per_sec",
        ..of_command(
            "no memcached",
            "[workload.memcached]\nmemory = \"32MiB\"\nthreads = 1\nsocket = \"unix\"\n\
             [workload.memcached.load]\ndriver = \"builtin\"\nkeys = 5_000\nvalue = \"1KiB\"\n\
             clients = 1\nthreads = 1\npipeline = 1\nrequests = 10\n",
            3,
            &["install the package memcached"],
        )
    },
    of_command(
        "no such program",
        "[workload.command]\nargv = [\"no-such-program\"]\ndeadline = \"20s\"\n",
        3,
        &["\"no-such-program\": there is no such program"],
    ),
];

pub(super) const NO_WORK: &[RealCase] = &[
    of_command(
        "success without work",
        "[workload.command]\nargv = [\"true\"]\ndeadline = \"20s\"\n[[workload.command.metrics]]\n\
         definition = { id = \"command.frames\", unit = \"per-second\", direction = \"higher-is-better\", \
         kind = \"throughput\", label = \"frames\" }\nsource = { regex = \"frames (?<value>[0-9]+)\" }\n",
        4,
        &["too many trials were not valid"],
    ),
    of_command(
        "failure with full output",
        "[workload.command]\nargv = [\"sh\", \"-c\", \"echo frames 7; exit 3\"]\ndeadline = \"20s\"\n",
        4,
        &["command.exit"],
    ),
    of_command(
        "killed by a signal",
        "[workload.command]\nargv = [\"sh\", \"-c\", \"kill -SEGV $$\"]\ndeadline = \"20s\"\n",
        4,
        &["command.exit"],
    ),
];

pub(super) const HANGS: &[RealCase] = &[
    of_command(
        "a silent hang",
        "[workload.command]\nargv = [\"sleep\", \"1000\"]\ndeadline = \"1s\"\n",
        4,
        &["command.deadline: it was killed after 1.0s"],
    ),
    of_command(
        "a stopped program",
        "[workload.command]\nargv = [\"sh\", \"-c\", \"kill -STOP $$\"]\ndeadline = \"1s\"\n",
        4,
        &["command.deadline"],
    ),
];

/// What a trial may touch, in words.
pub fn host_state() -> BTreeMap<String, String> {
    let root = SysRoot::host();
    let mut state = BTreeMap::new();
    for swap in swaps(&root).unwrap_or_default() {
        state.insert(format!("swap {}", swap.path.display()), swap.priority.to_string());
    }
    for mount in mounts(&root).unwrap_or_default() {
        state.insert(format!("mount {}", mount.target.display()), mount.filesystem);
    }
    for name in root.names("/sys/block") {
        let size = root.value(format!("/sys/block/{name}/size")).unwrap_or_default();
        let backing = root.value(format!("/sys/block/{name}/loop/backing_file"));
        // A free loop device that appeared belongs to nobody.
        if !name.starts_with("loop") || backing.is_some() {
            state.insert(format!("block {name}"), format!("{size} {}", backing.unwrap_or_default()));
        }
    }
    if let Ok(layout) = CgroupLayout::detect(&root) {
        for tree in std::iter::once(layout.memory_mount()).chain(layout.unified.as_deref()) {
            for name in root.folder_names(tree).into_iter().filter(|name| name.starts_with("run-bench-")) {
                state.insert(format!("cgroup {}", tree.join(name).display()), String::new());
            }
        }
    }
    for file in ["/proc/sys/vm/swappiness", "/proc/sys/vm/page-cluster", "/sys/kernel/mm/lru_gen/enabled"] {
        state.insert(file.to_owned(), root.value(file).unwrap_or_default());
    }
    state
}

/// Runs a case to its end and compares end, words and host.
pub(super) fn run_case(case: &RealCase) -> RealEnd {
    let before = host_state();
    let ran = start(case);
    let restored = host_state() == before;
    let output = match ran {
        Ok(output) => output,
        Err(error) => return RealEnd { passed: false, said: error.to_string(), restored },
    };
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let missing = case.words.iter().find(|word| !said.contains(**word));
    let as_planned = output.status.code() == Some(case.code) && missing.is_none();
    let said = match (as_planned, restored) {
        (true, true) => "as it must".to_owned(),
        (true, false) => "the host is not as before".to_owned(),
        (false, _) => format!("{}, where {} and {:?} were due: {said}", output.status, case.code, case.words),
    };
    RealEnd { passed: as_planned, said, restored }
}

fn start(case: &RealCase) -> std::io::Result<Output> {
    let folder = tempfile::tempdir()?;
    prepare(case, folder.path())?;
    let own = std::env::current_exe()?;
    let mut command = match case.script {
        Some(script) => {
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", script]).arg(own);
            command
        }
        None => {
            let mut command = Command::new(own);
            command.args(["run", "fault.toml", "--results", "results", "--name", "c"]);
            command
        }
    };
    if let Some(path) = case.path {
        command.env("PATH", path);
    }
    command.current_dir(folder.path()).stdin(Stdio::null()).output()
}

fn prepare(case: &RealCase, folder: &Path) -> std::io::Result<()> {
    let text = format!(
        "schema = 1\ntitle = \"fault\"\n[memcg]\nlimit = \"64MiB\"\n{}\n\
         [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n\
         [schedule]\nblocks = 2\ndiscard-first = false\nreruns = 1\n[analysis]\nprimary = \"{}\"\n",
        case.workload, case.primary
    );
    std::fs::create_dir(folder.join("results"))?;
    std::fs::write(folder.join("fault.toml"), text)
}
