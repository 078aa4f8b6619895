//! One thread's event loop: it sends, waits and digests until all is answered.
//!
//! Even a single connection is waited for with epoll: a reader that blocks in
//! `recv` on a unix socket is also woken whenever the server takes a request off
//! it, which costs more than the extra call.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll;

use super::connection::Connection;
use super::connection::Wants;
use super::tally::Tally;

/// Longest sleep before the clock and the stop flag are looked at again.
const NAP: Duration = Duration::from_millis(200);
/// Events taken from the kernel at a time.
const EVENTS: usize = 64;

/// What a thread shares with the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) origin: Instant,
    /// When the run's time is up, nanoseconds since `origin`.
    pub(super) until: Option<u64>,
    /// Another thread failed.
    pub(super) stop: &'a AtomicBool,
    /// Answers so far, of all threads.
    pub(super) progress: &'a AtomicU64,
}

impl Shared<'_> {
    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

/// Drives the connections of one thread to their end.
pub(super) fn drive(mut connections: Vec<Connection>, shared: Shared<'_>) -> io::Result<Tally> {
    let mut tally = Tally::new();
    let mut watch = Watch::new(connections.len())?;
    for (at, connection) in connections.iter_mut().enumerate() {
        watch.add(at, connection)?;
        connection.send(shared.now(), &mut tally)?;
        watch.adjust(at, connection)?;
    }
    while watch.open > 0 {
        let ready = watch.wait()?;
        for place in 0..ready {
            let at = watch.ready(place);
            let connection = &mut connections[at];
            connection.receive()?;
            turn(connection, shared, &mut tally)?;
            watch.adjust(at, connection)?;
        }
        if ready == 0 {
            // A nap has passed: let every connection look at the clock.
            for (at, connection) in connections.iter_mut().enumerate() {
                turn(connection, shared, &mut tally)?;
                watch.adjust(at, connection)?;
            }
        }
    }
    Ok(tally)
}

/// After something was read, or a nap: judge, refill, send.
fn turn(connection: &mut Connection, shared: Shared<'_>, tally: &mut Tally) -> io::Result<()> {
    let now = shared.now();
    let answered = connection.digest(now, tally)?;
    if answered > 0 {
        shared.progress.fetch_add(answered, Ordering::Relaxed);
    }
    if shared.until.is_some_and(|end| now >= end) || shared.stop.load(Ordering::Relaxed) {
        connection.stop();
    }
    connection.send(shared.now(), tally)
}

/// An epoll set and what each connection is registered for.
struct Watch {
    epoll: OwnedFd,
    registered: Vec<Wants>,
    /// Connections that still want something.
    open: usize,
    events: Vec<epoll::Event>,
}

impl Watch {
    fn new(connections: usize) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let registered = vec![Wants::Read; connections];
        Ok(Watch { epoll, registered, open: connections, events: Vec::with_capacity(EVENTS) })
    }

    fn add(&self, at: usize, connection: &Connection) -> io::Result<()> {
        let data = epoll::EventData::new_u64(at as u64);
        Ok(epoll::add(self.epoll.as_fd(), connection.fd(), data, epoll::EventFlags::IN)?)
    }

    /// Registers the connection for what it wants now, if that has changed.
    fn adjust(&mut self, at: usize, connection: &Connection) -> io::Result<()> {
        let wants = connection.wants();
        if wants == self.registered[at] {
            return Ok(());
        }
        let flags = match wants {
            Wants::Read => epoll::EventFlags::IN,
            Wants::ReadWrite => epoll::EventFlags::IN | epoll::EventFlags::OUT,
            Wants::Nothing => {
                self.open -= 1;
                epoll::EventFlags::empty()
            }
        };
        self.registered[at] = wants;
        let data = epoll::EventData::new_u64(at as u64);
        Ok(epoll::modify(self.epoll.as_fd(), connection.fd(), data, flags)?)
    }

    /// Waits; returns how many connections are ready, none after a nap.
    fn wait(&mut self) -> io::Result<usize> {
        self.events.clear();
        let nap = Timespec { tv_sec: 0, tv_nsec: NAP.subsec_nanos().into() };
        match epoll::wait(self.epoll.as_fd(), spare_capacity(&mut self.events), Some(&nap)) {
            Ok(ready) => Ok(ready),
            Err(rustix::io::Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// The place of a ready connection.
    fn ready(&self, place: usize) -> usize {
        self.events[place].data.u64() as usize
    }
}
