//! `[workload.netperf]`: streams between pairs of processes.

use serde::{Deserialize, Serialize};

use super::memcached::Driver;
use super::section::check_range;
use crate::config::error::Problem;
use crate::units::{Bytes, Nanos};

/// netperf's tests that we run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum NetperfTest {
    SctpStreamMany,
    SctpStream,
    TcpStream,
    TcpRr,
    UdpRr,
}

impl NetperfTest {
    pub fn name(self) -> &'static str {
        match self {
            NetperfTest::SctpStreamMany => "SCTP_STREAM_MANY",
            NetperfTest::SctpStream => "SCTP_STREAM",
            NetperfTest::TcpStream => "TCP_STREAM",
            NetperfTest::TcpRr => "TCP_RR",
            NetperfTest::UdpRr => "UDP_RR",
        }
    }

    pub fn is_request_response(self) -> bool {
        matches!(self, NetperfTest::TcpRr | NetperfTest::UdpRr)
    }

    pub fn is_sctp(self) -> bool {
        matches!(self, NetperfTest::SctpStreamMany | NetperfTest::SctpStream)
    }
}

/// Pairs of a client and a server process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NetperfWorkload {
    pub test: NetperfTest,
    /// Pairs that run at the same time.
    pub pairs: u32,
    pub duration: Nanos,
    /// Size of a send; netperf's default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Bytes>,
    #[serde(default)]
    pub driver: Driver,
    /// Pin each pair's processes to processors in turn.
    #[serde(default)]
    pub pin: bool,
}

impl NetperfWorkload {
    pub fn validate(&self, problems: &mut Vec<Problem>) {
        check_range("workload.netperf.pairs", self.pairs.into(), 1, 4096, problems);
        check_range("workload.netperf.duration", self.duration.0, 100_000_000, 86_400_000_000_000, problems);
        if let Some(message) = self.message {
            check_range("workload.netperf.message", message.0, 1, 1 << 24, problems);
        }
    }
}
