//! netserver: ours, on a port of its own, and proven to be ours.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use crate::config::Role;
use crate::exec;
use crate::exec::Command;
use crate::exec::Running;
use crate::units::Nanos;
use crate::workload::Context;
use crate::workload::WorkloadError;

const PATIENCE: Duration = Duration::from_secs(10);
/// The state of a listening socket in `/proc/PID/net/tcp`.
const LISTENING: &str = "0A";

#[derive(Debug)]
pub(super) struct Server {
    pub(super) running: Running,
    pub(super) port: u16,
}

impl Server {
    /// Starts netserver and waits until the listening socket of the port is its own.
    pub(super) async fn start(
        path: &Path,
        prefix: &[OsString],
        ctx: &Context<'_>,
    ) -> Result<Self, WorkloadError> {
        let port = free_port()?;
        let mut command = Command::new("");
        command.argv = prefix.to_vec();
        command.argv.extend([path.into()]);
        let mut command = command.args(["-D", "-4", "-L", "127.0.0.1", "-p"]).arg(port.to_string());
        // It writes its log into the current folder or /tmp.
        command.working_directory = Some(ctx.scratch.to_owned());
        ctx.place(&mut command, Role::Server);
        let mut running = exec::spawn(&command).await?;
        let by = Instant::now() + PATIENCE;
        loop {
            if let Some(ended) = running.has_ended() {
                let (stdout, stderr) = running.last_words().await;
                let evidence = format!("{}{}", stdout.text(), stderr.text());
                return Err(WorkloadError::Died { what: "netserver".to_owned(), ended, evidence });
            }
            if owns_listener(running.pid(), port) {
                return Ok(Server { running, port });
            }
            if ctx.cancel.is_cancelled() {
                return Err(WorkloadError::Cancelled);
            }
            if Instant::now() > by {
                let (what, after) = ("netserver".to_owned(), Nanos::from(PATIENCE));
                let evidence =
                    format!("no listening socket on port {port} belongs to process {}", running.pid());
                return Err(WorkloadError::NotReady { what, after, evidence });
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A port that nobody has at this moment; the proof of ownership catches who takes it since.
fn free_port() -> Result<u16, WorkloadError> {
    let address = (Ipv4Addr::LOCALHOST, 0);
    let listener = TcpListener::bind(address).and_then(|listener| listener.local_addr());
    let error = |source| WorkloadError::Io { what: "bind", path: PathBuf::from("127.0.0.1:0"), source };
    Ok(listener.map_err(error)?.port())
}

/// Whether the process has the listening socket of the port, in its own network.
pub(crate) fn owns_listener(pid: u32, port: u16) -> bool {
    let Ok(table) = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")) else {
        return false;
    };
    let Some(inode) = listener_inode(&table, port) else {
        return false;
    };
    let link = format!("socket:[{inode}]");
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    open.flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to.as_os_str() == link.as_str()))
}

/// The inode of the socket that listens on 127.0.0.1:`port`, from the text of `/proc/net/tcp`.
fn listener_inode(table: &str, port: u16) -> Option<u64> {
    let address = format!("{:08X}:{port:04X}", u32::from_ne_bytes(Ipv4Addr::LOCALHOST.octets()));
    table.lines().find_map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let ours = cells.get(1) == Some(&address.as_str()) && cells.get(3) == Some(&LISTENING);
        if ours { cells.get(9)?.parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_known_by_address_and_state() {
        let table = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1
   1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 4243 1
";
        assert_eq!(listener_inode(table, 8080), Some(4242));
        assert_eq!(listener_inode(table, 8081), None);
        assert_eq!(listener_inode("", 8080), None);
    }

    #[test]
    fn only_the_owner_owns() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(owns_listener(std::process::id(), port));
        assert!(!owns_listener(1, port));
        drop(listener);
        assert!(!owns_listener(std::process::id(), port));
    }
}
