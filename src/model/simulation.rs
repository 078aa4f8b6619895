//! The facade: a configuration, a stream and phases go in; events, counters and
//! their values over time come out.

use super::access::Access;
use super::access::Region;
use super::access::Stream;
use super::charge::OutOfMemory;
use super::classic::Classic;
use super::core::Core;
use super::counter::Counters;
use super::counter::LruSizes;
use super::counter::Series;
use super::event::Events;
use super::flag::Flags;
use super::machine::Machine;
use super::memcg::Memcg;
use super::mglru::Mglru;
use super::platform::Platform;
use super::policy::Policy;
use super::rules::Rules;
use super::version::PolicyKind;
use super::version::Version;

const PAGE_SIZE: u64 = 4096;

/// One memcg of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemcgLimit {
    /// `memory.max` in pages.
    pub pages: Option<u64>,
    /// `memory.swap.max` in pages.
    pub swap_pages: Option<u64>,
    pub swappiness: u32,
}

impl MemcgLimit {
    /// A limit with the default swappiness.
    pub const fn pages(pages: u64) -> Self {
        MemcgLimit { pages: Some(pages), swap_pages: None, swappiness: 60 }
    }
}

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    pub version: Version,
    pub policy: PolicyKind,
    pub flags: Flags,
    pub platform: Platform,
    /// By the memcg index of the stream's regions.
    pub memcgs: Vec<MemcgLimit>,
    /// Size of the swap device in pages.
    pub swap_pages: u64,
    /// Accesses between two rows of the series; `None` keeps one row a phase.
    pub sample_every: Option<u64>,
}

impl Configuration {
    /// 6.12 on x86-64 with one memcg of `pages`, and swap of four times that.
    pub fn new(policy: PolicyKind, pages: u64) -> Self {
        Configuration {
            version: Version::K612,
            policy,
            flags: Flags::NONE,
            platform: Platform::X86,
            memcgs: vec![MemcgLimit::pages(pages)],
            swap_pages: 4 * pages,
            sample_every: None,
        }
    }
}

/// A named part of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    pub name: String,
    /// `None` runs to the end of the stream.
    pub accesses: Option<u64>,
}

impl Phase {
    pub fn whole() -> Self {
        Phase { name: "run".to_owned(), accesses: None }
    }

    pub fn of(name: &str, accesses: u64) -> Self {
        Phase { name: name.to_owned(), accesses: Some(accesses) }
    }
}

/// What a phase counted.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseOutcome {
    pub name: String,
    pub accesses: u64,
    pub events: Events,
    /// `/proc/vmstat`.
    pub vmstat: Counters,
    /// `memory.stat`, by memcg.
    pub memcgs: Vec<Counters>,
}

/// Bytes of the model's own state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Most resident pages at once.
    pub resident_pages: u64,
    /// Folio records and lists.
    pub folio_bytes: u64,
    /// State bytes, for every page id.
    pub state_bytes: u64,
    /// Page index and shadow entries, for every page id.
    pub slot_bytes: u64,
}

/// What a run counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub phases: Vec<PhaseOutcome>,
    /// Of the first memcg and the machine; names with `vmstat.` are machine-wide.
    pub series: Series,
    pub sizes: Vec<LruSizes>,
    pub footprint: Footprint,
    /// Set when a memcg could not be reclaimed from: the run ended there.
    pub out_of_memory: Option<OutOfMemory>,
}

impl Outcome {
    /// Sum of an event over all phases.
    pub fn event(&self, event: super::event::Event) -> u64 {
        self.phases.iter().map(|p| p.events.get(event)).sum()
    }

    /// Accesses over all phases.
    pub fn accesses(&self) -> u64 {
        self.phases.iter().map(|p| p.accesses).sum()
    }
}

/// A simulation that has not run yet.
#[derive(Debug, Clone)]
pub struct Simulation {
    configuration: Configuration,
}

impl Simulation {
    pub fn new(configuration: Configuration) -> Self {
        Simulation { configuration }
    }

    /// Runs `phases` of `stream` one after the other.
    pub fn run(&self, stream: &mut dyn Stream, phases: &[Phase]) -> Outcome {
        let core = self.core(stream.regions());
        match self.configuration.policy {
            PolicyKind::Classic => Run::<Classic>::new(core, &self.configuration).run(stream, phases),
            PolicyKind::Mglru => Run::<Mglru>::new(core, &self.configuration).run(stream, phases),
        }
    }

    /// The state before the first access.
    pub fn core(&self, regions: &[Region]) -> Core {
        let configuration = &self.configuration;
        let rules = Rules::new(configuration.version, configuration.flags);
        let memcgs = configuration.memcgs.iter().map(|limit| {
            let mut memcg = Memcg::new(limit.pages, limit.swappiness);
            memcg.swap_limit = limit.swap_pages;
            memcg
        });
        Core::new(
            rules,
            configuration.platform,
            configuration.policy,
            regions,
            memcgs.collect(),
            configuration.swap_pages,
        )
    }
}

