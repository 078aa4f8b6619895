//! Errors of experiments, as a user meets them.

use std::path::Path;

use super::*;

const GOOD: &str = r#"
schema = 1
title = "two limits"

[memcg]
limit = "64MiB"

[swap]
kind = "zram"
size = "512MiB"

[workload.memcached]
memory = "512MiB"
threads = 2
[workload.memcached.load]
keys = 200000
value = "1KiB"
clients = 2
threads = 2
pipeline = 8

[[arm]]
name = "small"

[[arm]]
name = "large"
memcg = { limit = "80MiB" }

[analysis]
primary = "memcached.ops_per_sec"
margin = "1%"
"#;

fn error(text: &str) -> String {
    parse(Path::new("x.toml"), text).expect_err("a bad experiment").to_string()
}

#[test]
fn a_good_experiment_reads_and_round_trips() {
    let experiment = parse(Path::new("x.toml"), GOOD).expect("good");
    assert_eq!(experiment.arms.len(), 2);
    let text = toml::to_string(&experiment).expect("serializes");
    assert_eq!(parse(Path::new("x.toml"), &text).expect("reads back"), experiment);
}

#[test]
fn an_unknown_key_names_line_key_and_nearest() {
    let message = error(&GOOD.replace("pipeline = 8", "pipelin = 8"));
    assert!(message.contains("x.toml, line 20"), "{message}");
    assert!(message.contains("workload.memcached.load"), "{message}");
    assert!(message.contains("did you mean `pipeline`?"), "{message}");
}

#[test]
fn units_are_asked_for() {
    let message = error(&GOOD.replace("\"64MiB\"", "\"64M\""));
    assert!(message.contains("line 6") && message.contains("64MiB"), "{message}");
    assert!(error(&GOOD.replace("\"64MiB\"", "64")).contains("line 6"));
    assert!(error(&GOOD.replace("\"1%\"", "\"1\"")).contains("percent"));
}

#[test]
fn values_that_make_no_sense_are_listed_together() {
    let text = GOOD
        .replace("name = \"small\"", "name = \"../small\"")
        .replace("clients = 2", "clients = 0")
        .replace("memcached.ops_per_sec", "fio.read_iops");
    let message = error(&text);
    for part in ["3 problem(s)", "arm[1].name", "load.clients", "analysis.primary"] {
        assert!(message.contains(part), "{part} not in {message}");
    }
}

#[test]
fn one_sided_parallel_patterns_are_refused() {
    let message = error(&GOOD.replace("pipeline = 8", "pattern = \"P:R\"\nratio = \"1:1\""));
    assert!(message.contains("load.pattern"), "{message}");
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,400}") {
        let _ = parse(Path::new("x.toml"), &text).map_err(|e| e.to_string());
    }

    #[test]
    fn a_damaged_experiment_is_read_or_refused(at in 0usize..600, byte in 32u8..127) {
        let mut bytes = GOOD.as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        let text = String::from_utf8(bytes).expect("ASCII");
        if let Err(e) = parse(Path::new("x.toml"), &text) {
            proptest::prop_assert!(e.to_string().starts_with("x.toml"));
        }
    }
}

#[test]
fn what_a_terminal_obeys_is_no_part_of_a_text() {
    for text in ["\\u001b[2J", "\\u009b31m", "\\u202e", "a\\u0000b"] {
        let message = error(&GOOD.replace("two limits", text));
        assert!(message.contains("title: ") && message.contains("terminal"), "{message}");
    }
}
