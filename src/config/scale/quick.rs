//! `--quick`: the same load for a shorter time.

use super::shrink::change;
use crate::config::experiment::Experiment;
use crate::units::Nanos;

/// Fewest blocks that can resolve anything.
const BLOCKS: u32 = 6;

/// Caps times and repetitions; memory stays.
pub(super) fn cap(experiment: &mut Experiment, changes: &mut Vec<String>) {
    let seconds = |most: u64| move |time: Nanos| time.min(Nanos::from_seconds(most));
    let times = |most: u32| move |n: u32| n.min(most);
    let w = &mut experiment.workload;
    if let Some(memcached) = &mut w.memcached {
        change("workload.memcached.load.repeat", &mut memcached.load.repeat, times(2), changes);
        if let Some(duration) = &mut memcached.load.duration {
            change("workload.memcached.load.duration", duration, seconds(10), changes);
        }
    }
    if let Some(fio) = &mut w.fio {
        change("workload.fio.ramp", &mut fio.ramp, seconds(2), changes);
        change("workload.fio.runtime", &mut fio.runtime, seconds(10), changes);
    }
    if let Some(netperf) = &mut w.netperf {
        change("workload.netperf.duration", &mut netperf.duration, seconds(5), changes);
    }
    if let Some(scale) = &mut w.will_it_scale {
        change("workload.will-it-scale.duration", &mut scale.duration, seconds(5), changes);
        change("workload.will-it-scale.warm-up", &mut scale.warm_up, seconds(1), changes);
    }
    if let Some(usemem) = &mut w.usemem {
        change("workload.usemem.passes", &mut usemem.passes, times(3), changes);
    }
    if let Some(probe) = &mut w.reclaim_probe {
        change("workload.reclaim-probe.repetitions", &mut probe.repetitions, times(7), changes);
    }
    if let Some(read) = &mut w.file_read {
        change("workload.file-read.duration", &mut read.duration, seconds(5), changes);
        change("workload.file-read.warm-up", &mut read.warm_up, seconds(1), changes);
    }
    change("schedule.blocks", &mut experiment.schedule.blocks, times(BLOCKS), changes);
}
