//! The hidden sub-command `__enter`: join cgroups, pin, change user, execute.
//!
//! It runs as the child itself, so a fault has nowhere to be returned to: it is
//! written to stderr behind a nonce that only the parent and this process know.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command as StdCommand;
use std::process::ExitCode;

use rustix::process::Signal;
use rustix::thread::CpuSet as AffinityMask;

use super::Captured;
use super::Command;
use super::Ended;
use crate::host::syscall;
use crate::units::CpuSet;

/// The name of the hidden sub-command.
pub const NAME: &str = "__enter";
/// How the reason begins when there is no such program.
pub(super) const NOT_FOUND: &str = "there is no such program";
/// Exit code when the place could not be entered.
const FAILED: u8 = 125;

/// What to do before the program is executed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    nonce: String,
    cgroups: Vec<PathBuf>,
    cpus: Option<CpuSet>,
    memory_nodes: Option<CpuSet>,
    oom_score_adj: Option<i32>,
    user: Option<(u32, u32)>,
    /// The parent that this process must not outlive.
    parent: Option<u32>,
    argv: Vec<OsString>,
}

/// A word that no program would print by chance.
pub(super) fn nonce() -> String {
    let mut bytes = [0; 8];
    // On failure the process number still tells children apart.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    format!("{:016x}{:x}", u64::from_ne_bytes(bytes), std::process::id())
}

/// The arguments that ask `__enter` for the command's place; argv follows.
pub(super) fn arguments(command: &Command, nonce: &str) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec![NAME.into(), "--nonce".into(), nonce.into()];
    for cgroup in &command.cgroups {
        all.extend(["--cgroup".into(), cgroup.into()]);
    }
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            all.extend([name.into(), value.into()]);
        }
    };
    put("--cpus", command.cpus.as_ref().map(CpuSet::to_string));
    put("--memory-nodes", command.memory_nodes.as_ref().map(CpuSet::to_string));
    put("--oom-score-adj", command.oom_score_adj.map(|score| score.to_string()));
    put("--user", command.user.map(|(uid, gid)| format!("{uid}:{gid}")));
    put("--parent", command.die_with_parent.then(|| std::process::id().to_string()));
    all.push("--".into());
    all
}

/// Why `__enter` gave up, if it did.
pub(super) fn failure(ended: Ended, stderr: &Captured, nonce: &str) -> Option<String> {
    if ended != Ended::Exited(FAILED.into()) {
        return None;
    }
    let text = stderr.text();
    let (_, reason) = text.split_once(nonce)?;
    Some(reason.trim_start_matches(':').trim().to_owned())
}

/// Does what `arguments` (without the sub-command's name) ask, then becomes the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let (nonce, reason) = match parse(arguments) {
        Ok(request) => (request.nonce.clone(), enter_and_execute(&request)),
        Err(reason) => (String::new(), reason),
    };
    eprintln!("run-bench {NAME} {nonce}: {reason}");
    ExitCode::from(FAILED)
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, String> {
    let mut request = Request::default();
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        if name == "--" {
            request.argv = arguments.collect();
            return if request.argv.is_empty() { Err("no program".to_owned()) } else { Ok(request) };
        }
        let value = arguments.next().ok_or_else(|| format!("{name:?} without a value"))?;
        if name == "--cgroup" {
            request.cgroups.push(value.into());
            continue;
        }
        let text = value.to_str().ok_or_else(|| format!("{name:?} is not text"))?;
        let bad = || format!("{name:?} cannot be {text:?}");
        match name.to_str() {
            Some("--nonce") => request.nonce = text.to_owned(),
            Some("--cpus") => request.cpus = Some(text.parse().map_err(|_| bad())?),
            Some("--memory-nodes") => request.memory_nodes = Some(text.parse().map_err(|_| bad())?),
            Some("--oom-score-adj") => request.oom_score_adj = Some(text.parse().map_err(|_| bad())?),
            Some("--parent") => request.parent = Some(text.parse().map_err(|_| bad())?),
            Some("--user") => {
                let (uid, gid) = text.split_once(':').ok_or_else(bad)?;
                request.user = Some((uid.parse().map_err(|_| bad())?, gid.parse().map_err(|_| bad())?));
            }
            _ => return Err(format!("unknown option {name:?}")),
        }
    }
    Err("no program".to_owned())
}

