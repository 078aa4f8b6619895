use super::*;
use crate::units::Nanos;
use crate::workload::memcached::CommandResult;

fn stats(numbers: &[(&str, u64)]) -> Stats {
    let lines: String = numbers.iter().map(|(name, value)| format!("STAT {name} {value}\r\n")).collect();
    Stats::parse(&format!("{lines}END\r\n")).unwrap()
}

fn run(sets: u64, gets: u64) -> LoadRun {
    let count = |count| CommandResult { count, ..CommandResult::default() };
    LoadRun {
        index: 1,
        duration: Nanos::from_seconds(1),
        sets: count(sets),
        gets: count(gets),
        totals: count(sets + gets),
        ops_per_second: Vec::new(),
        connection_errors: 0,
    }
}

/// The example stores 600 keys, 100 by each of six clients.
fn rules(after: &[(&str, u64)], runs: &[LoadRun], change: impl FnOnce(&mut LoaderSpec)) -> Vec<String> {
    let mut spec = LoaderSpec::example();
    change(&mut spec);
    let before = stats(&[("cmd_set", 0), ("evictions", 0)]);
    let after = stats(after);
    let evidence =
        Evidence { spec: &spec, runs, before: &before, after: &after, allow_evictions: false, filled: false };
    judge(&evidence).into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn a_clean_run_breaks_no_rule() {
    let after = [("cmd_set", 600), ("cmd_get", 0), ("curr_items", 600)];
    assert_eq!(rules(&after, &[run(600, 0)], |_| {}), [""; 0]);
}

#[test]
fn counters_of_the_server_are_judged() {
    let clean = [("cmd_set", 600), ("curr_items", 600)];
    for (name, rule) in [
        ("evictions", "memcached.evictions"),
        ("store_no_memory", "memcached.out_of_memory"),
        ("items:4:outofmemory", "memcached.out_of_memory"),
        ("rejected_connections", "memcached.rejected_connections"),
        ("listen_disabled_num", "memcached.rejected_connections"),
    ] {
        let after: Vec<(&str, u64)> = clean.into_iter().chain([(name, 1)]).collect();
        assert_eq!(rules(&after, &[run(600, 0)], |_| {}), [rule], "{name}");
    }
}

#[test]
fn work_must_be_what_was_asked_and_what_the_server_saw() {
    let after = [("cmd_set", 600), ("curr_items", 600)];
    assert_eq!(rules(&after, &[run(0, 0)], |_| {}), ["load.no_work", "load.disagreement"]);
    assert_eq!(rules(&after, &[run(599, 0)], |_| {}), ["load.operations", "load.disagreement"]);
    let broken = LoadRun { connection_errors: 2, ..run(600, 0) };
    assert_eq!(rules(&after, &[broken], |_| {}), ["load.connection_errors"]);
    // A timed run may leave a pipeline of each of six clients uncounted.
    let timed = |spec: &mut LoaderSpec| spec.requests = Requests::For(Nanos::from_seconds(1));
    assert_eq!(rules(&[("cmd_set", 624)], &[run(600, 0)], timed), [""; 0]);
    assert_eq!(rules(&[("cmd_set", 625)], &[run(600, 0)], timed), ["load.disagreement"]);
}

#[test]
fn every_key_must_be_there() {
    assert_eq!(rules(&[("cmd_set", 600), ("curr_items", 599)], &[run(600, 0)], |_| {}), ["memcached.items"]);
    // Random keys do not reach all, and half of the operations do not store.
    let after = [("cmd_set", 300), ("cmd_get", 300), ("curr_items", 300)];
    assert_eq!(rules(&after, &[run(300, 300)], |spec| spec.ratio = (1, 1)), [""; 0]);
}

#[test]
fn misses_after_a_fill_are_a_violation() {
    let spec = LoaderSpec { ratio: (0, 1), ..LoaderSpec::example() };
    let after = stats(&[("cmd_get", 600), ("get_misses", 3), ("curr_items", 600)]);
    let (before, runs) = (stats(&[]), [run(0, 600)]);
    let mut evidence = Evidence {
        spec: &spec,
        runs: &runs,
        before: &before,
        after: &after,
        allow_evictions: false,
        filled: true,
    };
    assert_eq!(judge(&evidence)[0].rule, "memcached.misses");
    evidence.allow_evictions = true;
    assert!(judge(&evidence).is_empty());
}
