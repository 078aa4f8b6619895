use super::*;
use crate::metric::MetricId;

fn document(body: &str) -> Document {
    let mail = format!("From: Ada <a@b.c>\nSubject: [PATCH v2 2/3] mm: fold \"the\" list\n\n{body}\n");
    patch::read(mail.as_bytes()).expect("a mail")
}

fn imported(body: &str) -> Imported {
    import(&document(body), &ImportRequest::default()).expect("an experiment")
}

const MEMTIER: &str = "Tested in a 2G memcg on a AMD EPYC 9X99 with a 8G ramdisk as swap:\n\n  \
    memcached -u nobody -m 4096 -s /tmp/m -a 0766 -t 8 -B binary &\n  memtier_benchmark -S /tmp/m -P memcache_binary -n allkeys \\\n    \
    --key-minimum=1 --key-maximum=4000000 -d 1024 --ratio=1:0 --key-pattern=P:P -c 2 -t 8 --pipeline 4 -x 5 --zap=1\n\n\
    Average result of 15 test runs:\n\nBefore: 1000.00 Ops/sec\nAfter:  1018.00 Ops/sec (+1.8%)\n";

#[test]
fn a_memtier_claim_becomes_the_same_test_here() {
    let found = imported(MEMTIER);
    let experiment = config::parse(Path::new("x.toml"), &found.text).expect("plan accepts it");
    assert_eq!(experiment.claim, Some(Percent(1.8)));
    assert_eq!(experiment.analysis.primary, MetricId::new("memcached.ops_per_sec").expect("an id"));
    let memcached = experiment.workload.memcached.expect("memcached");
    assert_eq!((memcached.memory, memcached.threads), (Bytes::gib(4), 8));
    assert_eq!((memcached.load.keys, memcached.load.repeat, memcached.load.pipeline), (4_000_000, 5, 4));
    assert!(memcached.allow_evictions, "4 million slabs do not fit 4 GiB");
    assert_eq!(experiment.swap.expect("swap").size, Bytes::gib(8));
    let source = experiment.claim_source.expect("a source");
    assert_eq!((source.before, source.after, source.runs), (Some(1000.0), Some(1018.0), Some(15)));
    assert_eq!(found.unsupported, ["--zap=1"]);
    for text in ["# Claim c1:", "# Assumed", "--zap=1", "[claim-source]", "[[arm]]"] {
        assert!(found.text.contains(text), "{text} is not in:\n{}", found.text);
    }
    assert!(!found.text.contains("/tmp/m") && !found.text.contains("nobody"), "{}", found.text);
}

#[test]
fn other_workloads_become_ours() {
    for (body, primary, claim) in [
        (
            "fio test in a 1G memcg:\nfio -name=x --numjobs=4 --directory=/mnt --size=512m --rw=randread --random_distribution=zipf:0.6 \\\n --iodepth=8 --ioengine=io_uring --runtime=1m --time_based\n\nBefore:\nbw (  MiB/s): min=  500, max=  700, avg=600.00, stdev= 1.90, samples=960\nAfter (+2.5%):\nbw (  MiB/s): min=  500, max=  700, avg=615.00, stdev= 1.90, samples=960\n",
            "fio.read_bytes_per_sec",
            2.5,
        ),
        (
            "On a 2-socket server we tested SCTP_STREAM_MANY test case of netperf with 32-pair processes.  With the patch, the network bandwidth improves 5.0%.",
            "netperf.bytes_per_sec",
            5.0,
        ),
        (
            "testcase: will-it-scale\ntest machine: 96 threads\nnr_task: 100%\nmode: process\ntest: pread2\n\n13479 -5.7% 12708 will-it-scale.per_process_ops\n",
            "will_it_scale.per_process_ops",
            -5.7,
        ),
        (
            "Kernel build in a 1G memcg with make -j32:\n\nBefore: 100.0 s\nAfter: 95.0 s (+5.0%)\n",
            "command.wall_time",
            -5.0,
        ),
    ] {
        let found = imported(body);
        assert_eq!(found.experiment.analysis.primary.as_str(), primary, "{body}");
        assert_eq!(found.experiment.claim, Some(Percent(claim)), "{body}");
    }
}

