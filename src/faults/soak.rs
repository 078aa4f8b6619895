//! The kill soak: campaigns of short trials on this host, ended at random
//! moments by a seeded schedule, each resumed by the next start. At the end no
//! record is lost, none is there twice, and the host is as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use super::real::host_state;
use crate::store::{CampaignFolder, CampaignJournal, JournalEvent, StopReason, TrialStatus};

/// A campaign that hangs longer than this after its signal is a fault of its own.
const PATIENCE: Duration = Duration::from_secs(90);
const LATEST_KILL_MS: u64 = 600;
/// Four trials a block.
const BLOCKS: usize = 5;
const SIGNALS: [(Signal, &str); 4] =
    [(Signal::KILL, "SIGKILL"), (Signal::TERM, "SIGTERM"), (Signal::INT, "SIGINT"), (Signal::HUP, "SIGHUP")];

/// A trial of much undoing, and one of little.
const WORKLOADS: [(&str, &str); 2] = [
    (
        "[swap]\nkind = \"zram\"\nsize = \"64MiB\"\n[workload.usemem]\nprocesses = 1\nsize = \"32MiB\"\npasses = 1\n",
        "usemem.bytes_per_sec",
    ),
    (
        "[environment]\nknobs = { \"vm.page-cluster\" = \"0\" }\n[workload.command]\nargv = [\"sleep\", \"0.08\"]\ndeadline = \"20s\"\n",
        "command.wall_time",
    ),
];

/// What to do.
#[derive(Debug, Clone, Copy)]
pub struct Soak {
    pub kills: u32,
    pub seed: u64,
    /// Ends after the kill that is due then.
    pub longest: Option<Duration>,
}

/// What came of it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SoakReport {
    pub seed: u64,
    /// Signals that met a running process, by name and target.
    pub kills: BTreeMap<String, u32>,
    pub campaigns: u32,
    pub starts: u32,
    pub valid_records: usize,
    /// Trials that were in flight and had to be run again.
    pub lost_in_flight: usize,
    pub problems: Vec<String>,
    pub host_restored: bool,
}

impl SoakReport {
    pub fn killed(&self) -> u32 {
        self.kills.values().sum()
    }

    pub fn passed(&self) -> bool {
        self.problems.is_empty() && self.host_restored
    }
}

/// Whom a signal goes to.
#[derive(Debug, Clone, Copy)]
enum Target {
    Campaign,
    Trial,
    /// Campaign and trial at once, as the kernel's own killer would.
    Both,
}

impl Soak {
    /// Runs the whole schedule on this host. Needs root.
    pub fn run(&self) -> std::io::Result<SoakReport> {
        let before = host_state();
        let folder = tempfile::tempdir()?;
        let program = std::env::current_exe()?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut report = SoakReport { seed: self.seed, ..SoakReport::default() };
        let begun = Instant::now();
        let over = |report: &SoakReport| {
            report.killed() >= self.kills || self.longest.is_some_and(|longest| begun.elapsed() >= longest)
        };
        while !over(&report) && report.problems.is_empty() {
            let number = report.campaigns as usize;
            let mut one = OneCampaign::new(folder.path(), &program, number)?;
            while !one.is_done() && report.problems.is_empty() {
                report.starts += 1;
                let last = over(&report);
                one.start(&mut random, last, &mut report)?;
            }
            one.inspect(&mut report);
            report.campaigns += 1;
        }
        let clean = Command::new(&program).arg("clean").stdin(Stdio::null()).output()?;
        if !clean.status.success() {
            report.problems.push(format!("clean: {}", String::from_utf8_lossy(&clean.stdout)));
        }
        let after = host_state();
        report.host_restored = after == before;
        if !report.host_restored {
            report.problems.push(format!("the host was {before:?} and is {after:?}"));
        }
        Ok(report)
    }
}

/// A campaign that is started until it is done.
struct OneCampaign {
    program: PathBuf,
    folder: PathBuf,
    experiment: PathBuf,
    results: PathBuf,
    name: String,
    /// Folders of trials whose end was noted as valid: they have a record for ever.
    kept: BTreeSet<String>,
}

impl OneCampaign {
    fn new(folder: &Path, program: &Path, number: usize) -> std::io::Result<Self> {
        let (workload, primary) = WORKLOADS[number % WORKLOADS.len()];
        let text = format!(
            "schema = 1\ntitle = \"soak\"\n[memcg]\nlimit = \"24MiB\"\n{workload}\
             [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n[sample]\nperiod = \"20ms\"\n\
             [schedule]\nblocks = {BLOCKS}\ndiscard-first = false\nreruns = 1000\n\
             [analysis]\nprimary = \"{primary}\"\n"
        );
        let (name, results) = (format!("c{number}"), folder.join("results"));
        let experiment = folder.join(format!("{name}.toml"));
        std::fs::write(&experiment, text)?;
        let folder = results.join(&name);
        Ok(OneCampaign {
            program: program.to_owned(),
            folder,
            experiment,
            results,
            name,
            kept: BTreeSet::new(),
        })
    }

