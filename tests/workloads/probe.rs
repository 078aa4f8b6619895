//! The reclaim probe, in a cgroup of its own.

use std::path::Path;
use std::path::PathBuf;

use run_bench::config::workload::ListOrder;
use run_bench::config::workload::Population;
use run_bench::config::workload::ReclaimProbeWorkload;
use run_bench::units::Bytes;
use run_bench::units::Percent;
use run_bench::workload::WorkloadError;
use run_bench::workload::reclaim_probe;

use crate::site::Site;
use crate::site::show;
use crate::site::value;

/// A memory cgroup of v1 or v2; removed when dropped.
struct Group(PathBuf);

impl Group {
    fn make() -> Option<Self> {
        let name = format!("run-bench-test-probe-{}", std::process::id());
        let parents = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"];
        let parent = parents.into_iter().map(Path::new).find(|p| p.join("cgroup.procs").exists())?;
        let path = parent.join(name);
        std::fs::create_dir(&path).ok()?;
        Some(Group(path))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..50 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("{:?} cannot be removed", self.0);
    }
}

fn config(population: Population, order: ListOrder) -> ReclaimProbeWorkload {
    ReclaimProbeWorkload {
        population,
        size: Bytes::mib(64),
        reclaim: Bytes::mib(32),
        order,
        referenced: Percent(0.0),
        repetitions: 15,
    }
}

#[tokio::test]
#[ignore = "needs root: makes a memory cgroup and removes it"]
async fn pages_are_reclaimed_and_timed() {
    let Some(group) = Group::make() else {
        println!("skipped: no memory cgroup can be made here");
        return;
    };
    for population in [Population::CleanFile, Population::MappedFile] {
        for order in [ListOrder::Memory, ListOrder::Shuffled] {
            let mut site = Site::new();
            site.confined = vec![group.0.clone()];
            let outcome =
                reclaim_probe::run(&config(population, order), &site.context()).await.expect("it runs");
            show(&outcome);
            println!("  {:?}", outcome.parameters);
            assert!(value(&outcome, "reclaim_probe.ns_per_page") > 1.0);
            // Foreign load may reclaim; nothing else may be wrong.
            let rules = outcome.violations.iter().map(|v| v.rule.as_str());
            assert!(rules.into_iter().all(|r| r == "reclaim_probe.foreign_reclaim"), "{outcome:#?}");
        }
    }
}

#[tokio::test]
async fn without_a_cgroup_there_is_nothing_to_reclaim_from() {
    let site = Site::new();
    let config = config(Population::CleanFile, ListOrder::Memory);
    let error = reclaim_probe::run(&config, &site.context()).await.expect_err("no cgroup");
    assert!(matches!(error, WorkloadError::Refused(_)) && error.to_string().contains("[memcg]"), "{error}");
}
