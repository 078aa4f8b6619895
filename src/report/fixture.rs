//! A whole campaign with invented values: every chart and table has something to show.

use std::path::Path;

use crate::analyze::fixture::{campaign, noisy};
use crate::metric::measurement;
use crate::store::{
    CampaignFolder, CounterChange, HostEvent, PhaseSpan, Sample, SeriesWriter, SwapFacts, TrialRecord,
};
use crate::units::{Bytes, Nanos, Percent};

pub(crate) const EXPERIMENT: &str = r#"
schema = 1
title = "mm, example: batch the updates of an invented counter"
claim = "+1.8%"
[claim-source]
mail = "[PATCH v2 0/3] mm, example: batch the updates"
before = 44017.78
after = 44890.5
runs = 18
machine = "Example CPU"
kernel = "9.9.9"
swap = "brd"
driver = "builtin"
[memcg]
limit = "256MiB"
[swap]
kind = "ramdisk"
size = "1GiB"
[workload.memcached]
memory = "1GiB"
threads = 2
[workload.memcached.load]
driver = "builtin"
keys = 200_000
value = "1KiB"
pattern = "P:P"
ratio = "1:0"
clients = 2
threads = 2
pipeline = 8
repeat = 1
[[arm]]
name = "before"
[[arm]]
name = "after"
knobs = { lru_gen = "7" }
[[arm]]
name = "again"
role = "control"
[schedule]
blocks = 12
[analysis]
primary = "memcached.ops_per_sec"
"#;

/// Writes the campaign; the candidate is faster by `effect`.
pub(crate) fn rich_campaign(results: &Path, experiment: &str, effect: Percent) -> CampaignFolder {
    let factor = 1.0 + effect.as_share();
    let value = |block: u32, position: u32, arm: &str| {
        let broken = block == 4 && position == 2;
        let factor = if arm == "after" { factor } else { 1.0 };
        let shared = noisy(1.0, 1.0, 0.012, (block, 90));
        (!broken).then(|| noisy(44_000.0, factor * shared, 0.009, (block, position)))
    };
    let folder = campaign(results, "example", experiment, &value);
    for trial in folder.trials().expect("listed") {
        let mut record = trial.record().expect("a record");
        enrich(&mut record, factor);
        trial.write_record(&record).expect("written");
        let raw = trial.raw().expect("created");
        for file in &record.raw {
            std::fs::write(raw.join(file), "invented\n").expect("written");
        }
        if record.counts() {
            write_series(&trial.series_path(), &record);
        }
    }
    folder
}

fn enrich(record: &mut TrialRecord, factor: f64) {
    let id = &record.spec.id;
    let place = (id.block, 10 + id.position);
    let factor = if id.arm == "after" { factor } else { 1.0 };
    let number = i64::from(id.block * 6 + id.position);
    record.started = jiff::Timestamp::from_second(1_700_000_000 + 30 * number).expect("in range");
    record.ended = jiff::Timestamp::from_second(1_700_000_000 + 30 * number + 25).expect("in range");
    let seconds = Nanos::from_seconds;
    record.phases = vec![
        PhaseSpan { name: "set-up".to_owned(), start: Nanos(0), end: seconds(2) },
        PhaseSpan { name: "measure".to_owned(), start: seconds(2), end: seconds(22) },
    ];
    record.raw = vec!["server.stdout".to_owned(), "loader.json".to_owned()];
    record.swap = Some(SwapFacts {
        kind: "brd".to_owned(),
        device: "/dev/ram0".to_owned(),
        size: Bytes(1 << 30),
        synchronous: true,
        value_bytes: Some("random".to_owned()),
        peak_used: Some(Bytes(190 << 20)),
        others_grew: false,
    });
    record.parameters.insert("threads".to_owned(), "2".to_owned());
    if record.measurements.is_empty() {
        return;
    }
    for (metric, level, deviation) in [
        ("memcached.latency_mean", 182_000.0, 0.01),
        ("memcached.latency_p50", 151_000.0, 0.01),
        ("memcached.latency_p99", 940_000.0, 0.03),
        ("memcached.latency_p999", 3_100_000.0, 0.06),
        ("memcached.server_cpu_per_op", 17_400.0, 0.006),
    ] {
        let salt = level as u32 % 97;
        record
            .measurements
            .push(measurement(metric, noisy(level, 1.0 / factor, deviation, (place.0, place.1 + salt))));
    }
    let after = factor > 1.0;
    for (i, (name, level, moved)) in COUNTERS.into_iter().enumerate() {
        let factor = if after { moved } else { 1.0 };
        let change = noisy(level, factor, 0.04, (place.0, place.1 + 100 * i as u32)) as u64;
        record.counters.insert(name.to_owned(), CounterChange { before: 1000, after: 1000 + change });
    }
    if id.block == 2 && id.position == 1 {
        let detail = "processor time of other programs: 0.31 s in the measured phase".to_owned();
        record.host_events.push(HostEvent { kind: "foreign-cpu".to_owned(), detail });
    }
}

/// Counter, its change over the measured phase, and what the candidate makes of it.
const COUNTERS: [(&str, f64, f64); 12] = [
    ("memory_stat.pgscan", 412_000.0, 0.81),
    ("memory_stat.pgsteal", 318_000.0, 0.99),
    ("memory_stat.workingset_refault_anon", 51_000.0, 1.0),
    ("memory_stat.workingset_activate_anon", 3_100.0, 1.22),
    ("memory_stat.pgmajfault", 50_200.0, 1.01),
    ("memory_stat.pgfault", 812_000.0, 1.0),
    ("vmstat.pswpout", 318_400.0, 0.99),
    ("vmstat.pswpin", 50_900.0, 1.0),
    ("vmstat.pgscan_direct", 120_000.0, 0.62),
    ("vmstat.allocstall_normal", 410.0, 0.7),
    ("vmstat.slabs_scanned", 8_000.0, 1.03),
    ("vmstat.thp_swpout", 0.0, 1.0),
];

fn write_series(path: &Path, record: &TrialRecord) {
    let mut writer = SeriesWriter::create(path).expect("created");
    let limit = Bytes(256 << 20).0 as f64;
    for tick in 0..=220u64 {
        let seconds = tick as f64 / 10.0;
        let run = ((seconds - 2.0) / 20.0).clamp(0.0, 1.0);
        let wave = 1.0 + 0.25 * (seconds * 0.9).sin();
        let mut values = std::collections::BTreeMap::new();
        for (name, change) in &record.counters {
            let grown = (change.after - change.before) as f64 * run * (0.9 + 0.1 * wave * run);
            values.insert(name.clone(), change.before + grown as u64);
        }
        values.insert(
            "memory_current.value".to_owned(),
            (limit * (0.4 + 0.6 * (3.0 * run).min(1.0)) * 0.997) as u64,
        );
        values.insert("vmstat.nr_free_pages".to_owned(), (210_000.0 * wave) as u64);
        writer.write(&Sample { at: Nanos(tick * 100_000_000), values }).expect("written");
    }
    writer.finish().expect("written");
}
