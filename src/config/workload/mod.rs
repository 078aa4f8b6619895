//! `[workload.*]`: the load tools and their options, one file each.

mod command;
mod file_read;
mod fio;
mod memcached;
mod netperf;
mod reclaim_probe;
mod section;
mod usemem;
mod will_it_scale;

pub use command::{CommandMetric, CommandWorkload, Source};
pub use file_read::FileReadWorkload;
pub use fio::{FioWorkload, TouchDistribution};
pub use memcached::{Driver, KeyPattern, LoadSection, MemcachedWorkload, Protocol, Socket, ValueBytes};
pub use netperf::{NetperfTest, NetperfWorkload};
pub use reclaim_probe::{ListOrder, Population, ReclaimProbeWorkload};
pub use section::{Workload, WorkloadSection};
pub use usemem::{AccessOrder, UsememWorkload};
pub use will_it_scale::{ScaleCase, ScaleMode, TaskCount, WillItScaleWorkload};
