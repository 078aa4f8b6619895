use proptest::prelude::*;

use super::*;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::workload::captures;

const STREAM: &str = include_str!("../../../tests/fixtures/netperf/sctp_stream_many.txt");
const PAIRS: &str = include_str!("../../../tests/fixtures/netperf/omni_pairs.txt");
const RESPONSE: &str = include_str!("../../../tests/fixtures/netperf/tcp_rr.txt");
const CONFIDENCE: &str = include_str!("../../../tests/fixtures/netperf/confidence.txt");
const UNKNOWN: &str = include_str!("../../../tests/fixtures/netperf/unknown_test.txt");
const NO_SERVER: &str = include_str!("../../../tests/fixtures/netperf/no_server.txt");

#[test]
fn tables_and_pairs_give_exact_rates() {
    let stream = parse(STREAM).unwrap();
    assert_eq!(stream.rate, Rate::BytesPerSecond(4321.5e6 / 8.0));
    assert_eq!((stream.elapsed_seconds, stream.confidence), (10.02, None));
    let pairs = parse(PAIRS).unwrap();
    assert_eq!(pairs.rate, Rate::BytesPerSecond(17_000.25e6 / 8.0));
    assert_eq!(pairs.elapsed_seconds, 3.0);
    assert_eq!(parse(RESPONSE).unwrap().rate, Rate::TransactionsPerSecond(61_234.56));
    let kilo = STREAM.replace("10^6bits/sec", "KBytes/sec");
    assert_eq!(parse(&kilo).unwrap().rate, Rate::BytesPerSecond(4321.5 * 1024.0));
}

#[test]
fn low_confidence_is_read_and_kept() {
    let output = parse(CONFIDENCE).unwrap();
    let expected = Confidence { throughput: 18.25, local_cpu: 0.5, remote_cpu: 0.75 };
    assert_eq!(output.confidence, Some(expected));
    assert_eq!(output.rate, Rate::BytesPerSecond(9000.0e6 / 8.0));
    let cut = CONFIDENCE.replace("!!!                       Remote CPU util : 0.750%\n", "");
    assert_eq!(parse(&cut), Err(NetperfParseError::Confidence));
}

#[test]
fn refusals_have_names() {
    assert!(matches!(parse(UNKNOWN), Err(NetperfParseError::UnknownTest(_))));
    assert!(matches!(parse(NO_SERVER), Err(NetperfParseError::NoServer(_))));
    assert_eq!(parse(""), Err(NetperfParseError::NoTable));
    let short = STREAM.replace("10.02", "");
    assert!(matches!(parse(&short), Err(NetperfParseError::Short(_))));
    let odd = STREAM.replace("10^6bits/sec", "furlongs");
    assert!(matches!(parse(&odd), Err(NetperfParseError::Unit(_))));
    let infinite = PAIRS.replace("17000.25", "inf");
    assert!(matches!(parse(&infinite), Err(NetperfParseError::Number(_))));
}

#[test]
fn captures_of_the_real_tool_are_read() {
    for (name, text) in captures::of("netperf") {
        let parsed = parse(&text);
        match name.as_str() {
            "netperf-noserver.txt" => assert!(matches!(parsed, Err(NetperfParseError::NoServer(_)))),
            "netperf-sctp_many-unsupported.txt" => {
                assert!(matches!(parsed, Err(NetperfParseError::UnknownTest(_))));
            }
            _ => {
                let output = parsed.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(output.elapsed_seconds, 1.0, "{name}");
                assert_eq!(output.confidence.is_some(), name.contains("confidence"), "{name}");
                assert_eq!(
                    matches!(output.rate, Rate::TransactionsPerSecond(_)),
                    name.contains("rr"),
                    "{name}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn printed_tables_read_back(hundredths in 0u64..1 << 40, time in 1u64..100_000) {
        let (rate, time) = (hundredths as f64 / 100.0, time as f64 / 100.0);
        let text = format!("T\nbytes  bytes   bytes    secs.    10^6bits/sec  \n\n212992 212992 8192    {time:<6.2}   {rate:7.2}   \n");
        let output = parse(&text).unwrap();
        prop_assert_eq!(output.rate, Rate::BytesPerSecond(rate * 1e6 / 8.0));
        prop_assert_eq!(output.elapsed_seconds, time);
    }
}

#[test]
fn the_options_are_those_of_the_test() {
    let mut config = NetperfWorkload {
        test: NetperfTest::SctpStreamMany,
        pairs: 64,
        duration: Nanos::from_seconds(10),
        message: Some(Bytes(8192)),
        driver: Driver::Tool,
        pin: true,
    };
    let line = |config: &NetperfWorkload, pin| pairs::arguments(config, 10, 4000, pin).join(" ");
    assert_eq!(
        line(&config, Some((2, 3))),
        "-4 -H 127.0.0.1 -t SCTP_STREAM_MANY -f m -l 10 -p 4000 -T 2,3 -- -m 8192"
    );
    (config.test, config.message) = (NetperfTest::TcpRr, None);
    assert_eq!(
        line(&config, None),
        "-4 -H 127.0.0.1 -t TCP_RR -l 10 -p 4000 -- -k THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,PROTOCOL"
    );
}

#[test]
fn an_idle_pair_is_a_violation() {
    assert_eq!(idle_pairs(&[1.0, 2.0]), None);
    assert_eq!(idle_pairs(&[1.0, 0.0]).unwrap().rule, "netperf.idle_pairs");
}
