//! The report of `run-bench doctor` as data: what this host can run, what is
//! missing, and how to get it. Lines about tools come from a higher layer.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use super::facts::{HostFacts, ReclaimerKind};
use super::probe::{Abilities, Ability};
use crate::units::Bytes;

const SCHEMA: u32 = 1;
/// Below this a run of any use does not fit.
const LEAST_MEMORY: Bytes = Bytes::gib(1);
const LEAST_DISK: Bytes = Bytes::gib(1);
/// Clients times threads of the usual experiments, with slack.
const LEAST_OPEN_FILES: u64 = 4096;
/// Reclaim that walks all groups slows down well before this.
const MANY_CGROUPS: u64 = 10_000;

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Ok,
    /// Runs are possible, with less to do or more noise.
    Degraded,
    Missing,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoctorLine {
    pub subject: String,
    pub state: State,
    pub seen: String,
    /// What to do; absent when all is well.
    pub remedy: Option<String>,
}

impl DoctorLine {
    pub fn ok(subject: &str, seen: impl Display) -> Self {
        DoctorLine { subject: subject.to_owned(), state: State::Ok, seen: seen.to_string(), remedy: None }
    }

    pub fn degraded(subject: &str, seen: impl Display, remedy: impl Display) -> Self {
        DoctorLine {
            remedy: Some(remedy.to_string()),
            state: State::Degraded,
            ..DoctorLine::ok(subject, seen)
        }
    }

    pub fn missing(subject: &str, seen: impl Display, remedy: impl Display) -> Self {
        DoctorLine { state: State::Missing, ..DoctorLine::degraded(subject, seen, remedy) }
    }

    fn when(good: bool, subject: &str, seen: impl Display, remedy: &str) -> Self {
        if good { DoctorLine::ok(subject, seen) } else { DoctorLine::degraded(subject, seen, remedy) }
    }
}

/// All lines, in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoctorReport {
    pub schema: u32,
    pub lines: Vec<DoctorLine>,
}

impl DoctorReport {
    /// What facts and abilities say; a higher layer appends its tools.
    pub fn new(facts: &HostFacts, abilities: &Abilities) -> Self {
        let mut lines = kernel_lines(facts);
        lines.extend(cpu_lines(facts));
        lines.extend(memory_lines(facts));
        lines.extend(cgroup_lines(facts, abilities));
        lines.extend(ability_lines(abilities));
        lines.extend(reclaimer_lines(facts));
        lines.extend(limit_lines(facts));
        DoctorReport { schema: SCHEMA, lines }
    }

    pub fn push(&mut self, line: DoctorLine) {
        self.lines.push(line);
    }

    /// The worst state of all lines.
    pub fn worst(&self) -> State {
        self.lines.iter().map(|line| line.state).max().unwrap_or(State::Ok)
    }
}

fn or_unknown<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

fn kernel_lines(facts: &HostFacts) -> Vec<DoctorLine> {
    let kernel = &facts.kernel;
    let paging = &facts.paging;
    let flawed = kernel.mitigations.values().filter(|text| text.starts_with("Vulnerable")).count();
    let lru_gen = match paging.lru_gen_enabled {
        None => DoctorLine::degraded(
            "mglru",
            "not in this kernel",
            "for arms that switch it, boot or build a kernel with CONFIG_LRU_GEN=y",
        ),
        Some(mask) => DoctorLine::ok("mglru", format!("enabled mask {mask}")),
    };
    let clock = or_unknown(kernel.clocksource.as_ref());
    vec![
        DoctorLine::ok("kernel", or_unknown(kernel.release.as_ref())),
        DoctorLine::when(
            matches!(clock.as_str(), "tsc" | "kvm-clock" | "arch_sys_counter"),
            "clocksource",
            &clock,
            "a slow clock costs time in every request: boot with clocksource=tsc if the processor allows",
        ),
        DoctorLine::ok(
            "mitigations",
            format!("{} flaws listed, {flawed} unmitigated", kernel.mitigations.len()),
        ),
        DoctorLine::ok("thp", or_unknown(paging.transparent_hugepage.as_ref())),
        lru_gen,
    ]
}

