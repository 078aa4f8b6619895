//! Running children: watch, capture, end.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;
use std::time::SystemTime;

use rustix::process::Signal;
use serde::Deserialize;
use serde::Serialize;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Captured;
use super::Command;
use super::ExecError;
use super::Progress;
use super::capture::Lines;
use super::child;
use super::child::Group;
use super::child::Reaped;
use super::enter;
use crate::host::syscall::WaitOutcome;
use crate::units::Bytes;
use crate::units::Nanos;

/// How long after SIGKILL a process may take to go before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long after the leader's end a pipe may stay open in other hands.
const DRAIN: Duration = Duration::from_millis(300);

/// How a child came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    Exited(i32),
    Signalled(i32),
    /// Killed at its deadline.
    Deadline,
    /// Killed because it made no progress.
    NoProgress,
    /// Killed because the work was cancelled.
    Cancelled,
}

impl Ended {
    pub fn success(self) -> bool {
        self == Ended::Exited(0)
    }
}

/// What a child left behind.
#[derive(Debug, Clone)]
pub struct Output {
    pub ended: Ended,
    pub stdout: Captured,
    pub stderr: Captured,
    pub wall: Nanos,
    /// Processor time and the rest: the program and its children that it waited for.
    pub user: Nanos,
    pub system: Nanos,
    pub max_rss: Bytes,
    pub major_faults: u64,
    pub minor_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

/// Runs a command to its end, its deadline, or until it is cancelled.
pub async fn run(command: &Command, cancel: &CancellationToken) -> Result<Output, ExecError> {
    let mut running = spawn(command).await?;
    let ended = running.watch(command, cancel).await;
    match ended {
        None => running.finish(None).await,
        Some(ended) => {
            running.end(command.grace).await?;
            running.finish(Some(ended)).await
        }
    }
}

/// Starts a command, for a server: no deadline and no watchdog; the caller stops it.
pub async fn spawn(command: &Command) -> Result<Running, ExecError> {
    let program = command.program();
    let mut child = child::start(command).await?;
    let limit = command.output_limit.0;
    let shared = Arc::new(Mutex::new(Shared {
        stdout: Captured::with_limit(limit),
        stderr: Captured::with_limit(limit),
        last_progress: Instant::now(),
        number: None,
    }));
    let pipe = |source| ExecError::Pipe { program: program.clone(), what: "read the output", source };
    let open = |fd: OwnedFd| pipe::Receiver::from_owned_fd(fd).map_err(pipe);
    let number = match command.progress {
        Progress::Number(read) => Some(read),
        Progress::Output | Progress::File(_) => None,
    };
    let by_output = !matches!(command.progress, Progress::File(_));
    let readers = [(open(child.pipes.stdout)?, Stream::Out), (open(child.pipes.stderr)?, Stream::Err)]
        .map(|(end, stream)| tokio::spawn(read_stream(end, stream, shared.clone(), (number, by_output))));
    if let (Some(fd), Some(bytes)) = (child.pipes.stdin.take(), &command.stdin) {
        let end = pipe::Sender::from_owned_fd(fd).map_err(|source| ExecError::Pipe {
            program: program.clone(),
            what: "write the input",
            source,
        })?;
        tokio::spawn(write_stdin(end, bytes.clone()));
    }
    Ok(Running {
        program,
        pid: child.pid,
        group: child.group,
        receiver: Some(child.ended),
        reaped: None,
        readers,
        shared,
        nonce: child.nonce,
    })
}

#[derive(Debug, Clone, Copy)]
enum Stream {
    Out,
    Err,
}

#[derive(Debug)]
struct Shared {
    stdout: Captured,
    stderr: Captured,
    last_progress: Instant,
    number: Option<u64>,
}

fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

type ReadNumber = fn(&str) -> Option<u64>;

async fn read_stream(
    mut end: pipe::Receiver,
    stream: Stream,
    shared: Arc<Mutex<Shared>>,
    (number, by_output): (Option<ReadNumber>, bool),
) {
    let mut buffer = vec![0; 64 << 10];
    let mut lines = Lines::default();
    // A read error ends the capture like the end of the stream does.
    while let Ok(length @ 1..) = end.read(&mut buffer).await {
        let bytes = &buffer[..length];
        let mut shared = locked(&shared);
        match stream {
            Stream::Out => shared.stdout.push(bytes),
            Stream::Err => shared.stderr.push(bytes),
        }
        match number {
            Some(read) => lines.push(bytes, |line| {
                let seen = read(line);
                if seen.is_some() && seen != shared.number {
                    shared.number = seen;
                    shared.last_progress = Instant::now();
                }
            }),
            None if by_output => shared.last_progress = Instant::now(),
            None => {}
        }
    }
}

async fn write_stdin(mut end: pipe::Sender, bytes: Vec<u8>) {
    // A program may end without reading its input; that is its own affair.
    let _ = end.write_all(&bytes).await;
}

/// A child that runs. Dropping it kills its whole group.
#[derive(Debug)]
pub struct Running {
    program: String,
    pid: u32,
    group: Group,
    receiver: Option<oneshot::Receiver<io::Result<Reaped>>>,
    reaped: Option<io::Result<Reaped>>,
    readers: [JoinHandle<()>; 2],
    shared: Arc<Mutex<Shared>>,
    nonce: Option<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.group.signal(Signal::KILL);
        for reader in &self.readers {
            reader.abort();
        }
    }
}

