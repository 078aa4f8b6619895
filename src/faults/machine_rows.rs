//! Rows 8 to 13: memory, differing arms, disturbances, full disks, missing rights.

use std::path::Path;
use std::sync::Mutex;

use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::host_rows::{fault, zram};
use super::seen::{FOLDER, Injected, Seen, fake, options, session};
use crate::analyze::{self, fixture};
use crate::campaign::{Campaign, CampaignError, Progress, ProgressEvent, RunAll, TrialRunner};
use crate::config::arithmetic;
use crate::config::scale::Machine;
use crate::config::{self, Plan};
use crate::host::cgroup::{Limit, MemoryCgroup};
use crate::host::fake::{FakeLayout, FakeTree};
use crate::host::journal::recover_all;
use crate::host::probe::{Abilities, Ability};
use crate::host::ramdisk::{Ramdisk, RamdiskChoice};
use crate::host::swap::RamdiskSwap;
use crate::host::{DiskRoom, HostError, HostSession};
use crate::store::{CampaignFolder, CampaignJournal, TrialFolder, TrialId, TrialSpec, TrialStatus};
use crate::trial::{Disturbance, out_of_memory as kills_in};
use crate::units::Bytes;

pub(super) fn too_little_memory(seen: &mut Seen) -> Injected {
    let text = |memory: &str, swap: &str| {
        format!(
            "schema = 1\ntitle = \"t\"\n[memcg]\nlimit = \"4GiB\"\n[swap]\nkind = \"brd\"\nsize = \"{swap}\"\n\
             [workload.memcached]\nmemory = \"{memory}\"\nthreads = 4\n[workload.memcached.load]\n\
             keys = 16_000_000\nvalue = \"1KiB\"\nclients = 2\nthreads = 4\n[[arm]]\nname = \"a\"\n[[arm]]\n\
             name = \"b\"\n[analysis]\nprimary = \"memcached.ops_per_sec\"\n"
        )
    };
    for (memory, swap, gib, word) in [
        ("16GiB", "16GiB", 64, "17.6"),
        ("18GiB", "8GiB", 64, "do not fit into 12GiB"),
        ("18GiB", "16GiB", 8, "--scale auto"),
    ] {
        let plan = Plan::new(config::parse(Path::new("t.toml"), &text(memory, swap))?);
        let machine =
            Machine { cpus: 4, memory_available: Bytes::gib(gib), disk_available: Some(Bytes::gib(1)) };
        let problems = arithmetic::check(&plan, &machine).problems;
        let said: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
        seen.says(&format!("-m {memory}, swap {swap}, host {gib} GiB"), &said.join("; "), &[word]);
    }
    let (_folder, tree) = fake(FakeLayout::V2)?;
    let before = tree.snapshot();
    let made = Ramdisk::create(&mut session(&tree)?, &RamdiskChoice::Plain, Bytes::gib(9));
    seen.refused("a ramdisk above MemAvailable", made, &["9GiB", "8GiB"]);
    seen.host(&tree, &before);
    Ok(())
}

pub(super) fn out_of_memory(seen: &mut Seen) -> Injected {
    let (_folder, tree) = fake(FakeLayout::V2)?;
    let before = tree.snapshot();
    let mut own = session(&tree)?;
    let group = MemoryCgroup::create(&mut own, "trial")?;
    let quiet = group.events()?;
    seen.check("no kill, no violation", kills_in(&quiet, &group.events()?).is_none());
    let file = group.dir().join("memory.events");
    let name = file.strip_prefix("/")?.display().to_string();
    tree.put(&name, "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n")?;
    let rule = kills_in(&quiet, &group.events()?).map(|violation| violation.rule);
    seen.check("a kill in the cgroup is a violation", rule.as_deref() == Some("host.oom-kill"));
    drop(own);
    seen.host(&tree, &before);
    tree.put("proc/vmstat", "pgscan_kswapd 1\noom_kill 4\n")?;
    let watch = Disturbance::begin(&tree.root());
    tree.put("proc/vmstat", "pgscan_kswapd 9\noom_kill 5\n")?;
    seen.check("a kill elsewhere is told", told(&watch, &tree, "oom-kill-on-host"));
    Ok(())
}

