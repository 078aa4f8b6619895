//! memcached's own words about itself: `stats`, `stats settings`, `stats items`.

use std::collections::BTreeMap;
use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::loader::Endpoint;
use crate::units::Nanos;

/// Names and values as the server prints them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats(BTreeMap<String, String>);

impl Stats {
    /// Reads the lines `STAT name value` up to `END`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all = BTreeMap::new();
        for line in text.lines().map(str::trim_end) {
            if line == "END" {
                return Ok(Stats(all));
            }
            let rest = line.strip_prefix("STAT ").ok_or_else(|| format!("unexpected line {line:?}"))?;
            let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
            all.insert(name.to_owned(), value.to_owned());
        }
        Err("the list does not end".to_owned())
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// The sum over all slab classes of `items:CLASS:name`.
    pub fn items_sum(&self, name: &str) -> u64 {
        let of_class = |key: &str| key.starts_with("items:") && key.rsplit(':').next() == Some(name);
        self.0
            .iter()
            .filter(|(key, _)| of_class(key))
            .filter_map(|(_, v)| v.parse().ok())
            .fold(0, u64::saturating_add)
    }

    /// Processor time of the server so far.
    pub fn processor_time(&self) -> Option<Nanos> {
        let seconds = |name| self.text(name)?.parse::<f64>().ok();
        Some(Nanos::from_seconds_f64(seconds("rusage_user")? + seconds("rusage_system")?))
    }

    /// The lines again, for the raw folder.
    pub fn lines(&self) -> String {
        self.0.iter().map(|(name, value)| format!("STAT {name} {value}\n")).collect()
    }

    fn extend(&mut self, other: Stats) {
        self.0.extend(other.0);
    }
}

/// A connection for questions, apart from the load.
pub(super) struct Admin {
    stream: BufReader<Stream>,
}

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Stream {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.write_all(bytes),
            Stream::Tcp(stream) => stream.write_all(bytes),
        }
    }
}

fn invalid(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}

impl Admin {
    /// Connects; every answer must come within `patience`.
    pub(super) fn connect(endpoint: &Endpoint, patience: Duration) -> io::Result<Self> {
        let stream = match endpoint {
            Endpoint::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Stream::Unix(stream)
            }
            Endpoint::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, patience)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Stream::Tcp(stream)
            }
        };
        Ok(Admin { stream: BufReader::new(stream) })
    }

    /// Asks `stats`, or `stats what`.
    pub(super) fn stats(&mut self, what: &str) -> io::Result<Stats> {
        self.stream.get_mut().write_all(format!("stats {what}").trim_end().as_bytes())?;
        self.stream.get_mut().write_all(b"\r\n")?;
        let mut text = String::new();
        loop {
            let before = text.len();
            if self.stream.read_line(&mut text)? == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection"));
            }
            let line = text[before..].trim_end();
            if line == "END" {
                return Stats::parse(&text).map_err(invalid);
            }
            if !line.starts_with("STAT ") {
                return Err(invalid(format!("the answer to stats holds {line:?}")));
            }
        }
    }

    /// `stats` and `stats items` in one.
    pub(super) fn counters(&mut self) -> io::Result<Stats> {
        let mut all = self.stats("")?;
        all.extend(self.stats("items")?);
        Ok(all)
    }
}

/// Whether the server answers the binary protocol: a no-op on a connection of its own.
pub(super) fn speaks_binary(endpoint: &Endpoint, patience: Duration) -> io::Result<bool> {
    const NOOP: u8 = 0x0a;
    let mut admin = Admin::connect(endpoint, patience)?;
    let mut request = [0; 24];
    (request[0], request[1]) = (0x80, NOOP);
    admin.stream.get_mut().write_all(&request)?;
    let mut answer = [0; 24];
    match admin.stream.read_exact(&mut answer) {
        Ok(()) => Ok(answer[0] == 0x81 && answer[1] == NOOP),
        // A text-only server closes the connection or says ERROR and waits.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionReset) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_server_prints() {
        let text = "STAT pid 4711\r\nSTAT rusage_user 1.500000\r\nSTAT rusage_system 0.250000\r\n\
                    STAT items:3:outofmemory 2\r\nSTAT items:5:outofmemory 40\r\nSTAT items:5:evicted 7\r\n\
                    STAT inter\r\nEND\r\n";
        let stats = Stats::parse(text).unwrap();
        assert_eq!(
            (stats.number("pid"), stats.text("inter"), stats.number("inter")),
            (Some(4711), Some(""), None)
        );
        assert_eq!((stats.items_sum("outofmemory"), stats.items_sum("evicted")), (42, 7));
        assert_eq!(stats.processor_time(), Some(Nanos::from_millis(1750)));
        assert_eq!(stats.number("absent"), None);
    }

    #[test]
    fn sums_beyond_64_bits_stay_at_their_end() {
        let text = format!("STAT items:1:evicted {0}\nSTAT items:2:evicted {0}\nEND\n", u64::MAX);
        assert_eq!(Stats::parse(&text).unwrap().items_sum("evicted"), u64::MAX);
    }

    #[test]
    fn refuses_what_is_no_list() {
        assert!(Stats::parse("ERROR\r\n").is_err());
        assert!(Stats::parse("STAT pid 1\r\n").is_err());
        assert!(Stats::parse("").is_err());
    }
}
