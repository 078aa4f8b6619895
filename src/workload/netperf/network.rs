//! A network of one's own: a name space with nothing but a loopback device, so
//! that no foreign traffic, firewall or server is in the way.
//!
//! A holder process makes it and keeps it; others enter it by the holder's
//! number and become their program.

use std::ffi::OsString;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command as StdCommand;
use std::process::ExitCode;
use std::time::Duration;
use std::time::Instant;

use rustix::net::AddressFamily;
use rustix::net::RecvFlags;
use rustix::net::SendFlags;
use rustix::net::SocketType;
use rustix::thread::LinkNameSpaceType;

use crate::exec;
use crate::exec::Command;
use crate::exec::Running;
use crate::host::syscall;
use crate::workload::Context;
use crate::workload::WorkloadError;
use crate::workload::builtin::DriverFault;
use crate::workload::driver;

/// Drivers' names on the command line.
pub const HOLD: &str = "network-hold";
pub const ENTER: &str = "network-enter";
/// What the holder prints when the network is up.
const UP: &str = "up";
/// How long the holder may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The network that the pairs talk over.
#[derive(Debug)]
pub(super) enum Network {
    Private(Running),
    /// The host's own loopback, and why.
    Host(String),
}

impl Network {
    /// A private network where it is allowed, else the host's.
    pub(super) async fn open(ctx: &Context<'_>) -> Result<Self, WorkloadError> {
        let mut command = Command::new(ctx.own_executable).args([driver::NAME, HOLD]);
        command.die_with_parent = true;
        command.enter = Some(ctx.own_executable.to_owned());
        let mut holder = exec::spawn(&command).await?;
        let by = Instant::now() + PATIENCE;
        loop {
            let (stdout, stderr) = holder.output_so_far();
            if stdout.text().trim() == UP {
                return Ok(Network::Private(holder));
            }
            if holder.has_ended().is_some() || Instant::now() > by {
                return Ok(Network::Host(stderr.text().trim().to_owned()));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// What a program is executed by to be in this network.
    pub(super) fn prefix(&self, ctx: &Context<'_>) -> Vec<OsString> {
        match self {
            Network::Host(_) => Vec::new(),
            Network::Private(holder) => vec![
                ctx.own_executable.into(),
                driver::NAME.into(),
                ENTER.into(),
                format!("/proc/{}/ns/net", holder.pid()).into(),
            ],
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Network::Private(_) => "private".to_owned(),
            Network::Host(reason) => format!("host: {reason}"),
        }
    }

    pub(super) async fn close(self) -> Result<(), WorkloadError> {
        if let Network::Private(holder) = self {
            holder.stop(Duration::from_millis(500)).await?;
        }
        Ok(())
    }
}

/// The holder: makes the network, says so, and waits to be ended.
pub fn hold(_: Vec<OsString>) -> ExitCode {
    if let Err(fault) = make() {
        eprintln!("run-bench {} {HOLD}: {fault}", driver::NAME);
        return ExitCode::FAILURE;
    }
    println!("{UP}");
    loop {
        std::thread::park();
    }
}

fn make() -> Result<(), DriverFault> {
    syscall::unshare_network().map_err(DriverFault::call("make a network name space"))?;
    raise_loopback().map_err(DriverFault::call("raise the loopback device"))
}

/// The loopback device is the first of every network.
const LOOPBACK: u32 = 1;

/// Raises `lo` and gives it one address that is none of the loopback net: resolvers
/// asked for configured families (AI_ADDRCONFIG) find none where all are loopback.
fn raise_loopback() -> std::io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const RTM_NEWADDR: u16 = 20;
    const IFF_UP: u32 = 1;
    const IFA_LOCAL: u16 = 2;
    // `struct ifinfomsg`: family and type, index, flags, mask of flags to change.
    let link = [0, LOOPBACK, IFF_UP, IFF_UP].map(u32::to_ne_bytes).concat();
    request(RTM_NEWLINK, 0, &link)?;
    // `struct ifaddrmsg`: family, prefix length, flags, scope, index; then one attribute.
    let mut address = vec![libc::AF_INET as u8, 32, 0, 0];
    address.extend(LOOPBACK.to_ne_bytes());
    address.extend(8u16.to_ne_bytes());
    address.extend(IFA_LOCAL.to_ne_bytes());
    // Reserved for documentation, so that no real host has it.
    address.extend(Ipv4Addr::new(192, 0, 2, 1).octets());
    const NLM_F_CREATE: u16 = 0x400;
    request(RTM_NEWADDR, NLM_F_CREATE, &address)
}

/// One request of <linux/rtnetlink.h>, and its acknowledgement.
fn request(kind: u16, flags: u16, body: &[u8]) -> std::io::Result<()> {
    const HEADER: usize = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 5;
    let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend((REQUEST_AND_ACKNOWLEDGE | flags).to_ne_bytes());
    // Sequence and port.
    message.extend([0; 8]);
    message.extend(body);
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0; 256];
    let (length, _) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // NLMSG_ERROR carries a negative errno behind its header; 0 acknowledges.
    let code = answer.get(HEADER..HEADER + 4).filter(|_| length >= HEADER + 4);
    let code = code.and_then(|bytes| bytes.try_into().ok()).map_or(-libc::EPROTO, i32::from_ne_bytes);
    if code == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(-code)) }
}

/// Enters a network and becomes a program; returns only when that failed.
pub fn enter(arguments: Vec<OsString>) -> ExitCode {
    let fault = match arguments.split_first() {
        Some((name_space, [program, rest @ ..])) => {
            join(&PathBuf::from(name_space)).err().unwrap_or_else(|| {
                let source = StdCommand::new(program).args(rest).exec();
                DriverFault::File { what: "start", path: program.into(), source }
            })
        }
        _ => DriverFault::Request("a name space and a program are needed".to_owned()),
    };
    eprintln!("run-bench {} {ENTER}: {fault}", driver::NAME);
    ExitCode::FAILURE
}

fn join(name_space: &PathBuf) -> Result<(), DriverFault> {
    let file = File::open(name_space).map_err(DriverFault::file("open", name_space))?;
    rustix::thread::move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(DriverFault::call("enter the network name space"))
}
