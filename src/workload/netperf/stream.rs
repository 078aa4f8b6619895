//! The built-in driver `stream`: pairs of processes, one sends and one receives,
//! over TCP or over SCTP one-to-many sockets.
//!
//! Bytes are counted by the receivers over a common interval, so that what lies
//! in socket buffers at the end is not counted as carried.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::AddressFamily;
use rustix::net::RecvFlags;
use rustix::net::SendFlags;
use rustix::net::SocketType;
use rustix::net::ipproto;
use rustix::net::sockopt;
use rustix::net::sockopt::Timeout;
use serde::Deserialize;
use serde::Serialize;

use crate::workload::builtin;
use crate::workload::builtin::Crew;
use crate::workload::builtin::DriverFault;
use crate::workload::builtin::Slot;
use crate::workload::builtin::Task;
use crate::workload::builtin::Work;

/// The driver's name on the command line.
pub const DRIVER: &str = "stream";
/// What a driver's refusal begins with where the kernel has no such protocol.
pub(super) const NO_PROTOCOL: &str = "this kernel has no ";
/// How long a blocked end waits before it looks whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Result words: the receiver's port, the size of a send.
const PORT: usize = 0;
pub(super) const MESSAGE: usize = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Transport {
    Tcp,
    /// One socket of type SEQPACKET for all associations.
    SctpMany,
    /// One association, as a connection.
    Sctp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamWork {
    pub(super) transport: Transport,
    /// Bytes of a send; the socket's send buffer when none is given.
    pub(super) message: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) crew: Crew,
    pub(super) work: StreamWork,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) seconds: f64,
    /// Receiver and sender of each pair in turn.
    pub(super) slots: Vec<Slot>,
}

/// The driver process.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    builtin::answer::<Request, StreamWork, Answer>(arguments, |request| {
        // Asked once here, so that a missing protocol is one clear answer.
        request.work.transport.socket()?;
        let (slots, elapsed) = request.crew.run(&request.work)?;
        Ok(Answer { seconds: elapsed.as_secs_f64(), slots })
    })
}

impl Transport {
    fn socket(self) -> Result<OwnedFd, DriverFault> {
        let (kind, protocol) = match self {
            Transport::Tcp => (SocketType::STREAM, ipproto::TCP),
            Transport::SctpMany => (SocketType::SEQPACKET, ipproto::SCTP),
            Transport::Sctp => (SocketType::STREAM, ipproto::SCTP),
        };
        let absent = [Errno::PROTONOSUPPORT, Errno::SOCKTNOSUPPORT, Errno::AFNOSUPPORT];
        match rustix::net::socket(AddressFamily::INET, kind, Some(protocol)) {
            Err(error) if absent.contains(&error) => Err(DriverFault::Refused(format!(
                "{NO_PROTOCOL}SCTP ({error}); load the module sctp, or run on a kernel built with CONFIG_IP_SCTP"
            ))),
            result => result.map_err(DriverFault::call("make a socket")),
        }
    }
}

/// An end of a pair.
#[derive(Debug)]
pub(super) enum End {
    Receiver(OwnedFd),
    Sender { socket: OwnedFd, to: SocketAddrV4, message: usize },
}

impl Work for StreamWork {
    const NAME: &'static str = DRIVER;
    type Ready = End;

    fn prepare(&self, task: &Task) -> Result<End, DriverFault> {
        let socket = self.transport.socket()?;
        for which in [Timeout::Recv, Timeout::Send] {
            sockopt::set_socket_timeout(&socket, which, Some(LOOK))
                .map_err(DriverFault::call("set a socket's timeout"))?;
        }
        if task.index().is_multiple_of(2) {
            let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
            rustix::net::bind(&socket, &any).map_err(DriverFault::call("bind a socket"))?;
            rustix::net::listen(&socket, 1).map_err(DriverFault::call("listen on a socket"))?;
            let own =
                rustix::net::getsockname(&socket).map_err(DriverFault::call("read a socket's address"))?;
            let own = SocketAddrV4::try_from(own).map_err(DriverFault::call("read a socket's address"))?;
            task.set_result(PORT, own.port().into());
            return Ok(End::Receiver(socket));
        }
        let port = task.peer(task.index() - 1).await_result(PORT);
        let port = port.and_then(|port| u16::try_from(port).ok());
        let port = port.ok_or_else(|| DriverFault::Refused("the receiver is gone".to_owned()))?;
        let message = match self.message {
            Some(bytes) => bytes as usize,
            // The kernel reports twice what the application may use, as netperf sees it too.
            None => sockopt::socket_send_buffer_size(&socket)
                .map_err(DriverFault::call("read a buffer's size"))?,
        };
        task.set_result(MESSAGE, message as u64);
        let to = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        if self.transport != Transport::SctpMany {
            rustix::net::connect(&socket, &to).map_err(DriverFault::call("connect to the receiver"))?;
        }
        Ok(End::Sender { socket, to, message })
    }

    fn work(&self, end: End, task: &Task) -> Result<(), DriverFault> {
        match end {
            End::Receiver(socket) if self.transport == Transport::SctpMany => receive(&socket, task),
            End::Receiver(listener) => {
                let socket = loop {
                    match rustix::net::accept(&listener) {
                        Ok(socket) => break socket,
                        Err(Errno::AGAIN | Errno::INTR) if !task.stopped() => {}
                        Err(_) if task.stopped() => return Ok(()),
                        Err(error) => return Err(DriverFault::call("accept a connection")(error)),
                    }
                };
                sockopt::set_socket_timeout(&socket, Timeout::Recv, Some(LOOK))
                    .map_err(DriverFault::call("set a socket's timeout"))?;
                receive(&socket, task)
            }
            End::Sender { socket, to, message } => self.send(&socket, to, message, task),
        }
    }
}

impl StreamWork {
    fn send(
        &self,
        socket: &OwnedFd,
        to: SocketAddrV4,
        message: usize,
        task: &Task,
    ) -> Result<(), DriverFault> {
        let bytes = vec![b'x'; message];
        while !task.stopped() {
            let sent = match self.transport {
                // The first send makes the association.
                Transport::SctpMany => rustix::net::sendto(socket, &bytes, SendFlags::NOSIGNAL, &to),
                Transport::Tcp | Transport::Sctp => rustix::net::send(socket, &bytes, SendFlags::NOSIGNAL),
            };
            match sent {
                Ok(length) => task.add(length as u64),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) if task.stopped() => {}
                Err(error) => return Err(DriverFault::call("send")(error)),
            }
        }
        Ok(())
    }
}

fn receive(socket: &OwnedFd, task: &Task) -> Result<(), DriverFault> {
    let mut buffer = vec![0; 1 << 18];
    while !task.stopped() {
        match rustix::net::recv(socket, &mut buffer[..], RecvFlags::empty()) {
            Ok((0, _)) if !task.stopped() => {
                return Err(DriverFault::Refused("the sender closed the connection".to_owned()));
            }
            Ok((length, _)) => task.add(length as u64),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) if task.stopped() => {}
            Err(error) => return Err(DriverFault::call("receive")(error)),
        }
    }
    Ok(())
}