fn cpu_lines(facts: &HostFacts) -> Vec<DoctorLine> {
    let cpu = &facts.cpu;
    let seen = format!(
        "{}, {} sockets, {} cores, {} CPUs online, {} allowed, {} NUMA nodes{}",
        or_unknown(cpu.model.as_ref()),
        or_unknown(cpu.sockets),
        or_unknown(cpu.cores),
        or_unknown(cpu.online),
        or_unknown(cpu.allowed),
        cpu.nodes.len(),
        if cpu.is_guest == Some(true) { ", a guest" } else { "" },
    );
    let governor = if cpu.governors.is_empty() {
        DoctorLine::degraded("governor", "not visible", "in a guest, set it on the host below")
    } else {
        DoctorLine::when(
            cpu.governors == ["performance"],
            "governor",
            cpu.governors.join(", "),
            "set governor = \"performance\" in the experiment; the tool restores it",
        )
    };
    let yes = |value: Option<bool>| match value {
        Some(true) => "on",
        Some(false) => "off",
        None => "not visible",
    };
    vec![
        DoctorLine::ok("processor", seen),
        DoctorLine::ok("smt", yes(cpu.smt_active)),
        governor,
        DoctorLine::ok("turbo", yes(cpu.turbo)),
    ]
}

fn memory_lines(facts: &HostFacts) -> Vec<DoctorLine> {
    let capacity = &facts.capacity;
    let enough = |value: Option<Bytes>, least| value.is_none_or(|value| value >= least);
    let swaps: Vec<String> = capacity
        .swaps
        .iter()
        .map(|swap| format!("{} ({} used, priority {})", swap.path.display(), swap.used, swap.priority))
        .collect();
    vec![
        DoctorLine::when(
            enough(capacity.memory_available, LEAST_MEMORY),
            "memory",
            format!(
                "{} available of {}",
                or_unknown(capacity.memory_available),
                or_unknown(capacity.memory_total)
            ),
            "free some, or run with a smaller --scale",
        ),
        DoctorLine::when(
            enough(capacity.disk_available, LEAST_DISK),
            "disk",
            format!("{} free for results", or_unknown(capacity.disk_available)),
            "free some, or point results at another disk",
        ),
        DoctorLine::when(
            swaps.is_empty(),
            "swap",
            if swaps.is_empty() { "none active".to_owned() } else { swaps.join(", ") },
            "ours gets a higher priority; `swapoff` yours for the cleanest run",
        ),
    ]
}

fn cgroup_lines(facts: &HostFacts, abilities: &Abilities) -> Vec<DoctorLine> {
    let cgroup = &facts.cgroup;
    let mut lines = vec![match (&cgroup.layout, &cgroup.memory_mount) {
        (Some(layout), Some(mount)) => {
            DoctorLine::ok("memory cgroup", format!("{layout}, controller in {}", mount.display()))
        }
        _ => DoctorLine::missing(
            "memory cgroup",
            or_unknown(cgroup.problem.as_ref()),
            "boot with `cgroup_enable=memory`, or run in a guest",
        ),
    }];
    if let Some(count) = cgroup.memory_cgroups.filter(|count| *count > MANY_CGROUPS) {
        lines.push(DoctorLine::degraded(
            "memory cgroups",
            format!("{count} exist, many of them dying"),
            "they slow reclaim: reboot, or find what leaks them",
        ));
    }
    lines.push(from_ability("memory limit", &abilities.memory_limit, State::Missing));
    lines.push(from_ability("swap accounting", &abilities.swap_accounting, State::Degraded));
    lines.push(from_ability("memory.reclaim", &abilities.memory_reclaim, State::Degraded));
    lines
}

/// `absent` is how bad it is when the ability is missing.
fn from_ability(subject: &str, ability: &Ability, absent: State) -> DoctorLine {
    match ability {
        Ability::Works => DoctorLine::ok(subject, "tried, works"),
        Ability::Missing { why, remedy } => {
            DoctorLine { state: absent, ..DoctorLine::degraded(subject, why, remedy) }
        }
        Ability::Unknown { why } => {
            DoctorLine::degraded(subject, format!("not tried: {why}"), "run `sudo run-bench doctor`")
        }
    }
}

