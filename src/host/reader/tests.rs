//! Good, malformed and missing input for every reader.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::units::Bytes;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/host/", $name))
    };
}

#[test]
fn memory_stat_of_both_versions_by_the_kernels_names() {
    let v1 = Counters::parse(fixture!("memory.stat.v1")).expect("v1");
    assert_eq!(
        (v1.get("rss"), v1.get("total_rss"), v1.get("pgscan")),
        (Some(8_192_000), Some(8_192_000), None)
    );
    let v2 = Counters::parse(fixture!("memory.stat.v2")).expect("v2");
    assert_eq!((v2.get("pgscan"), v2.get("rss"), v2.len()), (Some(9000), None, 11));
    let vmstat = Counters::parse(fixture!("vmstat")).expect("vmstat");
    assert_eq!((vmstat.get("pgsteal_anon"), vmstat.get("pgsteal_file")), (Some(4444), Some(55555)));
    let events = Counters::parse(fixture!("memory.events")).expect("events");
    assert_eq!((events.get("max"), events.get("oom_kill"), events.get("low")), (Some(41), Some(1), Some(0)));
    assert!(Counters::parse("").expect("empty").is_empty());
    for bad in ["anon", "anon -1", "anon 1 2", "anon x", "anon 99999999999999999999999"] {
        let error = Counters::parse(&format!("file 1\n{bad}\n")).expect_err(bad);
        assert_eq!((error.line, error.text.as_str()), (2, bad));
    }
}

