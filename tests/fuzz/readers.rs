//! Every reader of what strangers, tools or the kernel wrote.

use std::path::Path;

use run_bench::calibrate::Profile;
use run_bench::config::scale::{self, Machine, ScaleFactor, ScaleRequest};
use run_bench::config::workload::CommandMetric;
use run_bench::config::{self, Plan, arithmetic};
use run_bench::host::facts::HostFacts;
use run_bench::host::kernel_config::{self, KernelConfig};
use run_bench::host::reader::{self, Counters, Meminfo, Pressure, ZramStat};
use run_bench::host::{RunningKernel, build_id_in_notes, cgroup};
use run_bench::import::{self, ImportRequest};
use run_bench::model::access::{RegionKind, Stream};
use run_bench::model::stream::trace::{self, CsvLayout, Paging};
use run_bench::patch;
use run_bench::predict;
use run_bench::store::{self, CampaignJournal, Manifest, Sample, TrialRecord, TrialSpec};
use run_bench::target::kernel::parse_diff;
use run_bench::units::Bytes;
use run_bench::workload::{command, fio, memcached, netperf, will_it_scale};
use serde::de::DeserializeOwned;

use crate::corpus::{fixture, fixtures, folder};
use crate::{Reader, fuzz, one_text, words};

/// For messages only.
const NOWHERE: &str = "fuzz";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What would reach a terminal or a file of the host must hold no escape.
fn is_plain(text: &str) {
    let bad = text.chars().find(|c| c.is_control() && !"\n\t".contains(*c));
    assert!(bad.is_none(), "{bad:?} reaches the terminal");
}

#[test]
fn reader_mail() {
    fn read(bytes: &[u8]) -> bool {
        let Ok(document) = patch::read(bytes) else { return false };
        assert_eq!(patch::audit(&document).len(), document.claims.len());
        for claim in &document.claims {
            assert!(claim.span.start <= claim.span.end && claim.message < document.mails.len());
            assert!(claim.setting.is_none_or(|s| s < document.settings.len()));
        }
        true
    }
    fuzz(Reader {
        name: "mail",
        cases: 2000,
        corpus: folder("tests/fixtures/mails", "mail"),
        words: words::MAIL,
        read,
    });
}

#[test]
fn reader_mail_to_experiment() {
    fn read(bytes: &[u8]) -> bool {
        let Ok(document) = patch::read(bytes) else { return false };
        let report = import::audit_report(&document);
        for text in
            [import::show_text(&document), import::audit_table(&report), import::audit_mail_text(&report)]
        {
            is_plain(&text);
        }
        for file in import::patch_files(bytes, &document).unwrap_or_default() {
            assert!(
                !file.name.contains(['/', '\0']) && !file.name.starts_with(['.', '-']),
                "{:?}",
                file.name
            );
        }
        let Ok(imported) = import::import(&document, &ImportRequest::default()) else { return false };
        is_plain(&imported.text);
        let again = config::parse(Path::new(NOWHERE), &imported.text);
        again.unwrap_or_else(|error| panic!("what was imported cannot be read: {error}\n{}", imported.text));
        true
    }
    let corpus = folder("tests/fixtures/mails", "mail");
    let corpus = corpus.into_iter().filter(|mail| read(mail)).collect();
    fuzz(Reader { name: "mail-to-experiment", cases: 500, corpus, words: words::MAIL, read });
}

#[test]
fn reader_diff() {
    fn read(bytes: &[u8]) -> bool {
        let _ = patch::extract_diffs(bytes);
        parse_diff(&text(bytes)).is_ok_and(|changes| !changes.is_empty())
    }
    let corpus = folder("tests/fixtures/mails", "mail").into_iter().filter(|mail| read(mail)).collect();
    fuzz(Reader { name: "diff", cases: 2000, corpus, words: words::MAIL, read });
}

#[test]
fn reader_experiment() {
    fn read(bytes: &[u8]) -> bool {
        let Ok(experiment) = config::parse(Path::new(NOWHERE), &text(bytes)) else { return false };
        let machine =
            Machine { cpus: 2, memory_available: Bytes::gib(12), disk_available: Some(Bytes::gib(20)) };
        let _ = arithmetic::check(&Plan::new(experiment.clone()), &machine);
        // Scaling looks for the size of a file by walking fio's generator: seconds where it is large.
        if bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)) != 0 {
            return true;
        }
        for request in [
            ScaleRequest { scale: Some(ScaleFactor::Auto), quick: true },
            ScaleRequest { scale: Some(ScaleFactor::OneOver(7)), quick: false },
        ] {
            if let Ok((scaled, _)) = scale::apply(experiment.clone(), &request, &machine) {
                let _ = arithmetic::check(&Plan::new(scaled), &machine);
            }
        }
        true
    }
    fuzz(Reader {
        name: "experiment",
        cases: 500,
        corpus: folder("configs", "toml"),
        words: words::EXPERIMENT,
        read,
    });
}

