use super::*;

fn command(count: u64, rate: &str, mean: &str) -> String {
    format!(
        r#"{{"Count": {count}, "Ops/sec": {rate}, "Hits/sec": 3.00, "Misses/sec": 1.00, "Connection Errors": 0,
            "Latency": {mean}, "Average Latency": {mean}, "Accumulated Latency": 9, "Min Latency": 0.008,
            "Max Latency": 1.500, "KB/sec": 2.00, "KB/sec RX": 0.50, "KB/sec TX": 1.50,
            "Time-Serie": {{"0": {{"Count": 7}}, "2": {{"Count": 4, "Average Latency": -nan}}}},
            "Percentile Latencies": {{"p50.00": 0.055, "p99.00": 0.247, "p99.90": 0.431,
                "Histogram log format": {{"Compressed Histogram": "HIST nan {{\"-inf\" "}} }} }}"#
    )
}

fn section(sets: &str, gets: &str, totals: &str, interrupted: &str) -> String {
    format!(
        r#"{{"Runtime": {{"Total duration": 250, "Time unit": "MILLISECONDS", "Interrupted": "{interrupted}"}},
            "Sets": {sets}, "Gets": {gets}, "Waits": {{"Count": 0}}, "Totals": {totals}}}"#
    )
}

fn plain_section() -> String {
    section(
        &command(30, "120.00", "2.000"),
        &command(10, "40.00", "4.000"),
        &command(40, "160.00", "2.000"),
        "false",
    )
}

#[test]
fn one_run_in_base_units() {
    let text = format!(r#"{{"configuration": {{"server": (null)}}, "ALL STATS": {}}}"#, plain_section());
    let report = parse(text.replace("(null)", "\"(null)\"").as_bytes()).unwrap();
    assert_eq!((report.runs.len(), report.averaged, report.interrupted), (1, false, false));
    let run = &report.runs[0];
    assert_eq!((run.index, run.duration), (1, Nanos::from_millis(250)));
    assert_eq!((run.sets.count, run.gets.count, run.totals.count), (30, 10, 40));
    assert_eq!(run.totals.ops_per_sec, 160.0);
    assert_eq!(run.sets.latency_mean, Some(2e6));
    // The total's own mean is cut to whole milliseconds; the parts weigh it anew.
    assert_eq!(run.totals.latency_mean, Some(2.5e6));
    assert_eq!(run.gets.quantiles, Quantiles { p50: Some(55e3), p99: Some(247e3), p999: Some(431e3) });
    assert_eq!((run.totals.bytes_per_sec, run.totals.sent_bytes_per_sec), (2048.0, Some(1536.0)));
    assert_eq!(run.ops_per_second, [7, 0, 4]);
}

#[test]
fn numbers_without_a_value_are_missing() {
    let empty = r#"{"Count": 0, "Ops/sec": 0.00, "Average Latency": -nan, "Min Latency": 9223372036854776.000,
                    "Max Latency": inf, "Time-Serie": {}}"#;
    let text = format!(r#"{{"ALL STATS": {}}}"#, section(empty, empty, empty, "false"));
    let report = parse(text.as_bytes()).unwrap();
    assert_eq!(report.missing_numbers, 6);
    let totals = &report.runs[0].totals;
    assert_eq!((totals.count, totals.latency_mean, totals.latency_min), (0, None, None));
    // Set, yet never a minimum.
    let unset =
        command(5, "20.00", "1.000").replace("0.008", "9223372036854776.000").replace("1.500", "-inf");
    let text = format!(r#"{{"ALL STATS": {}}}"#, section(&unset, empty, &unset, "false"));
    let totals = parse(text.as_bytes()).unwrap().runs[0].totals.clone();
    assert_eq!((totals.latency_min, totals.latency_max, totals.latency_mean), (None, None, Some(1e6)));
}

#[test]
fn several_runs_are_read_one_by_one() {
    let section = plain_section();
    let text = format!(
        r#"{{"RUN #2 RESULTS": {section}, "RUN #10 RESULTS": {section}, "RUN #1 RESULTS": {section},
            "BEST RUN RESULTS": {section}, "AGGREGATED AVERAGE RESULTS (3 runs)": {section}}}"#
    );
    let report = parse(text.as_bytes()).unwrap();
    let indices: Vec<u32> = report.runs.iter().map(|run| run.index).collect();
    assert_eq!((indices, report.averaged), (vec![1, 2, 10], false));
}