#[test]
fn pressure_with_and_without_full() {
    let pressure = Pressure::parse(fixture!("pressure")).expect("both");
    let some = pressure.some.expect("some");
    assert_eq!((some.avg10, some.avg60, some.avg300, some.total), (12.5, 3.25, 0.75, 987_654));
    assert_eq!(pressure.full.map(|line| line.total), Some(43_210));
    let only_some = Pressure::parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n").expect("one");
    assert_eq!(only_some.full, None);
    for bad in [
        "most avg10=0.00 avg60=0.00 avg300=0.00 total=5",
        "some avg10=0.00 avg60=0.00 total=5",
        "some avg10=nan avg60=0.00 avg300=0.00 total=5",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=-5",
        "some",
    ] {
        assert!(Pressure::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn swaps_with_blanks_and_deleted_nodes() {
    let swaps = super::swaps::parse(fixture!("swaps")).expect("three");
    assert_eq!((swaps[0].size, swaps[0].used, swaps[0].priority), (Bytes::kib(524_284), Bytes::mib(1), 1000));
    assert_eq!((swaps[1].path.clone(), swaps[1].priority), (PathBuf::from("/swap file"), -2));
    assert!(swaps[2].is_device(Path::new("/dev/loop9")) && !swaps[2].is_device(Path::new("/dev/loop")));
    assert_eq!(super::swaps::parse("").expect("no swap support"), Vec::new());
    for bad in
        ["/dev/x partition 1 2 3", "Filename\n/dev/x partition 1 2", "Filename\n/dev/x partition a 2 3"]
    {
        assert!(super::swaps::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn meminfo_in_bytes() {
    let meminfo = Meminfo::parse(fixture!("meminfo")).expect("parsed");
    assert_eq!(meminfo.get("MemAvailable"), Some(Bytes::kib(3_000_000)));
    assert_eq!((meminfo.get("HugePages_Total"), meminfo.get("Zswap")), (None, None));
    for bad in
        ["MemTotal 5 kB", "MemTotal: x kB", "MemTotal: 5 MB", "MemTotal: 99999999999999999 kB", "MemTotal:"]
    {
        assert!(Meminfo::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn mounts_with_optional_fields_and_escapes() {
    let mounts = super::mountinfo::parse(fixture!("mountinfo")).expect("five");
    assert!(mounts[1].is_read_only() && !mounts[2].is_read_only());
    assert_eq!((mounts[2].root.as_str(), mounts[2].filesystem.as_str()), ("/docker/abc", "cgroup"));
    assert!(mounts[2].has_super_option("memory") && mounts[3].has_super_option("noswap"));
    assert_eq!(mounts[3].target, PathBuf::from("/mnt/two words"));
    for bad in
        ["", "1 2 3", "1 2 0:1 / /x rw proc proc rw", "1 2 0:1 / /x - proc proc rw", "1 2 0:1 / /x rw - proc"]
    {
        assert!(super::mountinfo::parse(&format!("{bad}\n")).is_err(), "{bad}");
    }
    assert_eq!(super::mountinfo::unescape("a\\040b\\134c\\0x\\"), "a b\\c\\0x\\");
}

#[test]
fn process_stat_with_a_name_that_tries_hard() {
    let stat = super::process::parse(fixture!("process.stat")).expect("parsed");
    assert_eq!((stat.pid, stat.name.as_str(), stat.state, stat.parent), (4711, "odd) name (x", 'S', 1));
    assert_eq!((stat.minor_faults, stat.major_faults), (900, 7));
    assert_eq!((stat.user_ticks, stat.system_ticks), (120, 45));
    assert_eq!((stat.start_time, stat.resident_pages), (123_456, 2560));
    for bad in ["", "1 name S 1", "x (a) S 1 1", "1 (a)", "1 )a( S 1 1 1", "1 (a) S 1 1 1 0 -1"] {
        assert!(super::process::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn mm_stat_of_older_kernels_lacks_columns() {
    let stat = ZramStat::parse(fixture!("mm_stat")).expect("parsed");
    assert_eq!((stat.orig_data_size, stat.huge_pages_since), (Some(8_388_608), Some(40)));
    let old = ZramStat::parse("1 2 3 4 5 6 7").expect("seven columns");
    assert_eq!((old.pages_compacted, old.huge_pages), (Some(7), None));
    for bad in ["", "1 2", "1 2 x"] {
        assert!(ZramStat::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn zones_with_their_page_sets() {
    let zones = super::zoneinfo::parse(fixture!("zoneinfo")).expect("two");
    assert_eq!((zones[0].node, zones[0].name.as_str(), zones[0].get("low")), (0, "DMA", Some(15)));
    assert_eq!(zones[0].get("nr_inactive_anon"), None, "a count of the node, not of the zone");
    assert_eq!((zones[1].node, zones[1].get("managed"), zones[1].get("numa_hit")), (1, None, Some(130_077)));
    let sets = &zones[1].pagesets;
    assert_eq!((sets.len(), sets[0].get("high_min"), sets[1].get("high_min")), (2, Some(100), None));
    assert_eq!((sets[1].cpu, sets[1].get("count"), sets[1].get("batch")), (1, Some(179), Some(63)));
    for bad in ["  pages free 3", "Node x, zone DMA", "Node 0, zone DMA\n  min x", "Node 0"] {
        assert!(super::zoneinfo::parse(bad).is_err(), "{bad}");
    }
}

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
fn damon_monitors_and_their_schemes() {
    let (_folder, root) = tree();
    assert_eq!(kdamonds(&root), Vec::new());
    let base = "/sys/kernel/mm/damon/admin/kdamonds/0";
    for (file, text) in [
        ("state", "on\n"),
        ("pid", "88\n"),
        ("contexts/0/schemes/0/action", "pageout\n"),
        ("contexts/0/schemes/0/quotas/bytes", "1048576\n"),
        ("contexts/0/schemes/1/action", "stat\n"),
    ] {
        put(&root, &format!("{base}/{file}"), text);
    }
    put(&root, "/sys/kernel/mm/damon/admin/kdamonds/1/state", "off\n");
    put(&root, "/sys/kernel/mm/damon/admin/kdamonds/1/pid", "-1\n");
    let found = kdamonds(&root);
    assert_eq!((found.len(), found[0].running, found[0].pid), (2, true, Some(88)));
    assert!(found[0].schemes[0].reclaims() && !found[0].schemes[1].reclaims());
    assert_eq!(found[0].schemes[0].quota_bytes, Some(1 << 20));
    assert_eq!((found[1].running, found[1].pid), (false, None));
}

#[test]
fn a_counter_file_is_read_again_and_follows_new_lines() {
    let (_folder, root) = tree();
    put(&root, "/proc/vmstat", fixture!("vmstat"));
    let mut file = CounterFile::open(&root, "/proc/vmstat", CounterFormat::Keyed).expect("open");
    assert_eq!(file.sample().expect("sampled").len(), 8);
    assert_eq!(file.pairs().find(|(name, _)| *name == "pswpout"), Some(("pswpout", 333)));
    // The same inode, as with the kernel's files.
    fs::write(root.path("/proc/vmstat"), "nr_free_pages 9\nbrand_new 1\n").expect("written");
    assert_eq!(file.sample().expect("sampled"), [9, 1]);
    assert_eq!(file.names(), ["nr_free_pages", "brand_new"]);
    fs::write(root.path("/proc/vmstat"), "nr_free_pages nine\n").expect("written");
    assert!(matches!(file.sample(), Err(HostError::Parse { .. })));
    let many: String = (0..5000).map(|n| format!("name_{n} {n}\n")).collect();
    fs::write(root.path("/proc/vmstat"), many).expect("written");
    assert_eq!(file.sample().expect("longer than the buffer").len(), 5000);
}

#[test]
fn counter_files_of_one_number_and_of_pressure() {
    let (_folder, root) = tree();
    put(&root, "/x/memory.current", "4096\n");
    put(&root, "/x/memory.pressure", fixture!("pressure"));
    let mut single = CounterFile::open(&root, "/x/memory.current", CounterFormat::Single).expect("open");
    single.sample().expect("sampled");
    assert_eq!(single.pairs().collect::<Vec<_>>(), [("memory.current", 4096)]);
    let mut pressure = CounterFile::open(&root, "/x/memory.pressure", CounterFormat::Pressure).expect("open");
    pressure.sample().expect("sampled");
    assert_eq!(pressure.pairs().collect::<Vec<_>>(), [("some_total", 987_654), ("full_total", 43_210)]);
    assert!(CounterFile::open(&root, "/x/absent", CounterFormat::Single).is_err());
}

#[test]
fn the_running_kernel_is_understood() {
    let root = SysRoot::host();
    assert!(Counters::read(&root, "/proc/vmstat").expect("vmstat").get("pgfault").is_some());
    assert!(Meminfo::read(&root).expect("meminfo").get("MemTotal").is_some());
    assert!(mounts(&root).expect("mounts").iter().any(|mount| mount.filesystem == "proc"));
    assert!(process_stat(&root, std::process::id()).expect("own stat").start_time > 0);
    super::swaps(&root).expect("swaps");
    let mut vmstat = CounterFile::open(&root, "/proc/vmstat", CounterFormat::Keyed).expect("open");
    assert!(vmstat.sample().expect("sampled").len() > 50);
    assert!(vmstat.sample().is_ok());
    if root.exists("/proc/zoneinfo") {
        assert!(zones(&root).expect("zones").iter().any(|zone| zone.get("managed") > Some(0)));
    }
}

#[test]
fn a_file_that_never_answers_does_not_hang_the_reader() {
    let (_folder, root) = tree();
    let pipe = root.path("/proc/4711/comm");
    put(&root, "/proc/4710/comm", "fine\n");
    fs::create_dir_all(pipe.parent().expect("a parent")).expect("folders");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let deadline = Duration::from_millis(50);
    let error = read_with_deadline(&root, "/proc/4711/comm", deadline).expect_err("a pipe nobody writes to");
    assert!(matches!(error, HostError::Deadline { .. }), "{error}");
    let found = process_names(&root, deadline);
    assert_eq!((found.pids("fine"), found.complete), (vec![4710], false));
    assert_eq!(
        read_with_deadline(&root, "/proc/4710/comm", Duration::from_secs(60)).expect("read"),
        "fine\n"
    );
}

#[test]
fn a_swap_of_more_bytes_than_64_bits_count_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("proc")).unwrap();
    let text = format!("Filename Type Size Used Priority\n/dev/x partition {} 0 1\n", u64::MAX / 1024 + 1);
    fs::write(folder.path().join("proc/swaps"), text).unwrap();
    assert!(swaps(&SysRoot::at(folder.path())).unwrap_err().to_string().contains("size in KiB"));
}