#[test]
fn reader_profile() {
    fn read(bytes: &[u8]) -> bool {
        let Ok(profile) = Profile::parse(Path::new(NOWHERE), &text(bytes)) else { return false };
        let again = Profile::parse(Path::new(NOWHERE), &profile.to_toml()).expect("what was written");
        assert_eq!(again, profile);
        let _ = profile.median();
        true
    }
    fuzz(Reader {
        name: "profile",
        cases: 2000,
        corpus: folder("configs/hosts", "toml"),
        words: words::PROFILE,
        read,
    });
}

#[test]
fn reader_claims() {
    fn read(bytes: &[u8]) -> bool {
        let lines = predict::claim_lines(Path::new(NOWHERE), &text(bytes));
        lines.is_ok_and(|lines| lines.iter().all(|line| line.low <= line.high))
    }
    fuzz(Reader {
        name: "claims",
        cases: 2000,
        corpus: fixtures(&["fuzz/claims.csv"]),
        words: words::PROFILE,
        read,
    });
}

#[test]
fn reader_fio() {
    fn read(bytes: &[u8]) -> bool {
        fio::parse(&text(bytes)).is_ok()
    }
    let corpus = fixtures(&["fio/group.json", "fio/version2.json", "fio/refused.json"]);
    fuzz(Reader { name: "fio", cases: 2000, corpus, words: words::TOOLS, read });
}

#[test]
fn reader_memtier() {
    fn read(bytes: &[u8]) -> bool {
        let Ok(report) = memcached::parse_memtier(bytes) else { return false };
        let seconds: usize = report.runs.iter().map(|run| run.ops_per_second.len()).sum();
        assert!(seconds <= 1 << 22, "{seconds} seconds out of {} bytes", bytes.len());
        true
    }
    let corpus = fixtures(&["fuzz/memtier-1.json", "fuzz/memtier-3.json"]);
    fuzz(Reader { name: "memtier", cases: 2000, corpus, words: words::TOOLS, read });
}

#[test]
fn reader_memcached_stats() {
    fn read(bytes: &[u8]) -> bool {
        let Ok(stats) = memcached::Stats::parse(&text(bytes)) else { return false };
        let _ = (stats.items_sum("evicted"), stats.processor_time(), stats.number("maxbytes"));
        true
    }
    let corpus = fixtures(&["fuzz/stats.txt"]);
    fuzz(Reader { name: "memcached-stats", cases: 2000, corpus, words: words::TOOLS, read });
}

#[test]
fn reader_netperf() {
    fn read(bytes: &[u8]) -> bool {
        netperf::parse(&text(bytes)).is_ok()
    }
    let names = ["confidence", "omni_pairs", "sctp_stream_many", "tcp_rr"];
    let corpus = names.map(|name| fixture(&format!("netperf/{name}.txt"))).to_vec();
    fuzz(Reader { name: "netperf", cases: 2000, corpus, words: words::TOOLS, read });
}

#[test]
fn reader_will_it_scale() {
    fn read(bytes: &[u8]) -> bool {
        let text = text(bytes);
        let (program, table) = (will_it_scale::parse_program(&text), will_it_scale::parse_table(&text));
        program.is_ok() || table.is_ok()
    }
    let corpus = fixtures(&["will_it_scale/pread2_processes.txt", "will_it_scale/table.csv"]);
    fuzz(Reader { name: "will-it-scale", cases: 2000, corpus, words: words::TOOLS, read });
}

