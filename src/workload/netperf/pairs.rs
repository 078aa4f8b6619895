//! Pairs of netperf itself, against one netserver.

use std::path::Path;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::NetperfParseError;
use super::Rate;
use super::network::Network;
use super::parse;
use super::server::Server;
use crate::config::Role;
use crate::config::workload::NetperfTest;
use crate::config::workload::NetperfWorkload;
use crate::exec;
use crate::exec::Command;
use crate::exec::Ended;
use crate::exec::Output;
use crate::exec::Tool;
use crate::exec::ToolName;
use crate::store::DriverIdentity;
use crate::store::Violation;
use crate::workload::Context;
use crate::workload::Outcome;
use crate::workload::WorkloadError;
use crate::workload::builtin;

const GRACE: Duration = Duration::from_secs(1);
/// What netperf exits with when a test could not be made.
const GAVE_UP: Ended = Ended::Exited(255);

pub(super) async fn run(
    config: &NetperfWorkload,
    network: &Network,
    ctx: &Context<'_>,
) -> Result<Outcome, WorkloadError> {
    let client = ctx.tools.probe(ToolName::Netperf).await?;
    let server = ctx.tools.probe(ToolName::Netserver).await?;
    same_version(&client, &server)?;
    let prefix = network.prefix(ctx);
    let server = Server::start(&server.path, &prefix, ctx).await?;
    let cpus = builtin::allowed_cpus().map_err(|fault| WorkloadError::Refused(fault.to_string()))?;
    let seconds = config.duration.as_seconds().round().max(1.0) as u64;
    let commands = (0..config.pairs).map(|pair| {
        let pin = config.pin.then(|| {
            let at = |i: u32| cpus[(2 * pair + i) as usize % cpus.len()];
            (at(0), at(1))
        });
        let mut command = Command::new("");
        command.argv = prefix.clone();
        command.argv.push(client.path.clone().into());
        let mut command = command
            .args(arguments(config, seconds, server.port, pin))
            .deadline(Duration::from_secs(2 * seconds + 30));
        ctx.place(&mut command, Role::Client);
        command
    });
    ctx.marks.enter("measure");
    let outputs = together(commands, ctx).await;
    ctx.marks.leave();
    server.running.stop(GRACE).await?;
    let mut outcome = read(config, seconds, &outputs?, ctx)?;
    outcome.driver = DriverIdentity { name: "netperf".to_owned(), version: version(&client) };
    outcome.parameters.extend(super::parameters(config, network));
    Ok(outcome)
}

/// Whether netperf was built with `test`. It is asked without a control
/// connection: a test that it knows then fails to connect.
pub(super) async fn knows(program: &Path, test: NetperfTest) -> bool {
    let arguments = ["-N", "-4", "-H", "127.0.0.1", "-p", "1", "-l", "1", "-t", test.name()];
    let command = Command::new(program).args(arguments).deadline(Duration::from_secs(5));
    match exec::run(&command, &CancellationToken::new()).await {
        Ok(output) => !matches!(parse(&output.stdout.text()), Err(NetperfParseError::UnknownTest(_))),
        // That it cannot be run at all is told better by the trial.
        Err(_) => true,
    }
}

fn version(tool: &Tool) -> String {
    tool.version.as_ref().map_or_else(|| "unknown".to_owned(), |v| v.text.clone())
}

/// Another version shows later only as a refused connection.
fn same_version(client: &Tool, server: &Tool) -> Result<(), WorkloadError> {
    let (a, b) = (version(client), version(server));
    if a == b {
        return Ok(());
    }
    Err(WorkloadError::Refused(format!(
        "netperf is {a} and netserver is {b}; they do not talk to each other: install both from one package"
    )))
}

