//! The hidden sub-command `__replay`: plays a stream for real inside a memcg.
//!
//! Two processes: one conducts and reads counters, outside the memcg; the other
//! plays. What the player itself needs is in its memory before it enters, so
//! that only the pages of the stream are charged.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::Context;
use rustix::fs::Advice;
use serde::{Deserialize, Serialize};

use super::cell::Load;
use crate::host::SysRoot;
use crate::model::access::{Access, AccessKind, Region, RegionKind};
use crate::units::PAGE_SIZE;

/// The hidden sub-command.
pub const NAME: &str = "__replay";
/// Twice the period of the kernel's own flush of statistics, and more.
const SETTLE: Duration = Duration::from_millis(5200);
/// The flush is a deferrable work: it wakes no processor by itself, so a long sleep
/// would see it late, and reclaim would flush for itself until it came.
const WAKE: Duration = Duration::from_millis(20);
/// What a page table maps; windows of the look-around end there.
const TABLE_BYTES: usize = 2 << 20;

/// What a conductor writes for each step of its player, which answers the same.
const STEP: [u8; 1] = *b".";

/// What to play, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub load: Load,
    pub memcg: PathBuf,
    /// Where the file is made that is read.
    pub file: PathBuf,
}

/// Counters as they stand at one moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    pub memory_stat: BTreeMap<String, u64>,
    pub vmstat: BTreeMap<String, u64>,
}

