//! One child and the thread that starts and reaps it.
//!
//! The starting thread lives as long as the child, because the kernel ties the
//! parent-death signal to the thread that forked. The child is first seen to
//! have ended, then its group is killed, and only then is it reaped: until the
//! reaping its number cannot belong to another process.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command as StdCommand;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::time::Instant;

use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::WaitId;
use rustix::process::WaitIdOptions;
use tokio::sync::oneshot;

use super::Command;
use super::ExecError;
use super::enter;
use crate::host::syscall;
use crate::host::syscall::ResourceUsage;
use crate::host::syscall::WaitOutcome;
use crate::units::Nanos;

/// A child's end, seen by its thread.
#[derive(Debug)]
pub(super) struct Reaped {
    pub(super) outcome: WaitOutcome,
    pub(super) usage: ResourceUsage,
    pub(super) wall: Nanos,
}

/// Our ends of the child's pipes.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// A handle that can signal the child's group as long as the child is not reaped.
#[derive(Debug, Clone)]
pub(super) struct Group {
    leader: Pid,
    reaped: Arc<Mutex<bool>>,
}

impl Group {
    /// Sends `signal` to all of the group; nothing once the leader is reaped.
    pub(super) fn signal(&self, signal: Signal) {
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*reaped {
            // Fails only when all have ended, which the waiting thread sees.
            let _ = rustix::process::kill_process_group(self.leader, signal);
        }
    }
}

pub(super) struct Child {
    pub(super) pid: u32,
    pub(super) group: Group,
    pub(super) pipes: Pipes,
    pub(super) ended: oneshot::Receiver<io::Result<Reaped>>,
    /// Marks the messages of `__enter` in stderr, when it was used.
    pub(super) nonce: Option<String>,
}

/// Starts the command's program; returns when it runs or could not be started.
pub(super) async fn start(command: &Command) -> Result<Child, ExecError> {
    let program = command.program();
    let (prepared, nonce) = prepare(command)?;
    let (started_tx, started_rx) = oneshot::channel();
    let (ended_tx, ended) = oneshot::channel();
    thread::Builder::new()
        .name("exec-child".to_owned())
        .spawn(move || supervise(prepared, started_tx, ended_tx))
        .map_err(|source| ExecError::Start { program: program.clone(), source })?;
    let started = started_rx.await.expect("the thread answers before it ends");
    let (group, pipes) = started.map_err(|source| ExecError::Start { program, source })?;
    let pid = group.leader.as_raw_nonzero().get().unsigned_abs();
    Ok(Child { pid, group, pipes, ended, nonce })
}

fn prepare(command: &Command) -> Result<(StdCommand, Option<String>), ExecError> {
    let (program, arguments) = command.argv.split_first().ok_or(ExecError::EmptyArgv)?;
    let mut nonce = None;
    let mut prepared = if command.needs_enter() {
        let executable = match &command.enter {
            Some(path) => path.clone(),
            None => std::env::current_exe().map_err(|source| ExecError::OwnExecutable { source })?,
        };
        let own = nonce.insert(enter::nonce());
        let mut entering = StdCommand::new(executable);
        entering.args(enter::arguments(command, own));
        entering.args(&command.argv);
        entering
    } else {
        let mut direct = StdCommand::new(program);
        direct.args(arguments);
        direct
    };
    if command.clear_environment {
        prepared.env_clear();
    }
    prepared.envs(command.environment.iter().map(|(k, v)| (k, v)));
    if let Some(folder) = &command.working_directory {
        prepared.current_dir(folder);
    }
    prepared.stdin(if command.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    prepared.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    Ok((prepared, nonce))
}

type Started = io::Result<(Group, Pipes)>;

/// The body of the child's thread: start, wait, end the group, reap.
fn supervise(
    mut prepared: StdCommand,
    started: oneshot::Sender<Started>,
    ended: oneshot::Sender<io::Result<Reaped>>,
) {
    let begin = Instant::now();
    let mut child = match prepared.spawn() {
        Ok(child) => child,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    let raw = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let leader = raw.expect("the kernel's process numbers are positive");
    let group = Group { leader, reaped: Arc::new(Mutex::new(false)) };
    let pipes = Pipes {
        stdin: child.stdin.take().map(OwnedFd::from),
        stdout: child.stdout.take().expect("stdout was asked to be a pipe").into(),
        stderr: child.stderr.take().expect("stderr was asked to be a pipe").into(),
    };
    if started.send(Ok((group.clone(), pipes))).is_err() {
        // The asker gave up: nobody would ever end this child.
        group.signal(Signal::KILL);
    }
    let result = wait_and_reap(child.id(), &group, begin);
    let _ = ended.send(result);
}

fn wait_and_reap(pid: u32, group: &Group, begin: Instant) -> io::Result<Reaped> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match rustix::process::waitid(WaitId::Pid(group.leader), options) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let wall = Nanos::from(begin.elapsed());
    group.signal(Signal::KILL);
    let mut reaped = group.reaped.lock().unwrap_or_else(PoisonError::into_inner);
    let (outcome, usage) = syscall::wait4(pid)?;
    *reaped = true;
    Ok(Reaped { outcome, usage, wall })
}
