//! One connection: what is under way on it, and its buffers.

use std::collections::VecDeque;
use std::io;
use std::io::IoSlice;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

use rustix::net::RecvFlags;
use rustix::net::SendAncillaryBuffer;
use rustix::net::SendFlags;

use super::keys::ClientKeys;
use super::keys::Operation;
use super::request::PIECES;
use super::request::Requests;
use super::response::Answer;
use super::response::Step;
use super::response::next_answer;
use super::spec::Endpoint;
use super::spec::LoaderSpec;
use super::tally::Tally;
use crate::config::workload::Protocol;
use crate::config::workload::ValueBytes;

/// Bytes read at a time.
const READ: usize = 64 << 10;

#[derive(Debug)]
enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    fn connect(endpoint: &Endpoint) -> io::Result<Self> {
        match endpoint {
            Endpoint::Unix(path) => UnixStream::connect(path).map(Socket::Unix),
            Endpoint::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Unix(stream) => stream.as_fd(),
            Socket::Tcp(stream) => stream.as_fd(),
        }
    }
}

/// Requests that were sent together.
#[derive(Debug, Clone, Copy)]
struct Batch {
    sent: u64,
    left: usize,
}

/// Which operation comes next: so many SETs, so many GETs, and again.
#[derive(Debug, Clone, Copy)]
struct Ratio {
    sets: u32,
    gets: u32,
    place: u32,
}

impl Ratio {
    fn next(&mut self) -> Operation {
        let operation = if self.place < self.sets { Operation::Set } else { Operation::Get };
        self.place = if self.place + 1 == self.sets + self.gets { 0 } else { self.place + 1 };
        operation
    }
}

/// The bytes of random values: one byte of a random buffer changes at each SET,
/// and when all have, the buffer is drawn anew. So memtier does it.
#[derive(Debug)]
struct RandomValue {
    bytes: Vec<u8>,
    place: usize,
}

impl RandomValue {
    fn fill(bytes: &mut [u8], keys: &mut ClientKeys) {
        bytes.iter_mut().for_each(|byte| *byte = keys.random().next62() as u8);
    }

    fn next(&mut self, keys: &mut ClientKeys) -> &[u8] {
        self.bytes[self.place] = self.bytes[self.place].wrapping_add(1);
        self.place += 1;
        if self.place == self.bytes.len() {
            self.place = 0;
            RandomValue::fill(&mut self.bytes, keys);
        }
        &self.bytes
    }
}

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    /// Answers.
    Read,
    /// Room for the rest of its requests, too.
    ReadWrite,
    /// Nothing: all is sent and answered.
    Nothing,
}

#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    protocol: Protocol,
    keys: ClientKeys,
    random_value: Option<RandomValue>,
    ratio: Ratio,
    requests: Requests,
    pipeline: usize,
    /// Requests still to be made; none when time decides.
    remaining: Option<u64>,
    batches: VecDeque<Batch>,
    /// The kinds of the unanswered requests, in order.
    kinds: VecDeque<Operation>,
    received: Vec<u8>,
    filled: usize,
}

impl Connection {
    pub(super) fn open(spec: &LoaderSpec, mut keys: ClientKeys) -> io::Result<Self> {
        let size = spec.value_size();
        let mut value = vec![b'x'; size];
        if spec.values == ValueBytes::Random {
            RandomValue::fill(&mut value, &mut keys);
        }
        let pipeline = spec.pipeline as usize;
        Ok(Connection {
            socket: Socket::connect(&spec.endpoint)?,
            protocol: spec.protocol,
            requests: Requests::new(spec.protocol, &spec.key_prefix, &value, pipeline),
            random_value: (spec.values == ValueBytes::Random)
                .then_some(RandomValue { bytes: value, place: 0 }),
            keys,
            ratio: Ratio { sets: spec.ratio.0, gets: spec.ratio.1, place: 0 },
            pipeline,
            remaining: spec.requests_per_client(),
            batches: VecDeque::with_capacity(pipeline),
            kinds: VecDeque::with_capacity(pipeline),
            received: vec![0; READ + size],
            filled: 0,
        })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }

    pub(super) fn wants(&self) -> Wants {
        if !self.requests.is_empty() {
            Wants::ReadWrite
        } else if self.kinds.is_empty() {
            Wants::Nothing
        } else {
            Wants::Read
        }
    }

    /// No further requests: the time is up.
    pub(super) fn stop(&mut self) {
        self.remaining = Some(0);
    }

