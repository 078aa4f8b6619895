//! What disturbed a trial from outside: throttling, foreign load, stolen time,
//! kills for want of memory elsewhere. Counters before and after; told, and
//! for the analysis to weigh: a trial is not thrown away for its neighbours.

use std::time::Duration;

use crate::host::SysRoot;
use crate::host::reader::Counters;
use crate::store::HostEvent;

/// Less foreign load than this share of all processors is every host's.
const FOREIGN_SHARE: f64 = 0.05;
const STEAL_SHARE: f64 = 0.02;
/// Ticks of the processors' clock, below which a share means nothing.
const FEWEST_TICKS: u64 = 20;
/// `USER_HZ`, in which `/proc` counts on all the architectures that this runs on.
const TICKS_PER_SECOND: f64 = 100.0;
const CPUS: &str = "/sys/devices/system/cpu";

/// The first line of `/proc/stat`, in ticks.
#[derive(Debug, Clone, Copy, Default)]
struct Ticks {
    busy: u64,
    steal: u64,
    total: u64,
}

/// The counters at the beginning of a trial.
#[derive(Debug)]
pub(crate) struct Disturbance {
    ticks: Option<Ticks>,
    own: Duration,
    throttled: u64,
    kills: Option<u64>,
}

impl Disturbance {
    pub(crate) fn begin(root: &SysRoot) -> Self {
        Disturbance { ticks: ticks(root), own: own_time(), throttled: throttled(root), kills: kills(root) }
    }

    /// What happened since.
    pub(crate) fn events(&self, root: &SysRoot) -> Vec<HostEvent> {
        let mut events = Vec::new();
        let mut tell = |kind: &str, detail: String| events.push(HostEvent { kind: kind.to_owned(), detail });
        let throttled = throttled(root).saturating_sub(self.throttled);
        if throttled > 0 {
            tell("throttled", format!("the processors were throttled {throttled} times; cool the host"));
        }
        if let (Some(before), Some(after)) = (self.ticks, ticks(root)) {
            let total = after.total.saturating_sub(before.total);
            let share = |part: u64| if total < FEWEST_TICKS { 0.0 } else { part as f64 / total as f64 };
            let own = own_time().saturating_sub(self.own).as_secs_f64() * TICKS_PER_SECOND;
            let busy = after.busy.saturating_sub(before.busy);
            let foreign = share(busy.saturating_sub(own.round() as u64));
            if foreign > FOREIGN_SHARE {
                let percent = foreign * 100.0;
                tell("foreign-cpu", format!("others took {percent:.0}% of the processors' time; stop them"));
            }
            let steal = share(after.steal.saturating_sub(before.steal));
            if steal > STEAL_SHARE {
                let percent = steal * 100.0;
                tell("steal", format!("the hypervisor took {percent:.0}% of the processors' time"));
            }
        }
        if let (Some(before), Some(after)) = (self.kills, kills(root))
            && after > before
        {
            let killed = after - before;
            tell("oom-kill-on-host", format!("the kernel killed {killed} process(es) for want of memory"));
        }
        events
    }
}

/// Processor time of this process and of its ended children.
fn own_time() -> Duration {
    let clock = |id| {
        let time = rustix::time::clock_gettime(id);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    };
    clock(rustix::time::ClockId::ProcessCPUTime) + children_time()
}

/// `cutime` and `cstime` of this process.
fn children_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<u64> =
        after_name.split_whitespace().skip(13).take(2).filter_map(|f| f.parse().ok()).collect();
    Duration::from_secs_f64(fields.iter().sum::<u64>() as f64 / TICKS_PER_SECOND)
}

fn ticks(root: &SysRoot) -> Option<Ticks> {
    let text = root.read("/proc/stat").ok()?;
    let line = text.lines().find(|line| line.starts_with("cpu "))?;
    let fields: Vec<u64> = line.split_whitespace().skip(1).take(8).filter_map(|f| f.parse().ok()).collect();
    let [user, nice, system, idle, waiting, interrupts, soft, steal] = fields[..].try_into().ok()?;
    let busy = user + nice + system + interrupts + soft;
    Some(Ticks { busy, steal, total: busy + idle + waiting + steal })
}

/// Package and core counts of all processors; they only ever rise.
fn throttled(root: &SysRoot) -> u64 {
    let count = |cpu: &String, file: &str| -> u64 {
        let value = root.value(format!("{CPUS}/{cpu}/thermal_throttle/{file}"));
        value.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    let cpus = root.folder_names(CPUS);
    cpus.iter().map(|cpu| count(cpu, "package_throttle_count") + count(cpu, "core_throttle_count")).sum()
}

/// Kills for want of memory on the whole host.
fn kills(root: &SysRoot) -> Option<u64> {
    Counters::read(root, "/proc/vmstat").ok()?.get("oom_kill")
}