/// Returns only when something failed.
fn enter_and_execute(request: &Request) -> String {
    if let Err(reason) = enter(request) {
        return reason;
    }
    let (program, arguments) = request.argv.split_first().expect("parse refuses an empty argv");
    let error = StdCommand::new(program).args(arguments).exec();
    if error.kind() == std::io::ErrorKind::NotFound {
        return format!("{NOT_FOUND}; check its name, and that it is installed and in PATH");
    }
    format!("{error}; check that it is executable and of this architecture")
}

fn enter(request: &Request) -> Result<(), String> {
    let own = std::process::id().to_string();
    for cgroup in &request.cgroups {
        let procs = cgroup.join("cgroup.procs");
        fs::write(&procs, &own).map_err(|error| {
            format!("failed to join {procs:?}: {error}; check that the cgroup exists and may be written")
        })?;
    }
    if let Some(score) = request.oom_score_adj {
        fs::write("/proc/self/oom_score_adj", score.to_string())
            .map_err(|error| format!("failed to set oom_score_adj to {score}: {error}"))?;
    }
    if let Some(cpus) = &request.cpus {
        let mut set = AffinityMask::new();
        cpus.iter().for_each(|cpu| set.set(cpu as usize));
        rustix::thread::sched_setaffinity(None, &set)
            .map_err(|error| format!("failed to pin to processors {cpus}: {error}"))?;
    }
    if let Some(nodes) = &request.memory_nodes {
        let numbers: Vec<u32> = nodes.iter().collect();
        syscall::bind_memory_to_nodes(&numbers)
            .map_err(|error| format!("failed to bind memory to nodes {nodes}: {error}"))?;
    }
    if let Some((uid, gid)) = request.user {
        become_user(uid, gid).map_err(|error| format!("failed to become user {uid}:{gid}: {error}"))?;
    }
    // Last: a change of user clears it.
    if let Some(parent) = request.parent {
        die_with(parent)?;
    }
    Ok(())
}

/// This process has one thread, so the thread's credentials are the process's.
fn become_user(uid: u32, gid: u32) -> rustix::io::Result<()> {
    let (uid, gid) = (rustix::process::Uid::from_raw(uid), rustix::process::Gid::from_raw(gid));
    rustix::thread::set_thread_groups(&[gid])?;
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)
}

fn die_with(parent: u32) -> Result<(), String> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("failed to ask for the parent's death signal: {error}"))?;
    let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    if now == Some(parent) { Ok(()) } else { Err("the parent has ended already".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_read_back() {
        let mut command = Command::new("true").arg("--cpus").arg("x");
        command.cgroups = vec!["/a".into(), "/b".into()];
        command.cpus = Some("0-2".parse().unwrap());
        command.user = Some((65534, 65533));
        command.oom_score_adj = Some(-5);
        command.die_with_parent = true;
        let mut all = arguments(&command, "feed");
        all.extend(command.argv.clone());
        let request = parse(all.into_iter().skip(1)).unwrap();
        let expected = Request {
            nonce: "feed".to_owned(),
            cgroups: command.cgroups.clone(),
            cpus: command.cpus.clone(),
            memory_nodes: None,
            oom_score_adj: Some(-5),
            user: command.user,
            parent: Some(std::process::id()),
            argv: command.argv.clone(),
        };
        assert_eq!(request, expected);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in
            [&["--"][..], &[], &["--cpus"], &["--cpus", "z", "--", "true"], &["--what", "1", "--", "true"]]
        {
            assert!(parse(bad.iter().map(OsString::from)).is_err(), "{bad:?}");
        }
    }
}