    /// Fills the pipeline and sends it. A part that the socket does not take is sent later.
    pub(super) fn send(&mut self, now: u64, tally: &mut Tally) -> io::Result<()> {
        if self.requests.is_empty() {
            let room = self.pipeline - self.kinds.len();
            let count = self.remaining.map_or(room, |left| room.min(usize::try_from(left).unwrap_or(room)));
            if count == 0 {
                return Ok(());
            }
            self.render(count, tally);
            tally.first = tally.first.min(now);
            self.batches.push_back(Batch { sent: now, left: count });
            if let Some(left) = &mut self.remaining {
                *left -= count as u64;
            }
        }
        self.flush()
    }

    fn render(&mut self, count: usize, tally: &mut Tally) {
        for _ in 0..count {
            let operation = self.ratio.next();
            let key = self.keys.next(operation);
            let value = match (&mut self.random_value, operation) {
                (Some(value), Operation::Set) => Some(value.next(&mut self.keys)),
                _ => None,
            };
            let length = self.requests.push(operation, key, value);
            tally.command(operation).sent_bytes += length as u64;
            self.kinds.push_back(operation);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.requests.is_empty() {
            let mut pieces = [IoSlice::new(&[]); PIECES];
            let count = self.requests.pieces(&mut pieces);
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let mut control = SendAncillaryBuffer::default();
            match rustix::net::sendmsg(self.socket.fd(), &pieces[..count], &mut control, flags) {
                Ok(length) => self.requests.advance(length),
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads what has come, once and without waiting.
    pub(super) fn receive(&mut self) -> io::Result<()> {
        let room = &mut self.received[self.filled..];
        match rustix::net::recv(self.socket.fd(), room, RecvFlags::DONTWAIT) {
            Ok((0, _)) => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection"))
            }
            Ok((length, _)) => {
                self.filled += length;
                Ok(())
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Judges the answers that have come, as of `now`; returns how many.
    pub(super) fn digest(&mut self, now: u64, tally: &mut Tally) -> io::Result<u64> {
        let (mut at, mut answered) = (0, 0);
        let mut same = Same::default();
        while let Some(&operation) = self.kinds.front() {
            match next_answer(self.protocol, operation, &self.received[at..self.filled]) {
                Step::Answer { length, .. } if length > self.received.len() => {
                    return Err(garbled(format!("an answer of {length} bytes, longer than any value")));
                }
                Step::Answer { length, .. } if length > self.filled - at => break,
                Step::Answer { answer, length } => {
                    self.kinds.pop_front();
                    at += length;
                    answered += 1;
                    let sent = self.answered_batch();
                    same.add(operation, now.saturating_sub(sent), tally);
                    let command = tally.command(operation);
                    command.received_bytes += length as u64;
                    match answer {
                        Answer::Stored => {}
                        Answer::Hit => command.hits += 1,
                        Answer::Miss => command.misses += 1,
                        Answer::Refused(text) => tally.refuse(text),
                    }
                }
                Step::Incomplete => break,
                Step::Garbled(text) => return Err(garbled(text)),
            }
        }
        same.flush(tally);
        if self.kinds.is_empty() && at < self.filled {
            return Err(garbled(format!("{} bytes that answer no request", self.filled - at)));
        }
        self.received.copy_within(at..self.filled, 0);
        self.filled -= at;
        if answered > 0 {
            tally.arrived(now, answered);
        }
        Ok(answered)
    }

    /// Takes one request off the oldest batch; returns when that was sent.
    fn answered_batch(&mut self) -> u64 {
        let batch = self.batches.front_mut().expect("every unanswered request belongs to a batch");
        let sent = batch.sent;
        batch.left -= 1;
        if batch.left == 0 {
            self.batches.pop_front();
        }
        sent
    }
}

fn garbled(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Operations in a row of the same kind and latency, recorded at once.
#[derive(Debug, Default)]
struct Same {
    kind: Option<Operation>,
    latency: u64,
    count: u64,
}

impl Same {
    fn add(&mut self, operation: Operation, latency: u64, tally: &mut Tally) {
        if self.kind != Some(operation) || self.latency != latency {
            self.flush(tally);
            (self.kind, self.latency) = (Some(operation), latency);
        }
        self.count += 1;
    }

    fn flush(&mut self, tally: &mut Tally) {
        if let Some(operation) = self.kind {
            tally.command(operation).record(self.latency, self.count);
        }
        self.count = 0;
    }
}