fn ability_lines(abilities: &Abilities) -> Vec<DoctorLine> {
    let any_swap = abilities.brd.works() || abilities.loop_tmpfs.works() || abilities.zram.works();
    let swap = if any_swap { State::Degraded } else { State::Missing };
    vec![
        from_ability("brd", &abilities.brd, swap),
        from_ability("noswap tmpfs", &abilities.noswap_tmpfs, swap),
        from_ability("loop on noswap tmpfs", &abilities.loop_tmpfs, swap),
        from_ability("zram", &abilities.zram, swap),
        from_ability("io_uring", &abilities.io_uring, State::Degraded),
        from_ability("sctp", &abilities.sctp, State::Degraded),
        from_ability("kvm", &abilities.kvm, State::Degraded),
        from_ability("perf events", &abilities.perf_events, State::Degraded),
    ]
}

fn reclaimer_lines(facts: &HostFacts) -> Vec<DoctorLine> {
    let mut lines: Vec<DoctorLine> = facts
        .reclaimers
        .iter()
        .map(|reclaimer| match reclaimer.kind {
            ReclaimerKind::DamonMonitor => DoctorLine::ok("reclaimer", &reclaimer.seen),
            _ => DoctorLine::degraded("reclaimer", &reclaimer.seen, &reclaimer.remedy),
        })
        .collect();
    if !facts.reclaimers_complete {
        let remedy = "a stuck process blocks reads of /proc; find it with `ps` in state D";
        lines.push(DoctorLine::degraded("reclaimer", "not every process could be looked at", remedy));
    } else if lines.is_empty() {
        lines.push(DoctorLine::ok("reclaimer", "none but the kernel's own"));
    }
    lines
}

fn limit_lines(facts: &HostFacts) -> Vec<DoctorLine> {
    let limits = &facts.limits;
    let text = |value: Option<u64>| value.map_or_else(|| "unlimited".to_owned(), |value| value.to_string());
    vec![
        DoctorLine::when(
            limits.is_root,
            "privilege",
            if limits.is_root { "root" } else { "an ordinary user" },
            "swap, zram and mounts need root: `sudo run-bench …`",
        ),
        DoctorLine::when(
            limits.open_files.is_none_or(|count| count >= LEAST_OPEN_FILES),
            "open files",
            text(limits.open_files),
            "ulimit -n 65536",
        ),
        DoctorLine::ok("locked memory", text(limits.locked_memory)),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::fake::{FakeLayout, FakeTree};
    use super::*;

    fn report(layout: FakeLayout) -> DoctorReport {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let tree = FakeTree::create(folder.path(), layout).expect("a tree");
        tree.put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n").expect("put");
        let facts = HostFacts::gather(&tree.root(), Path::new("/"));
        DoctorReport::new(&facts, &Abilities::probe(&tree.root(), Path::new("/run/run-bench")))
    }

    fn line<'a>(report: &'a DoctorReport, subject: &str) -> &'a DoctorLine {
        report.lines.iter().find(|line| line.subject == subject).expect("the line")
    }

    #[test]
    fn a_line_that_is_not_ok_has_a_remedy() {
        let mut report = report(FakeLayout::Hybrid);
        for line in &report.lines {
            assert_eq!(line.state == State::Ok, line.remedy.is_none(), "{line:?}");
            assert!(!line.seen.is_empty(), "{line:?}");
        }
        assert_eq!(line(&report, "clocksource").state, State::Degraded);
        assert_eq!(line(&report, "swap").state, State::Degraded);
        assert_eq!(line(&report, "brd").state, State::Degraded, "another ramdisk works");
        assert_eq!(line(&report, "memory cgroup").seen, "hybrid, controller in /sys/fs/cgroup/memory");
        assert_eq!(report.worst(), State::Degraded);
        report.push(DoctorLine::missing("a tool", "not found", "install it"));
        assert_eq!(report.worst(), State::Missing);
        let text = serde_json::to_string(&report).expect("serialised");
        assert_eq!(serde_json::from_str::<DoctorReport>(&text).expect("read back"), report);
    }

    #[test]
    fn without_a_controller_the_host_is_not_ready() {
        let report = report(FakeLayout::None);
        assert_eq!(line(&report, "memory cgroup").state, State::Missing);
        assert_eq!(line(&report, "memory limit").state, State::Missing);
        assert!(line(&report, "memory limit").seen.contains("disabled at boot"), "{report:?}");
    }
}