impl Running {
    /// The process number; `__enter` becomes the program, so it stays the same.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How the child ended, if it has; never waits.
    pub fn has_ended(&mut self) -> Option<Ended> {
        if let Some(receiver) = &mut self.receiver
            && let Ok(reaped) = receiver.try_recv()
        {
            self.receiver = None;
            self.reaped = Some(reaped);
        }
        match &self.reaped {
            Some(Ok(reaped)) => Some(ended(reaped)),
            Some(Err(_)) => Some(Ended::Signalled(libc::SIGKILL)),
            None => None,
        }
    }

    /// What it has written so far: stdout, stderr.
    pub fn output_so_far(&self) -> (Captured, Captured) {
        let shared = locked(&self.shared);
        (shared.stdout.clone(), shared.stderr.clone())
    }

    /// All that an ended child has written: its last words may still be on their way
    /// when its end is known. Someone outside the group may hold the pipes for ever.
    pub async fn last_words(&self) -> (Captured, Captured) {
        let by = Instant::now() + DRAIN;
        while !self.readers.iter().all(JoinHandle::is_finished) && Instant::now() < by {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.output_so_far()
    }

    /// Waits for the child's end.
    pub async fn ended(&mut self) -> Ended {
        self.wait().await;
        self.has_ended().expect("it has been waited for")
    }

    /// Ends the child's group: SIGTERM, `grace`, SIGKILL. Returns what it left behind;
    /// `ended` then says how it took it, or how it had ended before.
    pub async fn stop(mut self, grace: Duration) -> Result<Output, ExecError> {
        self.end(grace).await?;
        self.finish(None).await
    }

    async fn wait(&mut self) {
        if let Some(receiver) = &mut self.receiver {
            let lost = || io::Error::other("the waiting thread is gone");
            self.reaped = Some(receiver.await.unwrap_or_else(|_| Err(lost())));
            self.receiver = None;
        }
    }

    /// Waits for the child's own end (none) or for a reason to end it.
    async fn watch(&mut self, command: &Command, cancel: &CancellationToken) -> Option<Ended> {
        let deadline = Instant::now() + command.deadline;
        let mut file = None;
        loop {
            let mut wake = deadline;
            if let Some(quiet) = command.no_progress {
                if let Progress::File(path) = &command.progress {
                    let state = file_state(path);
                    if state != file {
                        file = state;
                        locked(&self.shared).last_progress = Instant::now();
                    }
                }
                let last = locked(&self.shared).last_progress;
                if last.elapsed() >= quiet {
                    return Some(Ended::NoProgress);
                }
                // Files are polled; output moves `last_progress` by itself.
                wake =
                    wake.min(last + quiet).min(Instant::now() + (quiet / 4).max(Duration::from_millis(10)));
            }
            tokio::select! {
                biased;
                () = self.wait() => return None,
                () = cancel.cancelled() => return Some(Ended::Cancelled),
                () = tokio::time::sleep_until(wake) => {}
            }
            if Instant::now() >= deadline {
                return Some(Ended::Deadline);
            }
        }
    }

    async fn end(&mut self, grace: Duration) -> Result<(), ExecError> {
        if self.has_ended().is_some() {
            return Ok(());
        }
        self.group.signal(Signal::TERM);
        // A stopped process would otherwise take no signal but SIGKILL.
        self.group.signal(Signal::CONT);
        if tokio::time::timeout(grace, self.wait()).await.is_ok() {
            return Ok(());
        }
        self.group.signal(Signal::KILL);
        if tokio::time::timeout(PATIENCE, self.wait()).await.is_ok() {
            return Ok(());
        }
        let (program, pid) = (self.program.clone(), self.pid);
        Err(ExecError::Unkillable { program, pid, seconds: PATIENCE.as_secs() })
    }

    /// Collects what is left of an ended child.
    async fn finish(mut self, reason: Option<Ended>) -> Result<Output, ExecError> {
        self.wait().await;
        let by = Instant::now() + DRAIN;
        for reader in &mut self.readers {
            // Someone outside the group may hold the pipe for ever.
            let _ = tokio::time::timeout_at(by, reader).await;
        }
        let (program, pid) = (self.program.clone(), self.pid);
        let reaped = self.reaped.take().expect("it has been waited for");
        let reaped = reaped.map_err(|source| ExecError::Wait { program: program.clone(), pid, source })?;
        let (stdout, stderr) = self.output_so_far();
        if let (Some(nonce), None) = (&self.nonce, reason)
            && let Some(reason) = enter::failure(ended(&reaped), &stderr, nonce)
        {
            return Err(ExecError::Enter { program, reason });
        }
        let usage = reaped.usage;
        Ok(Output {
            ended: reason.unwrap_or(ended(&reaped)),
            stdout,
            stderr,
            wall: reaped.wall,
            user: usage.user,
            system: usage.system,
            max_rss: usage.max_rss,
            major_faults: usage.major_faults,
            minor_faults: usage.minor_faults,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
        })
    }
}

fn ended(reaped: &Reaped) -> Ended {
    match reaped.outcome {
        WaitOutcome::Exited(code) => Ended::Exited(code),
        WaitOutcome::Signalled(signal) => Ended::Signalled(signal),
    }
}

fn file_state(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
