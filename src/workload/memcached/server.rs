//! The memcached server: a fresh one for each trial, proven to be ours.

use std::io;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use tempfile::TempDir;

use super::loader::Endpoint;
use super::stats::Admin;
use super::stats::Stats;
use super::stats::speaks_binary;
use crate::config::Role;
use crate::config::workload::MemcachedWorkload;
use crate::config::workload::Protocol;
use crate::config::workload::Socket;
use crate::exec::Command;
use crate::exec::Output;
use crate::exec::Running;
use crate::exec::ToolName;
use crate::exec::spawn;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::workload::Context;
use crate::workload::WorkloadError;

/// How long the server may take to answer at first. Small memcgs make it slow.
const READY: Duration = Duration::from_secs(20);
/// How long one answer may take under full memory pressure.
const ANSWER: Duration = Duration::from_secs(60);
/// Longest path of a unix socket, its ending zero byte included, is 108.
const LONGEST_SOCKET: usize = 107;
/// Values above this do not fit memcached's default item size of 1 MiB.
const LARGE_VALUE: Bytes = Bytes::kib(1000);

/// A running server.
#[derive(Debug)]
pub(super) struct Server {
    running: Running,
    endpoint: Endpoint,
    /// `stats settings`, as read back.
    settings: Stats,
    version: String,
    /// Holds the socket where the scratch folder's path is too long for one.
    _folder: Option<TempDir>,
}

impl Server {
    /// Starts a server and waits until it answers with its own process number.
    pub(super) async fn start(
        config: &MemcachedWorkload,
        context: &Context<'_>,
    ) -> Result<Self, WorkloadError> {
        let program = context.tools.find(ToolName::Memcached)?;
        let (endpoint, folder) = endpoint(config.socket, context)?;
        let mut command = Command::new(program).args(arguments(config, &endpoint)?);
        context.place(&mut command, Role::Server);
        let mut running = spawn(&command).await?;
        let first = wait_until_ready(&mut running, &endpoint, context).await?;
        let settings = ask(&endpoint, |admin| admin.stats("settings")).await?;
        let mut server = Server {
            running,
            endpoint,
            settings,
            version: first.text("version").unwrap_or("unknown").to_owned(),
            _folder: folder,
        };
        server.check(config).await?;
        Ok(server)
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(super) fn settings(&self) -> &Stats {
        &self.settings
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// The server's counters now.
    pub(super) async fn counters(&mut self) -> Result<Stats, WorkloadError> {
        self.check_alive().await?;
        match ask(&self.endpoint, Admin::counters).await {
            Ok(stats) => Ok(stats),
            // A connection that breaks may be the first sign of the server's death.
            Err(error) => {
                tokio::time::sleep(Duration::from_millis(200)).await;
                self.check_alive().await?;
                Err(error)
            }
        }
    }

    /// Fails if the server has ended, with what it said.
    pub(super) async fn check_alive(&mut self) -> Result<(), WorkloadError> {
        match self.running.has_ended() {
            None => Ok(()),
            Some(_) => Err(died(&mut self.running).await),
        }
    }

    /// Waits for the server's unexpected end.
    pub(super) async fn death(&mut self) -> WorkloadError {
        self.running.ended().await;
        died(&mut self.running).await
    }

    pub(super) async fn stop(self) -> Result<Output, WorkloadError> {
        Ok(self.running.stop(Duration::from_secs(5)).await?)
    }

    /// The settings in force must be those asked for: memcached takes nonsense silently.
    async fn check(&mut self, config: &MemcachedWorkload) -> Result<(), WorkloadError> {
        let asked = [
            ("maxbytes", megabytes(config.memory) << 20),
            ("maxconns", config.max_connections.into()),
            ("num_threads", config.threads.into()),
        ];
        for (name, wanted) in asked {
            let seen = self.settings.text(name).unwrap_or("nothing");
            if seen != wanted.to_string() {
                return Err(WorkloadError::Refused(format!(
                    "memcached {} took {name} as {seen} where {wanted} was asked; it would measure another set-up. \
                     Check the limits of open files and this memcached's options",
                    self.version
                )));
            }
        }
        let endpoint = self.endpoint.clone();
        if config.load.protocol == Protocol::Binary
            && !blocking(move || speaks_binary(&endpoint, Duration::from_secs(10))).await?
        {
            return Err(WorkloadError::Refused(format!(
                "memcached {} does not answer the binary protocol; write protocol = \"text\" under \
                 [workload.memcached.load], for both arms",
                self.version
            )));
        }
        Ok(())
    }
}

async fn died(running: &mut Running) -> WorkloadError {
    let ended = running.has_ended().expect("asked only after the end");
    let said = running.last_words().await.1.text();
    let evidence = if said.trim().is_empty() {
        "it said nothing; look for an OOM kill in the memory events of its cgroup".to_owned()
    } else {
        said.trim().chars().take(500).collect()
    };
    WorkloadError::Died { what: "memcached".to_owned(), ended, evidence }
}

const fn megabytes(memory: Bytes) -> u64 {
    memory.0 >> 20
}

fn arguments(config: &MemcachedWorkload, endpoint: &Endpoint) -> Result<Vec<String>, WorkloadError> {
    let mut all: Vec<String> = Vec::new();
    let mut put = |name: &str, value: String| all.extend([name.to_owned(), value]);
    put("-m", megabytes(config.memory).to_string());
    put("-t", config.threads.to_string());
    put("-c", config.max_connections.to_string());
    match endpoint {
        Endpoint::Unix(path) => {
            put("-s", path.to_string_lossy().into_owned());
            put("-a", "0700".to_owned());
        }
        Endpoint::Tcp(address) => {
            put("-l", address.ip().to_string());
            put("-p", address.port().to_string());
            put("-U", "0".to_owned());
        }
    }
    if config.load.value > LARGE_VALUE {
        put("-I", "2m".to_owned());
    }
    if rustix::process::geteuid().is_root() {
        // It refuses to run as root unless told to be somebody; staying root keeps the
        // socket folder private and lets the kernel end it when this process dies.
        put("-u", own_name()?);
    }
    Ok(all)
}

/// The name of user 0, which need not be `root` nor exist in a container.
fn own_name() -> Result<String, WorkloadError> {
    let path = PathBuf::from("/etc/passwd");
    let text =
        std::fs::read_to_string(&path).map_err(|source| WorkloadError::Io { what: "read", path, source })?;
    let name = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == "0").then(|| name.to_owned())
    });
    name.ok_or_else(|| {
        WorkloadError::Refused(
            "/etc/passwd names no user with number 0, and memcached refuses to run as root without a user's name; \
             add the line root:x:0:0:root:/root:/bin/sh or run as another user"
                .to_owned(),
        )
    })
}

