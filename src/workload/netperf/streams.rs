//! Pairs of the built-in stream driver.

use std::time::Duration;

use super::network::Network;
use super::stream;
use super::stream::Answer;
use super::stream::Request;
use super::stream::StreamWork;
use super::stream::Transport;
use crate::config::Role;
use crate::config::workload::NetperfTest;
use crate::config::workload::NetperfWorkload;
use crate::workload::Context;
use crate::workload::Outcome;
use crate::workload::WorkloadError;
use crate::workload::builtin;
use crate::workload::builtin::Call;
use crate::workload::builtin::Crew;
use crate::workload::builtin::Shape;
use crate::workload::builtin::Timing;
use crate::workload::phases;

/// Time for windows to open, before the interval.
const WARM_UP: Duration = Duration::from_millis(500);
const RAW: &str = "stream.json";

pub(super) async fn run(
    config: &NetperfWorkload,
    network: &Network,
    ctx: &Context<'_>,
) -> Result<Outcome, WorkloadError> {
    let transport = match config.test {
        NetperfTest::TcpStream => Transport::Tcp,
        NetperfTest::SctpStreamMany => Transport::SctpMany,
        NetperfTest::SctpStream => Transport::Sctp,
        NetperfTest::TcpRr | NetperfTest::UdpRr => {
            let test = config.test.name();
            let reason = format!("the built-in driver has no {test}; install netperf, or choose a stream");
            return Err(WorkloadError::Unsupported { reason });
        }
    };
    let measure = config.duration.to_duration();
    let crew = Crew {
        tasks: config.pairs * 2,
        shape: Shape::Processes,
        timing: Timing::Interval { warm_up: WARM_UP, measure },
        pin: config.pin,
    };
    let request = Request { crew, work: StreamWork { transport, message: config.message.map(|m| m.0) } };
    let deadline = WARM_UP + measure * 2 + Duration::from_secs(60);
    let prefix = network.prefix(ctx);
    let call = Call { driver: stream::DRIVER, role: Some(Role::Server), deadline, prefix: &prefix };
    let plan = [("warm-up", WARM_UP), ("measure", measure)];
    let called = builtin::call::<_, Answer>(ctx, call, &request);
    let (answer, output) = phases::during(ctx.marks, &plan, called).await.map_err(unsupported)?;
    ctx.keep(RAW, &output.stdout.text())?;
    let received = answer.slots.iter().step_by(2).map(|slot| slot.operations);
    let rates: Vec<f64> = received.map(|bytes| bytes as f64 / answer.seconds).collect();
    let mut parameters = super::parameters(config, network);
    parameters.insert("duration_seconds".to_owned(), answer.seconds.to_string());
    if let Some(sender) = answer.slots.get(1) {
        parameters.insert("message_bytes".to_owned(), sender.results[stream::MESSAGE].to_string());
    }
    let duration = builtin::interval_violation("netperf.duration", answer.seconds, measure);
    Ok(Outcome {
        measurements: super::measurements(config.test, &rates),
        violations: super::idle_pairs(&rates).into_iter().chain(duration).collect(),
        driver: builtin::identity(stream::DRIVER),
        parameters,
        raw: vec![RAW.to_owned()],
    })
}

/// A missing protocol is a reason to skip, not a failure.
fn unsupported(error: WorkloadError) -> WorkloadError {
    match &error {
        WorkloadError::Died { evidence, .. } => match evidence.find(stream::NO_PROTOCOL) {
            Some(at) => WorkloadError::Unsupported { reason: evidence[at..].to_owned() },
            None => error,
        },
        _ => error,
    }
}