struct Run<P> {
    machine: Machine<P>,
    series: Series,
    sample_every: u64,
    next_sample: u64,
}

impl<P: Policy> Run<P> {
    fn new(core: Core, configuration: &Configuration) -> Self {
        let sample_every = configuration.sample_every.unwrap_or(u64::MAX).max(1);
        Run { machine: Machine::new(core), series: Series::default(), sample_every, next_sample: 0 }
    }

    fn run(mut self, stream: &mut dyn Stream, phases: &[Phase]) -> Outcome {
        let mut buffer: Vec<Access> = Vec::new();
        let mut used = 0;
        let mut outcomes = Vec::new();
        let mut out_of_memory = None;
        self.sample();
        for phase in phases {
            let before = self.snapshot();
            let mut left = phase.accesses.unwrap_or(u64::MAX);
            while left > 0 && out_of_memory.is_none() {
                if used == buffer.len() {
                    buffer.clear();
                    used = 0;
                    if stream.next_batch(&mut buffer) == 0 {
                        break;
                    }
                }
                let until_sample = self.next_sample - self.machine.kernel.core.accesses;
                let most = left.min(until_sample).min((buffer.len() - used) as u64) as usize;
                out_of_memory = self.machine.run(&buffer[used..used + most]).err();
                used += most;
                left -= most as u64;
                if self.machine.kernel.core.accesses >= self.next_sample {
                    self.sample();
                }
            }
            outcomes.push(before.outcome(&phase.name, &self.snapshot()));
            // Quiet time lies between phases, in which the kernel flushes.
            let kernel = &mut self.machine.kernel;
            for (memcg, lruvec) in kernel.lruvecs.iter_mut().enumerate() {
                lruvec.flush_statistics(&kernel.core, memcg);
            }
        }
        let last = self.series.rows.last().map(|(accesses, _)| *accesses);
        if last != Some(self.machine.kernel.core.accesses) {
            self.sample();
        }
        self.finish(outcomes, out_of_memory)
    }

    fn finish(self, phases: Vec<PhaseOutcome>, out_of_memory: Option<OutOfMemory>) -> Outcome {
        let kernel = &self.machine.kernel;
        let lists: usize = kernel.lruvecs.iter().map(Policy::bytes).sum();
        let footprint = Footprint {
            resident_pages: kernel.core.folios.capacity() as u64,
            folio_bytes: (kernel.core.folios.bytes() + lists) as u64,
            state_bytes: u64::from(kernel.core.pages.len()),
            slot_bytes: 4 * u64::from(kernel.core.pages.len()),
        };
        let sizes = kernel.lruvecs.iter().map(Policy::sizes).collect();
        Outcome { phases, series: self.series, sizes, footprint, out_of_memory }
    }

    fn snapshot(&self) -> Snapshot {
        let core = &self.machine.kernel.core;
        Snapshot {
            accesses: core.accesses,
            events: self.machine.kernel.events(),
            vmstat: self.machine.kernel.vmstat(),
            memcgs: core.memcgs.iter().map(|m| m.counters.clone()).collect(),
        }
    }

    fn sample(&mut self) {
        let kernel = &self.machine.kernel;
        let accesses = kernel.core.accesses;
        self.next_sample = accesses.saturating_add(self.sample_every);
        let memcg = &kernel.core.memcgs[0];
        let sizes = kernel.lruvecs[0].sizes();
        let mut values = vec![
            ("pgscan".to_owned(), memcg.counters.pgscan()),
            ("pgsteal".to_owned(), memcg.counters.pgsteal()),
        ];
        values.extend(memcg.counters.iter().map(|(c, v)| (c.name().to_owned(), v)));
        let levels = [
            ("anon", memcg.resident[0]),
            ("file", memcg.resident[1]),
            ("file_dirty", memcg.dirty),
            ("active_anon", sizes.active[0]),
            ("inactive_anon", sizes.inactive[0]),
            ("active_file", sizes.active[1]),
            ("inactive_file", sizes.inactive[1]),
            ("unevictable", sizes.unevictable),
            ("memory.current", memcg.charged),
            ("memory.swap.current", memcg.swap_charged),
        ];
        values.extend(levels.map(|(name, pages)| (name.to_owned(), pages * PAGE_SIZE)));
        values.extend(kernel.vmstat().iter().map(|(c, v)| (format!("vmstat.{}", c.name()), v)));
        self.series.push(accesses, values);
    }
}

struct Snapshot {
    accesses: u64,
    events: Events,
    vmstat: Counters,
    memcgs: Vec<Counters>,
}

impl Snapshot {
    fn outcome(&self, name: &str, end: &Snapshot) -> PhaseOutcome {
        PhaseOutcome {
            name: name.to_owned(),
            accesses: end.accesses - self.accesses,
            events: end.events.since(&self.events),
            vmstat: end.vmstat.since(&self.vmstat),
            memcgs: end.memcgs.iter().zip(&self.memcgs).map(|(now, before)| now.since(before)).collect(),
        }
    }
}
