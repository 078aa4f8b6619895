//! The real memtier_benchmark: its command line and what its stderr gives away.

use std::path::Path;
use std::time::Duration;

use super::loader::Endpoint;
use super::loader::LoaderSpec;
use super::loader::Requests;
use crate::config::workload::KeyPattern;
use crate::config::workload::Protocol;
use crate::config::workload::ValueBytes;
use crate::exec::Command;
use crate::exec::Progress;
use crate::store::Violation;
use crate::units::Nanos;
use crate::workload::WorkloadError;

/// The command for `spec`, with its JSON report to `json`.
pub(super) fn command(program: &Path, spec: &LoaderSpec, json: &Path) -> Result<Command, WorkloadError> {
    let mut command = Command::new(program);
    let mut put = |name: &str, value: String| command.argv.extend([name.into(), value.into()]);
    match &spec.endpoint {
        Endpoint::Unix(path) => put("--unix-socket", path.to_string_lossy().into_owned()),
        Endpoint::Tcp(address) => {
            put("--server", address.ip().to_string());
            put("--port", address.port().to_string());
        }
    }
    let protocol = match spec.protocol {
        Protocol::Binary => "memcache_binary",
        Protocol::Text => "memcache_text",
    };
    put("--protocol", protocol.to_owned());
    put("--threads", spec.threads.to_string());
    put("--clients", spec.clients.to_string());
    put("--pipeline", spec.pipeline.to_string());
    match spec.requests {
        Requests::Each(count) => put("--requests", count.to_string()),
        Requests::AllKeys => put("--requests", "allkeys".to_owned()),
        Requests::For(time) => put("--test-time", whole_seconds(time)?.to_string()),
    }
    put("--run-count", spec.repeat.to_string());
    put("--ratio", format!("{}:{}", spec.ratio.0, spec.ratio.1));
    put("--key-prefix", spec.key_prefix.clone());
    // 0 is the default and refused when given.
    if spec.key_minimum > 0 {
        put("--key-minimum", spec.key_minimum.to_string());
    }
    put("--key-maximum", spec.key_maximum.to_string());
    put("--key-pattern", format!("{}:{}", letter(spec.set_pattern), letter(spec.get_pattern)));
    if [spec.set_pattern, spec.get_pattern].contains(&KeyPattern::Zipf) {
        put("--key-zipf-exp", spec.zipf_exponent.to_string());
    }
    put("--data-size", spec.value.0.to_string());
    put("--json-out-file", json.to_string_lossy().into_owned());
    if spec.values == ValueBytes::Random {
        command.argv.push("--random-data".into());
    }
    if spec.distinct_client_seed {
        command.argv.push("--distinct-client-seed".into());
    }
    if spec.repeat > 1 {
        command.argv.push("--print-all-runs".into());
    }
    command.argv.push("--hide-histogram".into());
    command.progress = Progress::Number(operations);
    Ok(command)
}

fn letter(pattern: KeyPattern) -> char {
    match pattern {
        KeyPattern::Parallel => 'P',
        KeyPattern::Sequential => 'S',
        KeyPattern::Random => 'R',
        KeyPattern::Gaussian => 'G',
        KeyPattern::Zipf => 'Z',
    }
}

fn whole_seconds(time: Nanos) -> Result<u64, WorkloadError> {
    const SECOND: u64 = 1_000_000_000;
    if time.0 == 0 || !time.0.is_multiple_of(SECOND) {
        return Err(WorkloadError::Refused(format!(
            "memtier_benchmark measures whole seconds, not {time}; change duration under [workload.memcached.load] \
             or write driver = \"builtin\""
        )));
    }
    Ok(time.0 / SECOND)
}

/// The operations so far in a progress line, such as
/// `[RUN #1 33%,   0 secs]  2 threads  2 conns:       70293 ops,   70294 (avg: …`.
fn operations(line: &str) -> Option<u64> {
    let (before, _) = line.split_once(" ops,")?;
    before.rsplit([' ', ':']).next()?.parse().ok()
}

