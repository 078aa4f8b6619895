//! netperf and the built-in streams.

use run_bench::config::workload::Driver;
use run_bench::config::workload::NetperfTest;
use run_bench::config::workload::NetperfWorkload;
use run_bench::exec::Tools;
use run_bench::units::Bytes;
use run_bench::units::Nanos;
use run_bench::workload::WorkloadError;
use run_bench::workload::netperf;

use crate::site::Site;
use crate::site::show;
use crate::site::value;

fn config(test: NetperfTest, driver: Driver) -> NetperfWorkload {
    let duration = Nanos::from_millis(300);
    NetperfWorkload { test, pairs: 2, duration, message: Some(Bytes::kib(16)), driver, pin: false }
}

#[tokio::test]
async fn built_in_tcp_streams_carry_bytes() {
    let site = Site::new();
    let outcome = netperf::run(&config(NetperfTest::TcpStream, Driver::Builtin), &site.context())
        .await
        .expect("it runs");
    show(&outcome);
    let sum = value(&outcome, "netperf.bytes_per_sec");
    let (min, max) = (
        value(&outcome, "netperf.pair_bytes_per_sec_min"),
        value(&outcome, "netperf.pair_bytes_per_sec_max"),
    );
    assert!(min > 0.0 && (min + max - sum).abs() < 1e-6 * sum, "{outcome:#?}");
    assert_eq!(outcome.parameters["message_bytes"], "16384");
}

#[tokio::test]
async fn sctp_is_carried_or_named_as_absent() {
    for test in [NetperfTest::SctpStreamMany, NetperfTest::SctpStream] {
        let site = Site::new();
        match netperf::run(&config(test, Driver::Auto), &site.context()).await {
            Ok(outcome) => {
                show(&outcome);
                assert!(value(&outcome, "netperf.pair_bytes_per_sec_min") > 0.0, "{outcome:#?}");
            }
            Err(WorkloadError::Unsupported { reason }) => {
                println!("unsupported: {reason}");
                assert!(reason.contains("SCTP"), "{reason}");
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[tokio::test]
async fn without_netperf_request_response_is_unsupported() {
    let mut site = Site::new();
    site.tools = Tools::in_folders([]);
    let error =
        netperf::run(&config(NetperfTest::TcpRr, Driver::Auto), &site.context()).await.expect_err("none");
    assert!(matches!(error, WorkloadError::Unsupported { .. }), "{error:?}");
}

#[tokio::test]
async fn netperf_itself_runs_its_pairs() {
    let site = Site::new();
    if site.tools.find(run_bench::exec::ToolName::Netperf).is_err() {
        println!("skipped: netperf is not installed");
        return;
    }
    for (test, id) in [
        (NetperfTest::TcpStream, "netperf.bytes_per_sec"),
        (NetperfTest::TcpRr, "netperf.transactions_per_sec"),
        (NetperfTest::UdpRr, "netperf.transactions_per_sec"),
    ] {
        let outcome = netperf::run(&config(test, Driver::Tool), &site.context()).await.expect("it runs");
        show(&outcome);
        assert!(value(&outcome, id) > 0.0);
        assert!(outcome.violations.iter().all(|v| v.rule == "netperf.duration"), "{outcome:#?}");
    }
}

/// A folder with a netserver and a netperf that says `text`.
fn tools_that_say(text: &str) -> (tempfile::TempDir, Tools) {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["netperf", "netserver"] {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\necho '{text}'\nexit 1\n")).expect("written");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    }
    let tools = Tools::in_folders([folder.path().to_owned()]);
    (folder, tools)
}

#[tokio::test]
async fn a_netperf_without_sctp_leaves_it_to_the_built_in_streams() {
    let test = NetperfTest::SctpStreamMany;
    let (_without, tools) =
        tools_that_say("The test you requested (SCTP_STREAM_MANY) is unknown to this netperf.");
    assert!(!netperf::tool_serves(test, &tools).await);
    assert!(netperf::tool_serves(NetperfTest::TcpStream, &tools).await, "TCP is always built in");
    let (_with, tools) = tools_that_say("establish control: are you sure there is a netserver listening?");
    assert!(netperf::tool_serves(test, &tools).await);
    assert!(!netperf::tool_serves(test, &Tools::in_folders([])).await);
}