#[test]
fn reader_command() {
    fn metric(source: &str) -> CommandMetric {
        let definition = r#"{"id":"x.rate","unit":"per-second","kind":"throughput","direction":"higher-is-better","label":"x"}"#;
        let text = format!(r#"{{"definition":{definition},"source":{source},"factor":1e300}}"#);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
    fn read(bytes: &[u8]) -> bool {
        let text = text(bytes);
        let pointer = command::extract(&metric(r#"{"pointer":"/jobs/0/read/iops"}"#), &text, "");
        let regex = command::extract(&metric(r#"{"regex":"iops[^0-9]*(?<value>[-0-9.e]+)"}"#), &text, &text);
        for value in [&pointer, &regex].into_iter().flatten() {
            assert!(value.is_finite());
        }
        pointer.is_ok() || regex.is_ok()
    }
    let corpus = fixtures(&["fio/group.json"]);
    fuzz(Reader { name: "command", cases: 2000, corpus, words: words::TOOLS, read });
}

#[test]
fn reader_traces() {
    fn recorded(bytes: &[u8], paging: Paging, size: Option<usize>) -> bool {
        let layout = CsvLayout { object: 1, size, header: true, ..CsvLayout::default() };
        let kind = RegionKind::Anon;
        let all = [
            trace::record(trace::text(bytes), kind, paging),
            trace::record(trace::csv(bytes, layout), kind, paging),
            trace::record(trace::oracle_general(bytes), kind, paging),
        ];
        all.iter().flatten().any(|recorded| !recorded.regions().is_empty())
    }
    fn read(bytes: &[u8]) -> bool {
        recorded(bytes, Paging::ObjectIsPage, None)
            | (bytes.len() < 256 && recorded(bytes, Paging::BySize, Some(2)))
    }
    let record = |time: u32, object: u64, size: u32, next: i64| {
        let parts =
            [&time.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()];
        parts.concat()
    };
    let corpus = vec![
        b"# invented\n1 r\n2 w\n1\nname set\n0xff get\n".to_vec(),
        b"object,size,op\n1,4096,r\n2,10000,w\n1,4096,r\n".to_vec(),
        [record(1, 7, 4096, 2), record(2, 9, 9000, -1), record(3, 7, 4096, i64::MAX)].concat(),
    ];
    fuzz(Reader { name: "traces", cases: 2000, corpus, words: words::TRACE, read });
}

/// Reads a record back from what was written of it.
fn reads_back<T: DeserializeOwned + serde::Serialize>(bytes: &[u8]) -> bool {
    let Ok(value) = store::parse_json::<T>(Path::new(NOWHERE), bytes, "record") else { return false };
    let written = serde_json::to_vec(&value).expect("what was read can be written");
    let again: T = store::parse_json(Path::new(NOWHERE), &written, "record")
        .unwrap_or_else(|error| panic!("{error}: {}", text(&written)));
    assert_eq!(serde_json::to_vec(&again).expect("written"), written, "a second reading differs");
    true
}

#[test]
fn reader_records() {
    fn read(bytes: &[u8]) -> bool {
        reads_back::<TrialRecord>(bytes) | reads_back::<TrialSpec>(bytes)
    }
    let corpus = fixtures(&["fuzz/record.json", "fuzz/spec.json"]);
    fuzz(Reader { name: "records", cases: 2000, corpus, words: words::RECORDS, read });
}

#[test]
fn reader_manifest() {
    fn read(bytes: &[u8]) -> bool {
        reads_back::<Manifest>(bytes) | reads_back::<Plan>(bytes)
    }
    let corpus = fixtures(&["fuzz/manifest.json", "fuzz/plan.json"]);
    fuzz(Reader { name: "manifest", cases: 2000, corpus, words: words::RECORDS, read });
}

#[test]
fn reader_journal() {
    fn read(bytes: &[u8]) -> bool {
        let series = text(bytes).lines().any(|line| serde_json::from_str::<Sample>(line).is_ok());
        series | CampaignJournal::parse(Path::new(NOWHERE), bytes).is_ok_and(|entries| !entries.is_empty())
    }
    let corpus = fixtures(&["fuzz/journal.jsonl", "fuzz/series.jsonl"]);
    fuzz(Reader { name: "journal", cases: 2000, corpus, words: words::RECORDS, read });
}

#[test]
fn reader_kernel_config() {
    fn read(bytes: &[u8]) -> bool {
        let config = KernelConfig::parse(&text(bytes));
        let other = KernelConfig::parse("CONFIG_LRU_GEN=y\n");
        let _ = (config.hash(), config.differences(&other), config.missing("CONFIG_SWAP=y\n"));
        let _ = (kernel_config::embedded(bytes), kernel_config::unpack_gzip(bytes), build_id_in_notes(bytes));
        !config.is_empty()
    }
    let mut corpus = fixtures(&["fuzz/kernel.config"]);
    corpus.extend(folder("configs/kernel", "config"));
    fuzz(Reader { name: "kernel-config", cases: 500, corpus, words: words::KERNEL, read });
}

#[test]
fn reader_kernel_files() {
    fn read(bytes: &[u8]) -> bool {
        let root = one_text::root(bytes);
        let any = [
            Counters::read(&root, "/x").is_ok(),
            Meminfo::read(&root).is_ok(),
            Pressure::read(&root, "/x").is_ok(),
            ZramStat::read(&root, "zram9").is_ok(),
            reader::mounts(&root).is_ok(),
            reader::swaps(&root).is_ok(),
            reader::zones(&root).is_ok(),
            reader::process_stat(&root, 1).is_ok(),
            cgroup::CgroupLayout::detect(&root).is_ok(),
        ];
        any.contains(&true)
    }
    fuzz(Reader { name: "kernel-files", cases: 2000, corpus: kernel_files(), words: words::KERNEL, read });
}

#[test]
fn reader_host_facts() {
    fn read(bytes: &[u8]) -> bool {
        let root = one_text::root(bytes);
        let facts = HostFacts::gather(&root, Path::new("/"));
        let _ = RunningKernel::read(&root);
        serde_json::to_vec(&facts).is_ok()
    }
    fuzz(Reader { name: "host-facts", cases: 50, corpus: kernel_files(), words: words::KERNEL, read });
}

fn kernel_files() -> Vec<Vec<u8>> {
    let names = [
        "meminfo",
        "memory.events",
        "memory.stat.v1",
        "memory.stat.v2",
        "mm_stat",
        "mountinfo",
        "pressure",
        "process.stat",
        "swaps",
        "vmstat",
        "zoneinfo",
    ];
    names.map(|name| fixture(&format!("host/{name}"))).to_vec()
}