/// Signs in stderr that the numbers are not what they seem.
const SIGNS: [(&str, &str, &str); 5] = [
    (
        "memtier.thread_restart",
        "Restarting thread",
        "memtier_benchmark restarted a thread with fresh counters, so its rates are wrong; find out why connections broke",
    ),
    (
        "memtier.connection",
        "connection dropped",
        "the server dropped a connection of memtier_benchmark; check its limits of connections and open files",
    ),
    (
        "memtier.connection",
        "Connection error",
        "a connection of memtier_benchmark broke; check the server and its limits of connections and open files",
    ),
    (
        "memtier.refused",
        "handle error response",
        "the server refused requests of memtier_benchmark, which counts them as work; raise the server's memory",
    ),
    (
        "memtier.error",
        "error:",
        "memtier_benchmark reported an error, yet may end with success; see its stderr",
    ),
];

/// The rules that `stderr` breaks, each once, with the first line that shows it.
pub(crate) fn judge_stderr(stderr: &str) -> Vec<Violation> {
    let mut found: Vec<Violation> = Vec::new();
    for line in stderr.split(['\n', '\r']) {
        let Some((rule, _, message)) = SIGNS.iter().find(|(_, sign, _)| line.contains(sign)) else {
            continue;
        };
        if !found.iter().any(|violation| violation.rule == *rule) {
            let evidence: String = line.trim().chars().take(300).collect();
            found.push(Violation::new(rule, *message, evidence));
        }
    }
    found
}

/// Seconds that memtier may take beside its runs: it starts, polls once a second and prints.
const OVERHEAD: Duration = Duration::from_secs(4);

/// Compares the wall clock with what the tool says it measured.
pub(super) fn judge_time(spec: &LoaderSpec, wall: Nanos, measured: Nanos) -> Option<Violation> {
    let runs = u64::from(spec.repeat);
    let slack = Nanos::from(OVERHEAD).0 * runs + measured.0 / 10;
    if let Requests::For(time) = spec.requests {
        let asked = time.0 * runs;
        if measured.0 < asked - asked / 10 || measured.0 > asked + slack {
            return Some(Violation::new(
                "memtier.duration",
                "memtier_benchmark measured for another time than it was asked to, so a thread ended early or was restarted",
                format!("asked {}, measured {measured}", Nanos(asked)),
            ));
        }
    }
    (wall.0 > measured.0 + slack).then(|| {
        Violation::new(
            "memtier.wall_clock",
            "memtier_benchmark ran far longer than it says it measured, so part of its work is not in its numbers",
            format!("wall clock {wall}, measured {measured} in {runs} runs"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_the_number_of_operations() {
        let line =
            "[RUN #1 33%,   0 secs]  2 threads  2 conns:       70293 ops,   70294 (avg:   70294) ops/sec";
        assert_eq!(operations(line), Some(70293));
        assert_eq!(operations("[RUN #1 101%, 601 secs] 16 threads: 5 ops, 0 (avg: 0) ops/sec"), Some(5));
        assert_eq!(operations("[RUN #1] Launching threads now..."), None);
    }

    #[test]
    fn restarts_and_refusals_are_found_once() {
        let stderr = "Writing results to stdout\n[RUN #1 0%] 0 ops\rconnection dropped.\nRestarting thread 3 \
                      (restart #1)...\nRestarting thread 3 (restart #2)...\nserver x handle error response: 0082\n";
        let rules: Vec<String> = judge_stderr(stderr).into_iter().map(|v| v.rule).collect();
        assert_eq!(rules, ["memtier.connection", "memtier.thread_restart", "memtier.refused"]);
        assert!(judge_stderr("[RUN #1] Preparing benchmark client...\nJson file closed.\n").is_empty());
    }

    #[test]
    fn the_wall_clock_must_agree() {
        let mut spec = LoaderSpec::example();
        let seconds = Nanos::from_seconds;
        spec.requests = Requests::Each(10);
        assert_eq!(judge_time(&spec, seconds(12), seconds(10)), None);
        assert_eq!(judge_time(&spec, seconds(20), seconds(10)).unwrap().rule, "memtier.wall_clock");
        spec.requests = Requests::For(seconds(10));
        assert_eq!(judge_time(&spec, seconds(11), seconds(10)), None);
        assert_eq!(judge_time(&spec, seconds(14), seconds(13)), None);
        assert_eq!(judge_time(&spec, seconds(4), seconds(3)).unwrap().rule, "memtier.duration");
        assert_eq!(judge_time(&spec, seconds(31), seconds(30)).unwrap().rule, "memtier.duration");
    }

    #[test]
    fn parts_of_seconds_are_refused() {
        assert!(whole_seconds(Nanos::from_millis(1500)).is_err());
        assert_eq!(whole_seconds(Nanos::from_seconds(3)).unwrap(), 3);
    }
}
