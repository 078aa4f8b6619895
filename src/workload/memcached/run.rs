//! The workload from a fresh server to its outcome.

use std::collections::BTreeMap;
use std::time::Duration;

use super::load::Generator;
use super::load::Loaded;
use super::loader::Endpoint;
use super::loader::LoaderSpec;
use super::loader::Requests;
use super::measure::ProcessorTime;
use super::measure::measurements;
use super::rules::Evidence;
use super::rules::judge;
use super::server::Server;
use super::stats::Stats;
use crate::config::workload::KeyPattern;
use crate::config::workload::LoadSection;
use crate::config::workload::MemcachedWorkload;
use crate::store::write_file;
use crate::units::Nanos;
use crate::workload::Context;
use crate::workload::Outcome;
use crate::workload::WorkloadError;

/// memtier's default, so that keys are as long as in the mails.
const KEY_PREFIX: &str = "memtier-";
/// A dying server's sockets close a little before its end can be seen.
const ECHO: Duration = Duration::from_secs(1);
/// Settings of the server that are put into the record.
const SETTINGS: [&str; 8] = [
    "maxbytes",
    "maxconns",
    "num_threads",
    "evictions",
    "growth_factor",
    "item_size_max",
    "slab_automove",
    "hash_algorithm",
];

/// Runs memcached under the load of the experiment's section.
pub async fn run(config: &MemcachedWorkload, context: &Context<'_>) -> Result<Outcome, WorkloadError> {
    let generator = Generator::choose(config.load.driver, context).await?;
    let mut server = Server::start(config, context).await?;
    let spec = loader_spec(&config.load, server.endpoint().clone())?;
    let mut raw = Vec::new();
    let mut violations = Vec::new();
    if config.load.fill {
        context.marks.enter("fill");
        let filled = load(&generator, &fill_spec(&spec), "fill", context, &mut server, &mut raw).await?;
        violations.extend(filled.violations);
    }
    let before = server.counters().await?;
    context.marks.enter("measure");
    let loaded = load(&generator, &spec, "load", context, &mut server, &mut raw).await?;
    context.marks.leave();
    let after = server.counters().await?;
    for (name, stats) in [("stats-before.txt", &before), ("stats-after.txt", &after)] {
        keep(context, name, stats, &mut raw)?;
    }
    violations.extend(loaded.violations);
    violations.extend(judge(&Evidence {
        spec: &spec,
        runs: &loaded.runs,
        before: &before,
        after: &after,
        allow_evictions: config.allow_evictions,
        filled: config.load.fill,
    }));
    let time = ProcessorTime { server: processor_time(&before, &after), client: loaded.cpu };
    let outcome = Outcome {
        measurements: measurements(&loaded.runs, time),
        violations,
        driver: generator.identity(),
        parameters: parameters(&spec, &server, loaded.argv),
        raw,
    };
    server.stop().await?;
    Ok(outcome)
}

/// Runs one load, and ends it when the server dies: some generators then never would.
async fn load(
    generator: &Generator,
    spec: &LoaderSpec,
    name: &str,
    context: &Context<'_>,
    server: &mut Server,
    raw: &mut Vec<String>,
) -> Result<Loaded, WorkloadError> {
    let result = tokio::select! {
        biased;
        result = generator.load(spec, name, context, raw) => result,
        error = server.death() => Err(error),
    };
    match result {
        Ok(loaded) => Ok(loaded),
        Err(WorkloadError::Cancelled) => Err(WorkloadError::Cancelled),
        // A broken generator may only be the echo of a dead server.
        Err(error) => match tokio::time::timeout(ECHO, server.death()).await {
            Ok(death) => Err(death),
            Err(_) => Err(error),
        },
    }
}

/// The section in the loader's terms.
fn loader_spec(load: &LoadSection, endpoint: Endpoint) -> Result<LoaderSpec, WorkloadError> {
    let refuse = |what: &str, text: &str| {
        WorkloadError::Refused(format!("[workload.memcached.load] has no valid {what}: {text:?}"))
    };
    let (set_pattern, get_pattern) = load.patterns().ok_or_else(|| refuse("pattern", &load.pattern))?;
    let ratio = load.set_get_ratio().ok_or_else(|| refuse("ratio", &load.ratio))?;
    let requests = match (load.duration, load.requests) {
        (Some(time), _) => Requests::For(time),
        (None, Some(count)) => Requests::Each(count),
        (None, None) => Requests::AllKeys,
    };
    Ok(LoaderSpec {
        endpoint,
        protocol: load.protocol,
        threads: load.threads,
        clients: load.clients,
        pipeline: load.pipeline,
        requests,
        repeat: load.repeat,
        ratio,
        key_prefix: KEY_PREFIX.to_owned(),
        key_minimum: load.key_minimum,
        key_maximum: load.keys,
        set_pattern,
        get_pattern,
        zipf_exponent: load.zipf_exponent,
        value: load.value,
        values: load.values,
        seed: 0,
        distinct_client_seed: false,
    })
}

/// Stores every key once: each client its share, as far as the keys can be shared.
fn fill_spec(spec: &LoaderSpec) -> LoaderSpec {
    let parallel = LoaderSpec {
        requests: Requests::AllKeys,
        repeat: 1,
        ratio: (1, 0),
        set_pattern: KeyPattern::Parallel,
        get_pattern: KeyPattern::Parallel,
        ..spec.clone()
    };
    if parallel.validate().is_ok() {
        return parallel;
    }
    // Too few keys for all clients: one client stores them.
    LoaderSpec { threads: 1, clients: 1, ..parallel }
}

fn processor_time(before: &Stats, after: &Stats) -> Option<Nanos> {
    Some(after.processor_time()?.saturating_sub(before.processor_time()?))
}

fn keep(
    context: &Context<'_>,
    name: &str,
    stats: &Stats,
    raw: &mut Vec<String>,
) -> Result<(), WorkloadError> {
    let path = context.raw.join(name);
    write_file(&path, stats.lines().as_bytes()).map_err(|source| WorkloadError::Io {
        what: "write",
        path,
        source,
    })?;
    raw.push(name.to_owned());
    Ok(())
}

fn parameters(spec: &LoaderSpec, server: &Server, argv: String) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([
        ("server.version".to_owned(), server.version().to_owned()),
        ("server.pid".to_owned(), server.pid().to_string()),
        ("load.argv".to_owned(), argv),
        ("load.value_bytes".to_owned(), format!("{:?}", spec.values).to_lowercase()),
    ]);
    for name in SETTINGS {
        if let Some(value) = server.settings().text(name) {
            all.insert(format!("server.{name}"), value.to_owned());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fill_reaches_every_key() {
        let spec = LoaderSpec {
            set_pattern: KeyPattern::Gaussian,
            get_pattern: KeyPattern::Random,
            ratio: (1, 10),
            requests: Requests::For(Nanos::from_seconds(3)),
            ..LoaderSpec::example()
        };
        let fill = fill_spec(&spec);
        assert_eq!((fill.requests_per_client(), fill.total_clients(), fill.ratio), (Some(100), 6, (1, 0)));
        let few = fill_spec(&LoaderSpec { key_maximum: 10, ..spec });
        assert_eq!((few.requests_per_client(), few.total_clients()), (Some(10), 1));
    }
}
