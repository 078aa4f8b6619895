//! netperf: streams between pairs of processes over a loopback device, by
//! netperf itself or by the built-in stream driver where netperf is absent or
//! was built without the test.
//!
//! The pairs run in a network name space of their own where that is allowed.

mod network;
mod pairs;
mod parse;
mod server;
mod stream;
mod streams;
#[cfg(test)]
mod tests;

pub use network::{ENTER, HOLD, enter, hold};
pub use parse::{Confidence, NetperfOutput, NetperfParseError, Rate, parse};
pub(crate) use server::owns_listener;
pub use stream::{DRIVER, main};

use self::network::Network;
use super::Context;
use super::Outcome;
use super::WorkloadError;
use crate::config::workload::Driver;
use crate::config::workload::NetperfTest;
use crate::config::workload::NetperfWorkload;
use crate::exec::ToolName;
use crate::exec::Tools;
use crate::metric::Measurement;
use crate::metric::measurement;
use crate::store::Violation;

/// Runs all pairs once.
pub async fn run(config: &NetperfWorkload, ctx: &Context<'_>) -> Result<Outcome, WorkloadError> {
    let network = Network::open(ctx).await?;
    let outcome = run_in(config, &network, ctx).await;
    network.close().await?;
    outcome
}

/// Whether netperf itself is here and can run `test`; distributions build it without SCTP.
pub async fn tool_serves(test: NetperfTest, tools: &Tools) -> bool {
    match tools.find(ToolName::Netperf).and_then(|netperf| Ok((netperf, tools.find(ToolName::Netserver)?))) {
        Ok((netperf, _)) => !test.is_sctp() || pairs::knows(&netperf, test).await,
        Err(_) => false,
    }
}

async fn run_in(
    config: &NetperfWorkload,
    network: &Network,
    ctx: &Context<'_>,
) -> Result<Outcome, WorkloadError> {
    let by_tool = match config.driver {
        Driver::Builtin => false,
        Driver::Tool => true,
        Driver::Auto => tool_serves(config.test, ctx.tools).await,
    };
    if by_tool { pairs::run(config, network, ctx).await } else { streams::run(config, network, ctx).await }
}

/// Sum, slowest and fastest of the pairs.
fn measurements(test: NetperfTest, rates: &[f64]) -> Vec<Measurement> {
    let sum = rates.iter().sum();
    match test {
        NetperfTest::TcpRr | NetperfTest::UdpRr => vec![measurement("netperf.transactions_per_sec", sum)],
        NetperfTest::SctpStreamMany | NetperfTest::SctpStream | NetperfTest::TcpStream => vec![
            measurement("netperf.bytes_per_sec", sum),
            measurement(
                "netperf.pair_bytes_per_sec_min",
                rates.iter().copied().fold(f64::INFINITY, f64::min),
            ),
            measurement("netperf.pair_bytes_per_sec_max", rates.iter().copied().fold(0.0, f64::max)),
        ],
    }
}

/// A pair that carried nothing was not there.
fn idle_pairs(rates: &[f64]) -> Option<Violation> {
    let idle = rates.iter().filter(|rate| **rate == 0.0).count();
    (idle > 0).then(|| {
        Violation::new(
            "netperf.idle_pairs",
            format!("{idle} of {} pairs carried nothing, so the load was not the one asked for", rates.len()),
            format!("rates of the pairs: {rates:?}"),
        )
    })
}

/// Parameters that both drivers record.
fn parameters(config: &NetperfWorkload, network: &Network) -> std::collections::BTreeMap<String, String> {
    std::collections::BTreeMap::from([
        ("test".to_owned(), config.test.name().to_owned()),
        ("pairs".to_owned(), config.pairs.to_string()),
        ("network".to_owned(), network.describe()),
        ("pin".to_owned(), config.pin.to_string()),
    ])
}
