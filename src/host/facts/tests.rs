//! Facts from a made-up host, and from the running one.

use std::fs;
use std::path::Path;

use super::*;

fn tree() -> (tempfile::TempDir, SysRoot) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = SysRoot::at(folder.path());
    (folder, root)
}

fn put(root: &SysRoot, path: &str, text: &str) {
    let full = root.path(path);
    fs::create_dir_all(full.parent().expect("a parent")).expect("folders");
    fs::write(full, text).expect("written");
}

#[test]
fn two_sockets_with_their_nodes_and_settings() {
    let (_folder, root) = tree();
    for cpu in 0..4 {
        let base = format!("/sys/devices/system/cpu/cpu{cpu}");
        put(&root, &format!("{base}/topology/physical_package_id"), if cpu < 2 { "0\n" } else { "1\n" });
        put(
            &root,
            &format!("{base}/cpufreq/scaling_governor"),
            if cpu == 3 { "ondemand\n" } else { "performance\n" },
        );
    }
    for (path, text) in [
        ("/sys/devices/system/cpu/online", "0-2,3\n"),
        ("/sys/devices/system/cpu/smt/active", "1\n"),
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
        ("/sys/devices/system/node/node0/cpulist", "0-1\n"),
        ("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  1048576 kB\nNode 0 MemFree: 5 kB\n"),
        ("/sys/devices/system/node/node1/cpulist", "2-3\n"),
        ("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t1-2\n"),
        ("/proc/cpuinfo", "flags : fpu hypervisor lahf_lm\n"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("/sys/kernel/mm/lru_gen/enabled", "0x0003\n"),
        ("/proc/sys/vm/swappiness", "77\n"),
        ("/sys/module/zswap/parameters/enabled", "Y\n"),
        ("/proc/cgroups", "#subsys_name hierarchy num_cgroups enabled\nmemory 0 64734 1\n"),
        ("/proc/self/mountinfo", "20 1 0:20 / /proc rw - proc proc rw\n"),
        ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n"),
    ] {
        put(&root, path, text);
    }
    let facts = HostFacts::gather(&root, Path::new("/no/such/folder"));
    assert_eq!((facts.cpu.sockets, facts.cpu.online, facts.cpu.allowed), (Some(2), Some(4), Some(2)));
    assert_eq!(facts.cpu.governors, ["ondemand", "performance"]);
    assert_eq!(
        (facts.cpu.smt_active, facts.cpu.turbo, facts.cpu.is_guest),
        (Some(true), Some(false), Some(true))
    );
    assert_eq!((facts.cpu.nodes.len(), facts.cpu.nodes[0].memory), (2, Some(Bytes::gib(1))));
    assert_eq!(facts.paging.transparent_hugepage.as_deref(), Some("madvise"));
    assert_eq!((facts.paging.lru_gen_enabled, facts.paging.lru_gen_min_ttl_ms), (Some(3), None));
    assert_eq!((facts.paging.swappiness, facts.paging.zswap_enabled), (Some(77), Some(true)));
    assert_eq!((facts.cgroup.layout.as_deref(), facts.cgroup.memory_cgroups), (None, Some(64_734)));
    assert!(facts.cgroup.problem.is_some());
    assert_eq!(facts.kernel.mitigations.get("meltdown").map(String::as_str), Some("Mitigation: PTI"));
    assert!(facts.capacity.disk_available.is_some(), "the nearest ancestor is /");
    let text = serde_json::to_string(&facts).expect("serialised");
    assert_eq!(serde_json::from_str::<HostFacts>(&text).expect("read back"), facts);
}

#[test]
fn the_machine_id_is_stable_and_hides_its_source() {
    let (_folder, root) = tree();
    put(&root, "/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    put(&root, "/proc/cpuinfo", "bogomips : 10678\n");
    let first = MachineFacts::gather(&root).id.expect("an id");
    put(&root, "/proc/cpuinfo", "bogomips : 10681\n");
    assert_eq!(MachineFacts::gather(&root).id.as_deref(), Some(first.as_str()));
    assert_eq!(first.len(), 16);
    put(&root, "/etc/machine-id", "fedcba9876543210fedcba9876543210\n");
    assert_ne!(MachineFacts::gather(&root).id.as_deref(), Some(first.as_str()));
}

#[test]
fn reclaimers_are_seen_with_their_remedy() {
    let (_folder, root) = tree();
    let base = "/sys/kernel/mm/damon/admin/kdamonds/0";
    for (path, text) in [
        (format!("{base}/state"), "on\n"),
        (format!("{base}/pid"), "61\n"),
        (format!("{base}/contexts/0/schemes/0/action"), "pageout\n"),
        (format!("{base}/contexts/0/schemes/0/quotas/bytes"), "4096\n"),
        ("/proc/61/comm".to_owned(), "kdamond.0\n"),
        ("/proc/62/comm".to_owned(), "kdamond.1\n"),
        ("/proc/63/comm".to_owned(), "earlyoom\n"),
        ("/proc/64/comm".to_owned(), "bash\n"),
        ("/sys/kernel/mm/ksm/run".to_owned(), "1\n"),
        ("/sys/module/zswap/parameters/enabled".to_owned(), "N\n"),
    ] {
        put(&root, &path, text);
    }
    let (found, complete) = reclaimers(&root);
    assert!(complete);
    let kinds: Vec<ReclaimerKind> = found.iter().map(|r| r.kind).collect();
    let expected =
        [ReclaimerKind::Damon, ReclaimerKind::DamonMonitor, ReclaimerKind::Ksm, ReclaimerKind::OomDaemon];
    assert_eq!(kinds, expected, "{found:?}");
    assert_eq!(found[0].seen, "kdamond.0 applies pageout (quota 4096 bytes)");
    assert!(found[1].seen.contains("pid 62"), "{found:?}");
}

#[test]
fn cpu_lists_are_counted() {
    for (text, count) in [("0-3,8", Some(5)), ("0", Some(1)), ("", Some(0)), ("3-1", None), ("x", None)] {
        assert_eq!(super::cpu::count_list(text), count, "{text}");
    }
    let whole = format!("0-{}", u64::MAX);
    assert_eq!(super::cpu::count_list(&whole), None, "more than can be counted");
    assert_eq!(super::cpu::count_list(&format!("1-{0},1-{0}", u64::MAX)), None);
}

#[test]
fn the_running_host_has_the_facts_that_matter() {
    let facts = HostFacts::gather(&SysRoot::host(), Path::new("/tmp"));
    assert!(facts.kernel.release.is_some() && facts.machine.boot_id.is_some());
    assert!(facts.cpu.online >= Some(1) && facts.cpu.allowed >= Some(1));
    assert!(facts.capacity.memory_total > Some(Bytes::mib(64)));
}
