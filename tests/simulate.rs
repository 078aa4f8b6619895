//! `run-bench simulate` as a user meets it: the same options give the same bytes.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_run-bench");

fn simulate(arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.arg("simulate").args(arguments).stdin(Stdio::null());
    command.output().expect("run-bench starts")
}

fn stdout(arguments: &[&str]) -> String {
    let output = simulate(arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn refused(arguments: &[&str]) -> String {
    let output = simulate(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Usemem on three arms, of which the last repeats the first.
const THREE_ARMS: &str = r#"
schema = 1
title = "three arms"
[memcg]
limit = "32MiB"
[swap]
kind = "ramdisk"
size = "128MiB"
[workload.usemem]
processes = 2
size = "24MiB"
passes = 3
[[arm]]
name = "classic"
knobs = { lru_gen = "n" }
[[arm]]
name = "more"
memcg = { limit = "40MiB" }
knobs = { lru_gen = "y" }
[[arm]]
name = "again"
role = "control"
knobs = { lru_gen = "n" }
[analysis]
primary = "usemem.bytes_per_sec"
"#;

const SMALL: [&str; 8] = ["--stream", "cyclic", "--pages", "3000", "--limit", "2000", "--accesses", "12000"];

#[test]
fn a_flag_stands_beside_the_kernel_without_it() {
    let text =
        stdout(&[&SMALL[..], &["--backing", "file", "--policy", "classic", "--flag", "bulk-move"]].concat());
    insta::assert_snapshot!(text, @r#"
    cyclic: 12000 accesses over 3000 pages (11.72MiB) of files, seed 1
      classic 6.12: classic of 6.12, limit 7.81MiB, swap 23.44MiB, swappiness 60; checked against User-Mode Linux 6.12.117
      classic 6.12 + flags: classic of 6.12 with bulk-move, limit 7.81MiB, swap 23.44MiB, swappiness 60; unvalidated with these flags

    phase run: 12000 accesses
    memory.stat                   classic 6.12  classic 6.12 + flags  difference
      pgscan                             10024                 10024           0
      pgsteal                            10024                 10024           0
      pgscan_direct                      10024                 10024           0
      pgsteal_direct                     10024                 10024           0
      workingset_refault_file             9000                  9000           0
      memory.events max                    179                   179           0
    /proc/vmstat                  classic 6.12  classic 6.12 + flags  difference
      pgscan_file                        10024                 10024           0
      pgsteal_file                       10024                 10024           0
      pgalloc_normal                     12000                 12000           0
      pgfree                             10024                 10024           0
      pgpgin                             48000                 48000           0

    at the end (bytes)           classic 6.12  classic 6.12 + flags  difference
      file                             8093696               8093696           0
      inactive_file                    8089600               8089600           0
      memory.current                   8093696               8093696           0
    classic 6.12: 12000 pages brought in, 1.0000 of the accesses of phase run
    classic 6.12 + flags: 12000 pages brought in, 1.0000 of the accesses of phase run
    "#);
}

#[test]
fn a_warm_up_is_a_phase_of_its_own_and_events_have_their_numbers() {
    let text = stdout(&[&SMALL[..], &["--warm-up", "3000", "--events", "--platform", "uml"]].concat());
    for part in [
        "phase warm-up: 3000 accesses",
        "phase measure: 9000 accesses",
        "  E1 access_map_write               3000\n",
        "  E16 scan_folio                    3024\n",
        "  E44 free_batch_folio              9704\n",
        "of the accesses of phase measure",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn the_same_options_give_the_same_bytes_on_any_number_of_threads() {
    let options = |threads| {
        [
            "--stream",
            "zipf:0.9",
            "--pages",
            "4000",
            "--accesses",
            "20000",
            "--writes",
            "30",
            "--kernel",
            "6.1",
            "--kernel",
            "6.12",
            "--kernel",
            "7.2",
            "--policy",
            "mglru",
            "--policy",
            "classic",
            "--threads",
            threads,
        ]
    };
    let one = stdout(&options("1"));
    assert_eq!(one, stdout(&options("5")));
    assert!(one.matches("unvalidated").count() >= 2, "{one}");
    assert_ne!(one, stdout(&[&options("5")[..], &["--seed", "2"]].concat()));
    let curve = |threads| {
        stdout(&[
            "--stream",
            "uniform",
            "--pages",
            "3000",
            "--accesses",
            "9000",
            "--mrc",
            "--points",
            "3",
            "--threads",
            threads,
        ])
    };
    assert_eq!(curve("1"), curve("4"));
}

#[test]
fn json_names_counters_as_the_kernel_does() {
    let text = stdout(&[&SMALL[..], &["--json"]].concat());
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let case = &document["workloads"][0]["cases"][0];
    assert_eq!((&document["schema"], &case["kernel"]), (&1.into(), &"6.12".into()));
    let phase = &case["phases"][0];
    assert_eq!(phase["accesses"], 12_000);
    let count = |section: &str, name: &str| phase[section][name].as_u64().unwrap_or_else(|| panic!("{name}"));
    assert_eq!(count("memory_stat", "pgscan"), count("events", "isolate_folio"));
    assert_eq!(count("vmstat", "pswpout"), count("memory_stat", "pgsteal"));
    assert!(count("memory_events", "max") > 0);
}

#[test]
fn a_series_is_read_as_a_trials_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    stdout(&[&SMALL[..], &["--series", &path, "--samples", "10", "--rate", "1000"]].concat());
    let samples =
        run_bench::store::SeriesReader::read(&Path::new(&path).join("mglru-6.12.jsonl")).expect("samples");
    assert_eq!(samples.len(), 11);
    assert_eq!(samples[10].at.as_seconds(), 12.0);
    for name in ["memory_stat.pgscan", "vmstat.pswpin", "memory_current.value", "memory_events.max"] {
        let values: Vec<u64> = samples.iter().map(|sample| sample.values[name]).collect();
        assert!(values[0] == 0 && values[10] > 0, "{name}: {values:?}");
    }
}

#[test]
fn curves_come_as_csv_and_as_charts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let options = ["--stream", "zipf:0.9", "--pages", "2000", "--accesses", "8000", "--mrc", "--points", "4"];
    let csv = stdout(&options);
    let printed = stdout(&[&options[..], &["--out", &path]].concat());
    assert_eq!(printed.lines().count(), 5);
    let file = folder.path().join("stream-mrc.csv");
    assert_eq!(std::fs::read_to_string(file).expect("written"), csv);
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("policy,size_pages,accesses,misses,miss_ratio,refaults,refault_ratio"));
    assert_eq!(lines.count(), 20, "five policies at four sizes");
    for name in ["stream-mrc.svg", "stream-refaults.png"] {
        assert!(folder.path().join(name).metadata().expect(name).len() > 1000, "{name}");
    }
}

#[test]
fn an_experiment_is_simulated_arm_by_arm() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("three.toml").display().to_string();
    std::fs::write(&config, THREE_ARMS).expect("written");
    let text = stdout(&[&config, "--scale", "1/1", "--kernel", "6.12", "--flag", "refault-detection"]);
    insta::assert_snapshot!(text, @r#"
    three arms: usemem over 12288 pages (48MiB), seed 1
      classic: classic of 6.12, limit 32MiB, swap 128MiB, swappiness 60; checked against User-Mode Linux 6.12.117
      more: mglru of 6.12, limit 40MiB, swap 128MiB, swappiness 60; checked against User-Mode Linux 6.12.117, page-table walks unvalidated
      again: classic of 6.12, limit 32MiB, swap 128MiB, swappiness 60; checked against User-Mode Linux 6.12.117
      classic + flags: classic of 6.12 with refault-detection, limit 32MiB, swap 128MiB, swappiness 60; unvalidated with these flags

    phase run: 49152 accesses
    memory.stat                   classic   more        difference  again  difference  classic + flags  difference
      pgscan                        61430  43932  -17498 (-28.48%)  61430           0            61430           0
      pgsteal                       28702  26674    -2028 (-7.07%)  28702           0            28702           0
      pgfault                       36864  36864                 0  36864           0            36864           0
      pgmajfault                    24576  24576                 0  24576           0            24576           0
      pgscan_direct                 61430  43932  -17498 (-28.48%)  61430           0            61430           0
      pgsteal_direct                28702  26674    -2028 (-7.07%)  28702           0            28702           0
      pgrefill                          0   1920             +1920      0           0                0           0
      pgactivate                        0   1779             +1779      0           0                0           0
      workingset_refault_anon       24576  24576                 0  24576           0            24576           0
      workingset_activate_anon          0  16306            +16306      0           0                0           0
      workingset_restore_anon           0  16306            +16306      0           0                0           0
      memory.events max               698    387    -311 (-44.56%)    698           0              698           0
    /proc/vmstat                  classic   more        difference  again  difference  classic + flags  difference
      pgscan_anon                   61430  43932  -17498 (-28.48%)  61430           0            61430           0
      pgsteal_anon                  28702  26674    -2028 (-7.07%)  28702           0            28702           0
      pgalloc_normal                36864  36864                 0  36864           0            36864           0
      pgfree                        36864  36864                 0  36864           0            36864           0
      pswpin                        24576  24576                 0  24576           0            24576           0
      pswpout                       28702  26674    -2028 (-7.07%)  28702           0            28702           0
      nr_vmscan_write               28702  26674    -2028 (-7.07%)  28702           0            28702           0
      pgpgin                        98304  98304                 0  98304           0            98304           0
    classic: 36864 pages brought in, 0.7500 of the accesses of phase run
    more: 36864 pages brought in, 0.7500 of the accesses of phase run
    again: 36864 pages brought in, 0.7500 of the accesses of phase run
    classic + flags: 36864 pages brought in, 0.7500 of the accesses of phase run
    "#);
    let campaign = folder.path().join("campaign").display().to_string();
    stdout(&[&config, "--into", &campaign, "--samples", "20"]);
    for arm in ["classic", "more", "again"] {
        let path = Path::new(&campaign).join("simulated/usemem").join(format!("{arm}.jsonl"));
        let samples = run_bench::store::SeriesReader::read(&path).expect("samples");
        assert!(samples.len() > 2 && samples[0].at.0 == 0, "{arm}");
    }
    let pcp = format!("{}/configs/pcp-sctp.toml", env!("CARGO_MANIFEST_DIR"));
    assert!(refused(&[&pcp]).contains("page allocator"));
    assert!(refused(&[&config, "--kernel", "6.1", "--kernel", "6.12"]).contains("--kernel is given 2 times"));
}

#[test]
fn traces_come_from_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.csv").display().to_string();
    let lines: String = (0..5000).map(|i| format!("{i},key{},get\n", i * 7919 % 900)).collect();
    std::fs::write(&path, format!("time,key,op\n{lines}")).expect("written");
    let format = "csv,object=2,operation=3,header";
    let text = stdout(&["--trace", &path, "--trace-format", format, "--limit", "400"]);
    assert!(text.contains("5000 accesses over 900 pages of files"), "{text}");
    std::fs::write(&path, [0x28, 0xb5, 0x2f, 0xfd, 0]).expect("written");
    assert!(refused(&["--trace", &path]).contains("zstd -d"));
}

#[test]
fn wrong_requests_say_what_is_known() {
    let list = stdout(&["--flag", "list"]);
    assert!(list.contains("next-folio-prefetch") && list.lines().count() == 38, "{list}");
    assert!(refused(&["--stream", "gauss"]).contains("zipf:S"));
    assert!(refused(&["--flag", "faster"]).contains("bulk-move"));
    assert!(refused(&["--kernel", "6.13"]).contains("6.14-posted"));
    assert!(refused(&["--limit", "0"]).contains("cannot be simulated"));
    assert!(refused(&["--stream", "fio-zipf:1.0"]).contains("theta"));
}

#[test]
fn the_help_has_examples_and_the_manual_the_command() {
    let help = stdout(&["--help"]);
    assert!(help.contains("run-bench simulate --stream zipf:0.99") && help.contains("--mrc"), "{help}");
    for command in [&["man"][..], &["completions", "bash"]] {
        let output = Command::new(BINARY).args(command).output().expect("run-bench starts");
        assert!(String::from_utf8_lossy(&output.stdout).contains("simulate"), "{command:?}");
    }
}

#[test]
fn a_memcg_that_runs_full_is_an_invalid_run() {
    let options = ["--stream", "uniform", "--pages", "3000", "--limit", "1000", "--swap", "500"];
    let output = simulate(&options);
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing can be reclaimed"));
}