pub(super) fn differing_arms(seen: &mut Seen) -> Injected {
    let results = tempfile::tempdir()?;
    let folder = fixture::campaign(results.path(), "c", fixture::EXPERIMENT, &|_, _, _| Some(1.0));
    for trial in folder.trials()? {
        let mut record = trial.record()?;
        let arm = record.spec.id.arm.as_str();
        record.kernel.command_line = Some(if arm == "b" { "mitigations=off" } else { "quiet" }.to_owned());
        trial.write_record(&record)?;
    }
    let analysis = analyze::analyze(&folder)?;
    let told = analysis.noise.iter().any(|note| note.kind == "confounder");
    seen.check("arms that differ unasked are a confounder", told);
    let trial = &folder.trials()?[0];
    let mut record = trial.record()?;
    record.host = "Another CPU (ffffffff)".to_owned();
    trial.write_record(&record)?;
    seen.refused("trials of two hosts", analyze::analyze(&folder), &["Another CPU"]);
    Ok(())
}

fn told(watch: &Disturbance, tree: &FakeTree, kind: &str) -> bool {
    watch.events(&tree.root()).iter().any(|event| event.kind == kind)
}

pub(super) fn disturbances(seen: &mut Seen) -> Injected {
    let (_folder, tree) = fake(FakeLayout::V2)?;
    let counter = "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count";
    let stat = |busy: u64, steal: u64, idle: u64| format!("cpu  {busy} 0 0 {idle} 0 0 0 {steal} 0 0\n");
    tree.put(counter, "7\n")?;
    tree.put("proc/stat", &stat(1000, 0, 1000))?;
    let quiet = Disturbance::begin(&tree.root()).events(&tree.root());
    seen.check("a quiet host has none", quiet.is_empty());
    let watch = Disturbance::begin(&tree.root());
    tree.put(counter, "9\n")?;
    tree.put("proc/stat", &stat(1900, 100, 1000))?;
    for kind in ["throttled", "foreign-cpu", "steal"] {
        seen.check(format!("{kind} is told"), told(&watch, &tree, kind));
    }
    Ok(())
}

/// Writes a valid record for each trial and starts no process.
pub(super) struct Obedient<'a> {
    pub(super) tree: &'a FakeTree,
    pub(super) ran: Mutex<Vec<TrialId>>,
}

impl TrialRunner for Obedient<'_> {
    async fn run(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        _cancel: &CancellationToken,
    ) -> Result<TrialStatus, CampaignError> {
        self.ran.lock().expect("no holder panics").push(spec.id.clone());
        let mut record = fixture::record(spec.clone());
        record.kernel = crate::trial::kernel_identity(&self.tree.root());
        folder.write_record(&record)?;
        Ok(record.outcome.status())
    }
}

pub(super) struct Silent;