#[test]
fn refusals_name_the_reason() {
    let refused = |body: &str| {
        import(&document(body), &ImportRequest::default()).expect_err("no experiment").to_string()
    };
    assert!(refused("Hello").contains("claims no result"));
    assert!(refused("Before: 1.0 MB/s\nAfter: 2.0 MB/s\n").contains("does not say what was run"));
    assert!(
        refused("sysbench --threads=2 oltp run\n\nBefore: 1.0 qps\nAfter: 2.0 qps\n").contains("sysbench")
    );
    let request = ImportRequest { claim: Some("c9".to_owned()), ..ImportRequest::default() };
    let unknown = import(&document(MEMTIER), &request).expect_err("no such claim").to_string();
    assert!(unknown.contains("it has c1"), "{unknown}");
}

#[test]
fn a_number_that_toml_has_not_is_a_reason() {
    let body = "memtier_benchmark -P memcache_binary -n allkeys --key-minimum=18446744073709551615 \
                --key-maximum=4000000 -d 1024 --ratio=1:0 --key-pattern=P:P -c 2 -t 8\n\n\
                Before: 1000.00 Ops/sec\nAfter: 1021.00 Ops/sec (+2.1%)\n";
    let error = import(&document(body), &ImportRequest::default()).expect_err("too large");
    assert!(
        matches!(&error, ImportError::Invalid { problems, .. } if problems.contains("too large")),
        "{error}"
    );
}

#[test]
fn a_hostile_mail_cannot_break_out_of_the_file() {
    let mail = "From: Ada <a@b.c>\nSubject: [PATCH] x\"\"\"\\n[target]\n\nIn a 1G memcg on a EPYC \"9\" 'X' server \u{7}with:\nfio --rw=randread --size=1g --name='$(reboot)' --ioengine=\"x\"\" --random_distribution=zipf:1\n\nBefore: 1.0 MiB/s\nAfter: 2.0 MiB/s (+100%)\n";
    let document = patch::read(mail.as_bytes()).expect("a mail");
    match import(&document, &ImportRequest::default()) {
        Ok(found) => assert!(config::parse(Path::new("x.toml"), &found.text).is_ok()),
        Err(error) => assert!(error.to_string().contains("claim c1"), "{error}"),
    }
}

proptest::proptest! {
    #[test]
    fn what_is_imported_is_always_valid(
        limit in 0u32..100, keys in 0u64..100_000_000, clients in 0u32..3000, size in 0u32..100_000, pattern in "[PSRGZ]:[PSRGZ]",
    ) {
        let body = format!(
            "In a {limit}G memcg on a Xeon server:\nmemtier_benchmark --key-maximum={keys} -c {clients} -d {size} --key-pattern={pattern}\n\nBefore: 1.0 Ops/sec\nAfter: 2.0 Ops/sec (+100%)\n"
        );
        if let Ok(found) = import(&document(&body), &ImportRequest::default()) {
            proptest::prop_assert!(config::parse(Path::new("x.toml"), &found.text).is_ok());
        }
    }
}

#[test]
fn patches_come_out_byte_for_byte() {
    let body = "Text\n---\n mm/a.c | 2 +-\n\ndiff --git a/mm/a.c b/mm/a.c\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,3 +1,3 @@ int f(void)\n \tctx  \n-/* Ada <ada@example.org> */\n+/* Bob <bob@example.org> */\n \n--\n2.43.0";
    let mail = format!("From: Ada <a@b.c>\nSubject: [PATCH v2 2/3] mm: Fold, it!\n\n{body}\n");
    let document = patch::read(mail.as_bytes()).expect("a mail");
    let files = crate::import::patch_files(mail.as_bytes(), &document).expect("a patch");
    assert_eq!(files[0].name, "0002-mm-fold-it.patch");
    assert!(files[0].text.contains("<ada@example.org>") && files[0].text.contains(" \tctx  \n"));
    assert!(!files[0].text.contains("2.43.0") && !files[0].text.contains("Text"));
    let outside = mail.replace("b/mm/a.c", "b/../../x");
    let document = patch::read(outside.as_bytes()).expect("a mail");
    assert!(crate::import::patch_files(outside.as_bytes(), &document).is_err());
}