/// Reads the order from the first argument, prints the snapshots before the
/// first and after each phase. A second argument makes it the player.
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let text = arguments.next().unwrap_or_default();
    let text = text.to_string_lossy();
    let done = match arguments.next() {
        None => conduct(&text).map(|snapshots| sayln!("{snapshots}")),
        Some(_) => play(&text),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("run-bench {NAME}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn conduct(text: &str) -> anyhow::Result<String> {
    let order: Order = serde_json::from_str(text).context("cannot read the order")?;
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let mut player = Command::new(program)
        .args([NAME, text, "player"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the player")?;
    let mut to = player.stdin.take().context("the player has no standard input")?;
    let mut from = player.stdout.take().context("the player has no standard output")?;
    let mut step = || -> anyhow::Result<()> {
        let mut answer = STEP;
        to.write_all(&STEP).and_then(|()| from.read_exact(&mut answer)).context("the player ended early")
    };
    step()?;
    std::fs::write(order.memcg.join("cgroup.procs"), player.id().to_string())
        .context("the player cannot enter the memcg")?;
    settle();
    let mut snapshots = vec![snapshot(&order.memcg)?];
    for _ in 0..order.load.phases {
        step()?;
        settle();
        snapshots.push(snapshot(&order.memcg)?);
    }
    player.kill().and_then(|()| player.wait()).context("cannot end the player")?;
    Ok(serde_json::to_string(&snapshots)?)
}

/// Answers each byte by a step: the first is a rehearsal, the others are phases.
fn play(text: &str) -> anyhow::Result<()> {
    let order: Order = serde_json::from_str(text).context("cannot read the order")?;
    let request = order.load.request().context("the order names no stream")?;
    let mut stream = request.build()?;
    let mut accesses = Vec::new();
    while stream.next_batch(&mut accesses) > 0 {}
    let mut places = Places::make(stream.regions(), &order.file)?;
    let (mut from, mut to) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut byte = STEP;
    from.read_exact(&mut byte)?;
    rehearse(&order)?;
    to.write_all(&byte).and_then(|()| to.flush())?;
    for phase in accesses.chunks(order.load.accesses_per_phase as usize) {
        from.read_exact(&mut byte)?;
        places.touch_all(phase)?;
        to.write_all(&byte).and_then(|()| to.flush())?;
    }
    // Wait to be ended, so that no page is freed before it was counted.
    from.read_exact(&mut byte).context("the conductor is gone")
}

/// Lets the kernel flush its statistics.
fn settle() {
    for _ in 0..SETTLE.as_millis() / WAKE.as_millis() {
        std::thread::sleep(WAKE);
    }
}

/// Everything once in small, outside the memcg, so that the program's own pages are
/// in memory and charged elsewhere.
fn rehearse(order: &Order) -> anyhow::Result<()> {
    const PAGES: u32 = 8;
    let regions = [Region::new(0, PAGES, RegionKind::Anon), Region::new(PAGES, PAGES, RegionKind::File)];
    let mut places = Places::make(&regions, &order.file.with_extension("rehearsal"))?;
    let kind = |page| if page < PAGES { AccessKind::MapWrite } else { AccessKind::FileRead };
    let accesses: Vec<Access> = (0..2 * PAGES).map(|page| Access::new(page, kind(page))).collect();
    places.touch_all(&accesses)
}

/// Where the pages of each region lie.
struct Places {
    regions: Vec<Region>,
    memory: Vec<u8>,
    /// Start of the memory's first whole page table.
    start: usize,
    file: Option<File>,
}

impl Places {
    fn make(regions: &[Region], path: &Path) -> anyhow::Result<Self> {
        let pages =
            |kind: RegionKind| regions.iter().filter(move |r| r.kind == kind).map(|r| r.pages).sum::<u32>();
        let memory = vec![0u8; pages(RegionKind::Anon) as usize * PAGE_SIZE as usize + 2 * TABLE_BYTES];
        let start = memory.as_ptr().addr().next_multiple_of(TABLE_BYTES) - memory.as_ptr().addr();
        let file = match pages(RegionKind::File) {
            0 => None,
            pages => Some(make_file(path, pages)?),
        };
        Ok(Places { regions: regions.to_vec(), memory, start, file })
    }

    fn touch_all(&mut self, accesses: &[Access]) -> anyhow::Result<()> {
        let mut buffer = [0u8; 8];
        for (count, access) in accesses.iter().enumerate() {
            let at = self.regions.partition_point(|region| region.end() <= access.page);
            let within = (access.page - self.regions[at].first) as usize * PAGE_SIZE as usize;
            match (access.kind, &self.file) {
                (AccessKind::FileRead | AccessKind::FileReadAgain, Some(file)) => {
                    file.read_exact_at(&mut buffer, within as u64).context("cannot read the file")?;
                    black_box(&buffer);
                }
                (AccessKind::MapWrite, _) => {
                    // A store alone, and never of zero: such a page would not be written to swap.
                    self.memory[self.start + within] = black_box(count as u8 | 1);
                }
                (kind, _) => anyhow::bail!("{kind:?} cannot be played"),
            }
        }
        Ok(())
    }
}

/// A file that is not in the page cache, opened for reads without readahead.
fn make_file(path: &Path, pages: u32) -> anyhow::Result<File> {
    let mut file = File::create(path).context("cannot make the file")?;
    let page = [7u8; PAGE_SIZE as usize];
    for _ in 0..pages {
        file.write_all(&page).context("cannot fill the file")?;
    }
    file.sync_all().context("cannot write the file")?;
    drop(file);
    let file = File::open(path).context("cannot open the file")?;
    std::fs::write("/proc/sys/vm/drop_caches", "1").context("cannot drop the page cache")?;
    rustix::fs::fadvise(&file, 0, None, Advice::Random).context("cannot advise random reads")?;
    Ok(file)
}

fn snapshot(memcg: &Path) -> anyhow::Result<Snapshot> {
    let vmstat = SysRoot::host().path("/proc/vmstat");
    Ok(Snapshot { memory_stat: keyed(&memcg.join("memory.stat"))?, vmstat: keyed(&vmstat)? })
}

fn keyed(path: &Path) -> anyhow::Result<BTreeMap<String, u64>> {
    let mut text = String::new();
    File::open(path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .with_context(|| format!("cannot read {}", path.display()))?;
    let line = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    };
    Ok(text.lines().filter_map(line).collect())
}