fn endpoint(socket: Socket, context: &Context<'_>) -> Result<(Endpoint, Option<TempDir>), WorkloadError> {
    match socket {
        Socket::Tcp => {
            let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let free = TcpListener::bind(loopback).and_then(|listener| listener.local_addr());
            let address = free.map_err(|source| WorkloadError::Io {
                what: "find a free port on the loopback address of",
                path: "127.0.0.1".into(),
                source,
            })?;
            Ok((Endpoint::Tcp(address), None))
        }
        Socket::Unix => {
            let wished = context.scratch.join("memcached.socket");
            if wished.as_os_str().len() <= LONGEST_SOCKET {
                remove_stale(&wished)?;
                return Ok((Endpoint::Unix(wished), None));
            }
            // The folder is made for its owner alone.
            let folder = tempfile::Builder::new().prefix("run-bench-").tempdir();
            let folder = folder.map_err(|source| WorkloadError::Io {
                what: "make a folder for a socket in",
                path: std::env::temp_dir(),
                source,
            })?;
            Ok((Endpoint::Unix(folder.path().join("memcached.socket")), Some(folder)))
        }
    }
}

/// The folder is private to this trial, so what lies there is a leftover of a killed one.
fn remove_stale(path: &std::path::Path) -> Result<(), WorkloadError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => {
            Err(WorkloadError::Io { what: "remove the stale socket", path: path.to_path_buf(), source })
        }
    }
}

async fn wait_until_ready(
    running: &mut Running,
    endpoint: &Endpoint,
    context: &Context<'_>,
) -> Result<Stats, WorkloadError> {
    let begin = Instant::now();
    let mut evidence = "nothing listens yet".to_owned();
    while begin.elapsed() < READY {
        if context.cancel.is_cancelled() {
            return Err(WorkloadError::Cancelled);
        }
        if running.has_ended().is_some() {
            return Err(died(running).await);
        }
        match ask(endpoint, |admin| admin.stats("")).await {
            Ok(stats) if stats.number("pid") == Some(running.pid().into()) => return Ok(stats),
            Ok(stats) => {
                // It holds the socket and will not go away by waiting.
                let pid = stats.text("pid").unwrap_or("unknown");
                evidence = format!("another server answers there, with pid {pid}");
                break;
            }
            Err(error) => evidence = error.to_string(),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(WorkloadError::NotReady {
        what: "memcached".to_owned(),
        after: Nanos::from(begin.elapsed()),
        evidence,
    })
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, WorkloadError> {
    let done = tokio::task::spawn_blocking(work).await.expect("the question does not panic");
    done.map_err(|source| WorkloadError::Io { what: "ask memcached at", path: "its socket".into(), source })
}

/// Asks on a connection of its own, in a thread that may be abandoned.
async fn ask(
    endpoint: &Endpoint,
    question: impl FnOnce(&mut Admin) -> io::Result<Stats> + Send + 'static,
) -> Result<Stats, WorkloadError> {
    let endpoint = endpoint.clone();
    blocking(move || question(&mut Admin::connect(&endpoint, ANSWER)?)).await
}