#[test]
fn an_average_is_marked_as_one() {
    let section = plain_section().replace("\"Total duration\": 250", "\"Total duration\": 0");
    let text = format!(
        r#"{{"BEST RUN RESULTS": {section}, "WORST RUN RESULTS": {section},
            "AGGREGATED AVERAGE RESULTS (3 runs)": {section}}}"#
    );
    let report = parse(text.as_bytes()).unwrap();
    assert_eq!((report.runs.len(), report.averaged), (1, true));
    assert_eq!(report.runs[0].duration, Nanos::from_millis(250));
}

#[test]
fn text_around_the_object_is_tolerated() {
    let body = format!(r#"{{"ALL STATS": {}}}"#, plain_section());
    for text in [
        format!("\u{feff}{body}"),
        format!("warning: something\n{body}"),
        body.replace('\n', "\r\n"),
        format!("{body}\n{{\"second\": 1}}"),
        format!("{body}\ntrailing"),
    ] {
        assert_eq!(parse(text.as_bytes()).expect(&text).runs[0].totals.count, 40);
    }
    let mut invalid = body.clone().into_bytes();
    let at = body.find("HIST").unwrap();
    invalid[at] = 0xff;
    assert_eq!(parse(&invalid).unwrap().runs[0].totals.count, 40);
}

#[test]
fn an_interrupted_run_says_so() {
    let part = command(3, "12.00", "1.000");
    let text = format!(r#"{{"ALL STATS": {}}}"#, section(&part, &part, &part, "true"));
    assert!(parse(text.as_bytes()).unwrap().interrupted);
}

#[test]
fn what_is_no_report_is_an_error() {
    let body = format!(r#"{{"ALL STATS": {}}}"#, plain_section());
    for text in [
        "",
        "error: response parsing failed.",
        "[]",
        "{",
        "{}",
        r#"{"configuration": {}}"#,
        r#"{"ALL STATS": 3}"#,
        r#"{"ALL STATS": {"Sets": {}, "Gets": {}, "Totals": {}}}"#,
        &body[..body.len() / 2],
    ] {
        let error = parse(text.as_bytes()).expect_err(text);
        assert!(matches!(error, WorkloadError::Output { .. }), "{error}");
    }
}

proptest::proptest! {
    #[test]
    fn no_input_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn no_damage_panics(at in 0usize..2000, byte in proptest::prelude::any::<u8>()) {
        let mut bytes = format!(r#"{{"ALL STATS": {}}}"#, plain_section()).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = parse(&bytes);
    }
}

#[test]
fn numbers_in_the_file_do_not_ask_for_memory() {
    let whole = plain_section().replace("\"Count\": 30", &format!("\"Count\": {}", u64::MAX));
    let all_seconds =
        format!("{{\"ALL STATS\": {}}}", whole.replace("\"2\":", &format!("\"{}\":", usize::MAX)));
    let report = parse(all_seconds.as_bytes()).unwrap();
    assert_eq!((report.runs[0].sets.count, report.runs[0].ops_per_second.len()), (u64::MAX, 1));
    let far = plain_section().replace("\"2\":", "\"4000000\":");
    let sections: Vec<String> = (1..9).map(|n| format!("\"RUN #{n} RESULTS\": {far}")).collect();
    let report = parse(format!("{{{}}}", sections.join(",")).as_bytes()).unwrap();
    let seconds: usize = report.runs.iter().map(|run| run.ops_per_second.len()).sum();
    assert!(report.runs.len() == 8 && seconds <= MOST_SECONDS, "{seconds}");
}