    fn events(&self) -> Vec<JournalEvent> {
        let read = CampaignJournal::read(&self.folder.join("journal.jsonl"));
        read.unwrap_or_default().into_iter().map(|entry| entry.event).collect()
    }

    fn is_done(&self) -> bool {
        matches!(self.events().last(), Some(JournalEvent::Stopped { reason: StopReason::Planned }))
    }

    /// One start and, unless it is to run to its end, signals at random moments until it is hit itself.
    fn start(
        &mut self,
        random: &mut Xoshiro256PlusPlus,
        to_the_end: bool,
        report: &mut SoakReport,
    ) -> std::io::Result<()> {
        let mut campaign = Command::new(&self.program)
            .arg("run")
            .arg(&self.experiment)
            .arg("--results")
            .arg(&self.results)
            .args(["--name", &self.name])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(self.results.with_file_name("stderr"))?)
            .spawn()?;
        // A campaign outlives the end of its trials, and can be hit again.
        let mut goes_on = !to_the_end;
        while goes_on {
            thread::sleep(Duration::from_millis(random.random_range(1..LATEST_KILL_MS)));
            let (signal, name) = SIGNALS[random.random_range(0..SIGNALS.len())];
            let target = [Target::Campaign, Target::Trial, Target::Both][random.random_range(0..3)];
            if hit(&campaign, target, signal) {
                *report.kills.entry(format!("{name} {target:?}")).or_default() += 1;
            }
            goes_on = matches!(target, Target::Trial) && campaign.try_wait()?.is_none();
        }
        self.await_end(&mut campaign, report)?;
        self.look(report);
        Ok(())
    }

    fn await_end(&self, campaign: &mut Child, report: &mut SoakReport) -> std::io::Result<()> {
        let by = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = campaign.try_wait()? {
                // Done, interrupted, or dead by the signal; anything else is told.
                if !matches!(status.code(), None | Some(0 | 4)) {
                    let said = std::fs::read_to_string(self.results.with_file_name("stderr"));
                    report
                        .problems
                        .push(format!("a start ended with {status}: {}", said.unwrap_or_default()));
                }
                return Ok(());
            }
            if Instant::now() > by {
                campaign.kill()?;
                campaign.wait()?;
                report.problems.push(format!("a start did not end within {} s", PATIENCE.as_secs()));
                return Ok(());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whatever was noted as valid is there, and stays there.
    fn look(&mut self, report: &mut SoakReport) {
        for event in self.events() {
            if let JournalEvent::TrialEnded { id, status: TrialStatus::Valid } = event {
                self.kept.insert(id.to_string());
            }
        }
        for name in &self.kept {
            if !self.folder.join("trials").join(name).join("record.json").is_file() {
                report.problems.push(format!("the record of {name} is lost"));
            }
        }
    }

    /// Every place of the schedule once.
    fn inspect(&self, report: &mut SoakReport) {
        let records = match CampaignFolder::open(&self.folder).and_then(|folder| folder.records()) {
            Ok(records) => records,
            Err(error) => return report.problems.push(error.to_string()),
        };
        let mut places: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for record in records.iter().filter(|record| record.counts()) {
            *places.entry((record.spec.id.block, record.spec.id.position)).or_default() += 1;
        }
        if places.len() != 4 * BLOCKS {
            report.problems.push(format!("{} of {} places have a record", places.len(), 4 * BLOCKS));
        }
        if let Some((place, count)) = places.iter().find(|(_, count)| **count != 1) {
            report.problems.push(format!("{count} records count at place {place:?}"));
        }
        report.valid_records += places.len();
        let lost = |event: &JournalEvent| matches!(event, JournalEvent::TrialEnded { status, .. } if *status != TrialStatus::Valid);
        report.lost_in_flight += self.events().iter().filter(|event| lost(event)).count();
    }
}

/// Sends the signal; whether it met anybody.
fn hit(campaign: &Child, target: Target, signal: Signal) -> bool {
    let own = Pid::from_child(campaign);
    let trials: Vec<Pid> = match target {
        Target::Campaign => Vec::new(),
        Target::Trial | Target::Both => trials_of(campaign.id()),
    };
    let mut met = false;
    if matches!(target, Target::Campaign | Target::Both) {
        met |= !is_zombie(campaign.id()) && kill_process(own, signal).is_ok();
    }
    for trial in trials {
        met |= kill_process(trial, signal).is_ok();
    }
    met
}

fn stat_fields(pid: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn is_zombie(pid: u32) -> bool {
    stat_fields(pid).is_none_or(|(state, _)| state == 'Z')
}

/// The children of the campaign: its trial, and the keeper of its files.
fn trials_of(parent: u32) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    let children =
        pids.filter(|pid| stat_fields(*pid).is_some_and(|(state, of)| of == parent && state != 'Z'));
    children.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).collect()
}
