//! What is not ours on the host stays as it is, and what is ours is nobody else's.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{BINARY, SHORT, host_state, text, wait_for, write};

/// Where a group of this name can be made: the memory hierarchy, or the only one.
fn hierarchy() -> PathBuf {
    let v1 = Path::new("/sys/fs/cgroup/memory");
    if v1.is_dir() { v1.to_owned() } else { PathBuf::from("/sys/fs/cgroup") }
}

/// A process in a cgroup and with a socket whose names look like ours.
struct Foreign {
    child: Child,
    group: PathBuf,
    folder: PathBuf,
    _listener: std::net::TcpListener,
}

impl Foreign {
    fn start() -> Self {
        let group = hierarchy().join(format!("run-bench-{}-server", std::process::id()));
        std::fs::create_dir(&group).expect("a cgroup");
        let folder = std::env::temp_dir().join(format!("run-bench-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("memcached.socket"), "theirs").expect("written");
        let child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("sleep starts");
        std::fs::write(group.join("cgroup.procs"), child.id().to_string()).expect("joined");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        Foreign { child, group, folder, _listener: listener }
    }

    fn is_untouched(&mut self) {
        assert!(self.child.try_wait().expect("waited").is_none(), "a foreign process was ended");
        let members = std::fs::read_to_string(self.group.join("cgroup.procs")).expect("the foreign group");
        assert_eq!(members.trim(), self.child.id().to_string());
        assert_eq!(std::fs::read(self.folder.join("memcached.socket")).expect("there"), b"theirs");
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
        wait_for("the foreign group's end", || std::fs::remove_dir(&self.group).is_ok());
    }
}

#[test]
#[ignore = "needs root: a cgroup and a memcached of somebody else beside a campaign"]
fn groups_processes_and_sockets_of_others_outlive_a_campaign_and_clean() {
    let before = host_state();
    let mut foreign = Foreign::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "x.toml", SHORT);
    let results = folder.path().join("results");
    let run = Command::new(BINARY).args(["run", &file, "--name", "c", "--results"]).arg(&results).output();
    let run = run.expect("run-bench starts");
    assert!(run.status.code().is_some_and(|code| code < 2), "{}", text(&run.stderr));
    foreign.is_untouched();
    let clean = Command::new(BINARY).arg("clean").output().expect("run-bench starts");
    assert!(clean.status.success(), "{}", text(&clean.stderr));
    foreign.is_untouched();
    drop(foreign);
    assert_eq!(host_state(), before);
}

/// Every file below a folder, with the folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).expect("listed").map(|entry| entry.expect("an entry")) {
        let is_folder = entry.file_type().expect("a type").is_dir();
        all.extend(if is_folder { below(&entry.path()) } else { vec![entry.path()] });
    }
    all
}

const MARKUP: &str = "<script>alert('owned')</script> $(touch owned) `touch owned` \\\" & ; |";

/// A command whose words a shell would obey, under a title that a page would.
fn hostile_experiment() -> String {
    let start = SHORT.find("[workload.file-read]").expect("the workload");
    let end = SHORT.find("[[arm]]").expect("the arms");
    let workload = "[workload.command]\nargv = [\"printf\", \"%s\", \"$(touch owned); touch owned & `touch owned` \
                    | '\\\"'\", \"-rf\", \"--\"]\ndeadline = \"5s\"\n";
    let text =
        SHORT.replace(&SHORT[start..end], workload).replace("file_read.ops_per_sec", "command.wall_time");
    text.replace("title = \"short\"", &format!("title = \"{MARKUP}\""))
}

#[test]
#[ignore = "needs root: runs a campaign as if through sudo"]
fn a_campaign_of_commands_gives_data_to_the_caller_of_sudo() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).expect("given");
    let file = write(folder.path(), "x.toml", &hostile_experiment());
    let output = Command::new(BINARY)
        .args(["run", &file, "--name", "c"])
        .current_dir(folder.path())
        .envs([("SUDO_UID", "65534"), ("SUDO_GID", "65534")])
        .output()
        .expect("run-bench starts");
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", text(&output.stderr));
    let results = folder.path().join("results");
    let mut pages = 0;
    for path in below(&results) {
        let meta = path.symlink_metadata().expect("there");
        assert_eq!((meta.uid(), meta.gid()), (65_534, 65_534), "{}", path.display());
        assert!(meta.permissions().mode() & 0o022 == 0, "{} may be written by others", path.display());
        assert!(!path.ends_with("owned"), "{}", path.display());
        if path.extension().is_some_and(|found| ["html", "svg", "xml"].iter().any(|kind| found == *kind)) {
            pages += 1;
            let page = std::fs::read_to_string(&path).expect("text");
            assert!(!page.contains("<script>alert"), "{} obeys its title", path.display());
        }
    }
    assert!(pages >= 3, "only {pages} pages");
    assert_eq!(results.join("c").metadata().expect("there").permissions().mode() & 0o777, 0o700);
    assert!(!folder.path().join("owned").exists());
    assert_eq!(host_state(), before);
}
