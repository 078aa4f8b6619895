//! The machine under the benchmarks: caches, allowed processors, stolen time.

use rustix::thread::CpuSet as AffinityMask;

use super::profile::MachineShape;
use crate::host::SysRoot;
use crate::host::facts::HostFacts;

const DEFAULT_L2_KIB: f64 = 1024.0;
const DEFAULT_LLC_KIB: f64 = 32.0 * 1024.0;

/// Sizes that decide the working sets, and where threads may run.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineUnderTest {
    pub l2: usize,
    pub llc: usize,
    /// Processors this process may use, ascending.
    pub allowed: Vec<usize>,
}

impl MachineUnderTest {
    pub fn here(root: &SysRoot) -> Self {
        let (l2, llc, _) = caches(root);
        let kib = |k: f64| (k * 1024.0) as usize;
        MachineUnderTest { l2: kib(l2), llc: kib(llc), allowed: allowed_processors() }
    }

    /// Puts this thread on one processor; refused only by a mask that changed meanwhile.
    pub fn pin(&self, place: usize) -> bool {
        let mut mask = AffinityMask::new();
        match self.allowed.get(place) {
            Some(cpu) => {
                mask.set(*cpu);
                rustix::thread::sched_setaffinity(None, &mask).is_ok()
            }
            None => false,
        }
    }

    /// Lets this thread run everywhere again.
    pub fn unpin(&self) {
        let mut mask = AffinityMask::new();
        self.allowed.iter().for_each(|cpu| mask.set(*cpu));
        // The mask was read from this process; a failure leaves the thread pinned.
        let _ = rustix::thread::sched_setaffinity(None, &mask);
    }
}

fn allowed_processors() -> Vec<usize> {
    let found = rustix::thread::sched_getaffinity(None);
    found
        .map_or_else(|_| vec![0], |mask| (0..AffinityMask::MAX_CPU).filter(|cpu| mask.is_set(*cpu)).collect())
}

/// L2 and last-level cache in KiB, and how many processors share the latter.
fn caches(root: &SysRoot) -> (f64, f64, u32) {
    let folder = "/sys/devices/system/cpu/cpu0/cache";
    let mut l2 = None;
    let mut last: Option<(u32, f64, u32)> = None;
    for index in root.names(folder).into_iter().filter(|name| name.starts_with("index")) {
        let value = |file: &str| root.value(format!("{folder}/{index}/{file}"));
        let data = value("type").is_some_and(|kind| kind == "Data" || kind == "Unified");
        let level = value("level").and_then(|level| level.parse::<u32>().ok());
        let size = value("size").and_then(|size| kibibytes(&size));
        let (true, Some(level), Some(size)) = (data, level, size) else { continue };
        let sharing = value("shared_cpu_list").map_or(1, |list| count(&list));
        if level == 2 {
            l2 = Some(size);
        }
        if last.is_none_or(|(known, ..)| level > known) {
            last = Some((level, size, sharing));
        }
    }
    let (_, llc, sharing) = last.unwrap_or((3, DEFAULT_LLC_KIB, 1));
    (l2.unwrap_or(DEFAULT_L2_KIB), llc, sharing)
}

/// `32768K` or `32M`.
fn kibibytes(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_at(text.trim().len().checked_sub(1)?);
    let factor = match unit {
        "K" => 1.0,
        "M" => 1024.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

fn count(list: &str) -> u32 {
    let part = |part: &str| match part.split_once('-') {
        Some((first, last)) => {
            last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?).map(|more| more.saturating_add(1))
        }
        None => part.parse::<u32>().ok().map(|_| 1),
    };
    list.trim().split(',').filter_map(part).fold(0, u32::saturating_add).max(1)
}

/// The shape that goes into the profile.
pub fn shape(root: &SysRoot, facts: &HostFacts) -> MachineShape {
    let (l2, llc, sharing) = caches(root);
    let number = |value: Option<u64>| value.and_then(|v| u32::try_from(v).ok()).unwrap_or(1).max(1);
    let nodes = u32::try_from(facts.cpu.nodes.len()).unwrap_or(1).max(1);
    let memory = facts.capacity.memory_total.map_or(0.0, |bytes| bytes.0 as f64 / f64::from(1 << 30));
    MachineShape {
        name: facts.cpu.model.clone().unwrap_or_else(|| "unknown processor".to_owned()),
        cpus: number(facts.cpu.online),
        sockets: number(facts.cpu.sockets),
        nodes,
        llc_mib: llc / 1024.0,
        llc_cpus: sharing,
        l2_kib: l2,
        node_memory_gib: (memory / f64::from(nodes) * 10.0).round() / 10.0,
    }
}

/// Jiffies of all processors: those stolen by a hypervisor, those in use, and all.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProcessorTime {
    stolen: f64,
    busy: f64,
    total: f64,
}

impl ProcessorTime {
    pub fn now(root: &SysRoot) -> Self {
        root.read("/proc/stat").map(|text| ProcessorTime::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        let fields: Vec<f64> = line.split_whitespace().filter_map(|f| f.parse().ok()).collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or(0.0);
        // user, nice, system, idle, iowait, irq, softirq, steal.
        let total: f64 = fields.iter().take(8).sum();
        ProcessorTime { stolen: field(7), busy: total - field(3) - field(4), total }
    }

    /// Shares of stolen and of busy time since `earlier`.
    pub fn shares_since(&self, earlier: &ProcessorTime) -> (f64, f64) {
        let total = (self.total - earlier.total).max(1.0);
        ((self.stolen - earlier.stolen) / total, (self.busy - earlier.busy) / total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_lists_are_read() {
        assert_eq!(kibibytes("32768K"), Some(32768.0));
        assert_eq!(kibibytes("2M\n"), Some(2048.0));
        assert_eq!(kibibytes(""), None);
        assert_eq!((count("0-3,8"), count("7"), count("")), (5, 1, 1));
    }

    #[test]
    fn stolen_time_is_a_share() {
        let before = ProcessorTime::parse("cpu  10 0 10 80 0 0 0 0 0 0\n");
        let after = ProcessorTime::parse("cpu  40 0 20 120 0 0 0 20 0 0\ncpu0 1 1\n");
        assert_eq!(after.shares_since(&before), (0.2, 0.6));
        assert_eq!(ProcessorTime::parse("nothing"), ProcessorTime::default());
    }
}
