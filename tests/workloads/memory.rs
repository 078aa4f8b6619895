//! usemem and file_read.

use run_bench::config::workload::AccessOrder;
use run_bench::config::workload::FileReadWorkload;
use run_bench::config::workload::UsememWorkload;
use run_bench::units::Bytes;
use run_bench::units::Nanos;
use run_bench::workload::file_read;
use run_bench::workload::usemem;

use crate::site::Site;
use crate::site::show;
use crate::site::value;

#[tokio::test]
async fn usemem_touches_what_it_was_asked_to() {
    for order in [AccessOrder::Sequential, AccessOrder::Random] {
        let site = Site::new();
        let config = UsememWorkload { processes: 2, size: Bytes::mib(8), order, passes: 3 };
        let outcome = usemem::run(&config, &site.context()).await.expect("it runs");
        show(&outcome);
        assert_eq!(outcome.violations, []);
        assert!(value(&outcome, "usemem.bytes_per_sec") > 1e6);
        assert!(value(&outcome, "usemem.free_latency") > 0.0);
    }
}

#[tokio::test]
async fn file_read_lays_out_once_and_reads() {
    let site = Site::new();
    for (order, laid_out) in [(AccessOrder::Random, "true"), (AccessOrder::Sequential, "false")] {
        let config = FileReadWorkload {
            tasks: 2,
            size: Bytes::mib(4),
            order,
            block: Bytes::kib(4),
            duration: Nanos::from_millis(200),
            warm_up: Nanos::from_millis(50),
        };
        let outcome = file_read::run(&config, &site.context()).await.expect("it runs");
        show(&outcome);
        let (ops, bytes) =
            (value(&outcome, "file_read.ops_per_sec"), value(&outcome, "file_read.bytes_per_sec"));
        assert!(ops > 0.0 && (bytes - 4096.0 * ops).abs() < 1e-6 * bytes);
        assert_eq!(outcome.parameters["laid_out"], laid_out);
        assert!(outcome.violations.iter().all(|v| v.rule == "file_read.duration"), "{outcome:#?}");
    }
}
