//! From what a load generator and the server report to measurements.

use super::result::LoadRun;
use crate::metric::Measurement;
use crate::metric::MetricDefinition;
use crate::metric::MetricId;
use crate::metric::definition;
use crate::units::Nanos;

/// Processor time over the measured runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessorTime {
    pub(super) server: Option<Nanos>,
    pub(super) client: Nanos,
}

/// All metrics of the runs. With several runs each value is the mean of theirs, as
/// memtier averages them, and each run's throughput stands beside it: the first
/// run fills the server, later ones overwrite.
pub(super) fn measurements(runs: &[LoadRun], time: ProcessorTime) -> Vec<Measurement> {
    let mut all = Vec::new();
    let mean = |value: &dyn Fn(&LoadRun) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = runs.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let mut put = |id: &str, value: Option<f64>| all.extend(value.map(|value| measurement(id, value)));
    put("memcached.ops_per_sec", mean(&|run| Some(run.totals.ops_per_sec)));
    put("memcached.set_per_sec", mean(&|run| some_rate(run.sets.count, run.sets.ops_per_sec)));
    put("memcached.get_per_sec", mean(&|run| some_rate(run.gets.count, run.gets.ops_per_sec)));
    put("memcached.hit_share", mean(&hit_share));
    put("memcached.latency_mean", mean(&|run| run.totals.latency_mean));
    put("memcached.latency_p50", mean(&|run| run.totals.quantiles.p50));
    put("memcached.latency_p99", mean(&|run| run.totals.quantiles.p99));
    put("memcached.latency_p999", mean(&|run| run.totals.quantiles.p999));
    put("memcached.bytes_per_sec", mean(&|run| Some(run.totals.bytes_per_sec)));
    let operations: u64 = runs.iter().map(|run| run.totals.count).sum();
    let per_operation = |time: Nanos| (operations > 0).then(|| time.0 as f64 / operations as f64);
    put("memcached.server_cpu_per_op", time.server.and_then(per_operation));
    put("memcached.client_cpu_per_op", per_operation(time.client));
    if runs.len() > 1 {
        all.extend(runs.iter().map(of_run));
    }
    all
}

fn some_rate(count: u64, rate: f64) -> Option<f64> {
    (count > 0).then_some(rate)
}

fn hit_share(run: &LoadRun) -> Option<f64> {
    let looked_up = run.gets.hits_per_sec + run.gets.misses_per_sec;
    (looked_up > 0.0).then(|| run.gets.hits_per_sec / looked_up)
}

fn measurement(id: &str, value: f64) -> Measurement {
    let metric = definition(id).expect("the registry holds memcached's metrics, which a test checks");
    Measurement { metric: metric.clone(), value }
}

fn of_run(run: &LoadRun) -> Measurement {
    let whole = measurement("memcached.ops_per_sec", run.totals.ops_per_sec);
    let id = format!("{}.run_{}", whole.metric.id, run.index);
    let id = MetricId::new(id).expect("a word of digits and letters keeps the id well-formed");
    let label = format!("{}, run {}", whole.metric.label, run.index);
    Measurement { metric: MetricDefinition { id, label, ..whole.metric }, value: whole.value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::memcached::CommandResult;
    use crate::workload::memcached::Quantiles;

    fn run(index: u32, rate: f64) -> LoadRun {
        let quantiles = Quantiles { p50: Some(10.0), p99: Some(20.0), p999: None };
        let totals = CommandResult {
            count: 100,
            ops_per_sec: rate,
            bytes_per_sec: 5.0,
            latency_mean: Some(11.0),
            quantiles,
            ..CommandResult::default()
        };
        let gets = CommandResult {
            count: 100,
            ops_per_sec: rate,
            hits_per_sec: 30.0,
            misses_per_sec: 10.0,
            ..CommandResult::default()
        };
        LoadRun {
            index,
            duration: Nanos::from_seconds(1),
            sets: CommandResult::default(),
            gets,
            totals,
            ops_per_second: Vec::new(),
            connection_errors: 0,
        }
    }

    #[test]
    fn one_run_and_several() {
        let time = ProcessorTime { server: None, client: Nanos(2000) };
        let values = |runs: &[LoadRun]| -> Vec<(String, f64)> {
            measurements(runs, time).into_iter().map(|m| (m.metric.id.to_string(), m.value)).collect()
        };
        let one = values(&[run(1, 40.0)]);
        let expected = [
            ("memcached.ops_per_sec", 40.0),
            ("memcached.get_per_sec", 40.0),
            ("memcached.hit_share", 0.75),
            ("memcached.latency_mean", 11.0),
            ("memcached.latency_p50", 10.0),
            ("memcached.latency_p99", 20.0),
            ("memcached.bytes_per_sec", 5.0),
            ("memcached.client_cpu_per_op", 20.0),
        ];
        assert_eq!(one, expected.map(|(id, value)| (id.to_owned(), value)));
        let two = values(&[run(1, 40.0), run(2, 60.0)]);
        assert_eq!(two[0].1, 50.0);
        let per_run = [("memcached.ops_per_sec.run_1", 40.0), ("memcached.ops_per_sec.run_2", 60.0)];
        assert_eq!(two[two.len() - 2..], per_run.map(|(id, value)| (id.to_owned(), value)));
    }
}