impl Progress for Silent {
    fn event(&mut self, _event: ProgressEvent<'_>) {}
}

const SMALL: &str = "schema = 1\ntitle = \"small\"\n[workload.file-read]\ntasks = 1\nsize = \"1MiB\"\n\
    duration = \"1s\"\n[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n\
    [schedule]\nblocks = 2\ndiscard-first = false\n[analysis]\nprimary = \"file_read.ops_per_sec\"\n";
/// Two blocks of two arms, each twice.
const TRIALS: usize = 8;

/// Opens the campaign on a disk with so much room and runs it to its end.
async fn campaign(results: &Path, disk: &DiskRoom, tree: &FakeTree) -> Result<(), CampaignError> {
    let plan = Plan::new(config::parse(Path::new("small.toml"), SMALL).expect("a valid experiment"));
    let folder = CampaignFolder::create(results, "c")?.on(disk.clone());
    if !folder.has_manifest() {
        folder.write_plan(&plan)?;
        folder.write_manifest(&fixture::manifest("c", &plan))?;
    }
    let manifest = folder.manifest()?;
    let runner = Obedient { tree, ran: Mutex::default() };
    let mut campaign = Campaign::open(folder, manifest, plan, None)?;
    campaign.run(&runner, &RunAll, &CancellationToken::new(), &mut Silent).await.map(|_| ())
}

/// Every write of a campaign's journal and records meets a full disk once.
fn full_results(seen: &mut Seen, tree: &FakeTree) -> Injected {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut stopped = 0;
    for write in 0.. {
        let results = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
        let disk = DiskRoom::full_from(write);
        let first = runtime.block_on(campaign(results.path(), &disk, tree));
        if let Err(error) = &first {
            stopped += 1;
            let text = error.to_string();
            if !text.contains("free space or choose another disk with --results") {
                seen.check(format!("full at write {write}: no remedy in {text:?}"), false);
            }
        }
        runtime.block_on(campaign(results.path(), &DiskRoom::default(), tree))?;
        let folder = CampaignFolder::open(&results.path().join("c"))?;
        CampaignJournal::read(&folder.journal_path())?;
        let places: std::collections::BTreeSet<_> =
            folder.records()?.iter().filter(|r| r.counts()).map(|r| r.spec.id.to_string()).collect();
        if places.len() != TRIALS || folder.records()?.len() != TRIALS {
            seen.check(format!("full at write {write}: {} records", places.len()), false);
        }
        if first.is_ok() {
            break;
        }
    }
    seen.check(
        format!("each of {stopped} writes of a campaign failed once; none lost, none twice"),
        stopped > 20,
    );
    Ok(())
}

/// What a session does whose journal meets a full disk.
fn host_work(tree: &FakeTree, disk: &DiskRoom) -> Result<(), HostError> {
    let root = tree.root().on(disk.clone());
    let mut own = HostSession::open_as(root, options(), tree.dead_owner())?;
    RamdiskSwap::enable(&mut own, &zram(None))?;
    let group = MemoryCgroup::create(&mut own, "server")?;
    group.set_limits(Limit::Bytes(Bytes::mib(4)), Limit::Max)?;
    group.set_swappiness(&mut own, 10)?;
    own.undo();
    Ok(())
}

pub(super) fn full_disk(seen: &mut Seen) -> Injected {
    let mut stopped = 0;
    for write in 0.. {
        let (_folder, tree) = fake(FakeLayout::V2)?;
        let before = tree.snapshot();
        let disk = DiskRoom::full_from(write);
        let _ = host_work(&tree, &disk);
        let report = recover_all(&tree.root(), FOLDER.as_ref())?;
        if !report.is_clean() {
            seen.check(format!("full at line {write} of the undo journal: {report:?}"), false);
        }
        let differences = tree.differences(&before);
        if !differences.is_empty() {
            seen.check(format!("full at line {write} of the undo journal: {differences:?}"), false);
        }
        if !disk.was_full() {
            seen.host(&tree, &before);
            break;
        }
        stopped += 1;
    }
    seen.check(format!("each of {stopped} lines of the undo journal failed once"), stopped > 8);
    let (_folder, tree) = fake(FakeLayout::V2)?;
    full_results(seen, &tree)
}

pub(super) fn missing_rights(seen: &mut Seen) -> Injected {
    let (_folder, tree) = fake(FakeLayout::V2)?;
    let before = tree.snapshot();
    tree.kernel().inject(fault("try_facility", "", Errno::NOSYS, 1000));
    tree.kernel().inject(fault("mount", "", Errno::PERM, 1000));
    let found = Abilities::probe(&tree.root(), FOLDER.as_ref());
    seen.check(format!("io_uring: {:?}", found.io_uring), matches!(found.io_uring, Ability::Missing { .. }));
    seen.check(
        format!("mounts: {:?}", found.noswap_tmpfs),
        matches!(found.noswap_tmpfs, Ability::Unknown { .. } | Ability::Missing { .. }),
    );
    seen.host(&tree, &before);
    let (_folder, tree) = fake(FakeLayout::V2)?;
    tree.kernel().inject(fault("create_dir", "run-bench-", Errno::MFILE, 1));
    let before = tree.snapshot();
    let mut own = session(&tree)?;
    seen.refused("no descriptor left", MemoryCgroup::create(&mut own, "server"), &["Too many open files"]);
    drop(own);
    seen.host(&tree, &before);
    Ok(())
}