/// netperf's options; those behind `--` are the test's own.
pub(super) fn arguments(
    config: &NetperfWorkload,
    seconds: u64,
    port: u16,
    pin: Option<(u32, u32)>,
) -> Vec<String> {
    let mut all: Vec<String> =
        ["-4", "-H", "127.0.0.1", "-t", config.test.name()].map(str::to_owned).to_vec();
    if !config.test.is_request_response() {
        // Given for request/response, it would turn transactions into bits.
        all.extend(["-f", "m"].map(str::to_owned));
    }
    all.extend(["-l".to_owned(), seconds.to_string(), "-p".to_owned(), port.to_string()]);
    if let Some((local, remote)) = pin {
        all.extend(["-T".to_owned(), format!("{local},{remote}")]);
    }
    all.push("--".to_owned());
    if let Some(message) = config.message {
        let option = if config.test.is_request_response() { "-r" } else { "-m" };
        all.extend([option.to_owned(), message.0.to_string()]);
    }
    if !config.test.is_sctp() {
        // The classic table has two decimals; this has them too, with names.
        all.extend(["-k", "THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,PROTOCOL"].map(str::to_owned));
    }
    all
}

/// Starts all at once; the outputs stand in the order of the pairs.
async fn together(
    commands: impl Iterator<Item = Command>,
    ctx: &Context<'_>,
) -> Result<Vec<Output>, WorkloadError> {
    let mut set = JoinSet::new();
    for (command, pair) in commands.zip(0usize..) {
        let cancel = ctx.cancel.clone();
        set.spawn(async move { (pair, exec::run(&command, &cancel).await) });
    }
    let mut outputs = Vec::new();
    while let Some(joined) = set.join_next().await {
        let (pair, output) = joined.expect("pairs do not panic");
        outputs.push((pair, output?));
    }
    outputs.sort_by_key(|(pair, _)| *pair);
    Ok(outputs.into_iter().map(|(_, output)| output).collect())
}

fn read(
    config: &NetperfWorkload,
    seconds: u64,
    outputs: &[Output],
    ctx: &Context<'_>,
) -> Result<Outcome, WorkloadError> {
    let (mut rates, mut violations, mut raw) = (Vec::new(), Vec::new(), Vec::new());
    for (output, pair) in outputs.iter().zip(1u32..) {
        let name = format!("netperf-{pair}.txt");
        let printed = output.stdout.text();
        ctx.keep(&name, &format!("{printed}{}", output.stderr.text()))?;
        raw.push(name);
        let parsed = parse(&printed);
        if output.ended == Ended::Cancelled {
            return Err(WorkloadError::Cancelled);
        }
        if let Err(NetperfParseError::UnknownTest(_) | NetperfParseError::NoProtocol(_)) = &parsed {
            return Err(WorkloadError::Unsupported { reason: parsed.expect_err("just matched").to_string() });
        }
        if !output.ended.success() {
            // Exit 255 puts the reason on standard output.
            let text = if output.ended == GAVE_UP { printed } else { output.stderr.text() };
            let evidence = text.trim().chars().take(400).collect();
            return Err(WorkloadError::Died {
                what: format!("netperf {pair}"),
                ended: output.ended,
                evidence,
            });
        }
        let parsed = parsed.map_err(|error| WorkloadError::output("netperf", error.to_string(), &printed))?;
        rates.push(match (parsed.rate, config.test.is_request_response()) {
            (Rate::BytesPerSecond(rate), false) | (Rate::TransactionsPerSecond(rate), true) => rate,
            (rate, _) => {
                let reason = format!("{rate:?} is not what {} measures", config.test.name());
                return Err(WorkloadError::output("netperf", reason, &printed));
            }
        });
        let asked = Duration::from_secs(seconds);
        violations.extend(builtin::interval_violation("netperf.duration", parsed.elapsed_seconds, asked));
        if let Some(confidence) = parsed.confidence {
            violations.push(Violation::new(
                "netperf.confidence",
                "netperf did not reach the confidence it was asked for; its result is low in confidence",
                format!("pair {pair}: {confidence:?}"),
            ));
        }
    }
    violations.extend(super::idle_pairs(&rates));
    Ok(Outcome {
        measurements: super::measurements(config.test, &rates),
        violations,
        driver: DriverIdentity { name: String::new(), version: String::new() },
        parameters: [("duration_seconds".to_owned(), seconds.to_string())].into(),
        raw,
    })
}
