//! One process of usemem.

use std::time::Instant;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;
use serde::Serialize;

use crate::config::workload::AccessOrder;
use crate::host::syscall::Backing;
use crate::host::syscall::Mapping;
use crate::units::Nanos;
use crate::units::PAGE_SIZE;
use crate::units::Pages;
use crate::workload::builtin::DriverFault;
use crate::workload::builtin::Task;
use crate::workload::builtin::Work;

/// Result words.
pub(super) const TOUCH_NANOS: usize = 0;
pub(super) const FREE_NANOS: usize = 1;
const LINE: usize = 64;
const PAGE: usize = PAGE_SIZE as usize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TouchWork {
    pub(super) pages: u64,
    pub(super) order: AccessOrder,
    pub(super) passes: u32,
    pub(super) seed: u64,
}

/// The memory, and the order of its pages where it is not their own.
#[derive(Debug)]
pub(super) struct Ready {
    memory: Mapping,
    shuffled: Option<Vec<u32>>,
}

impl Work for TouchWork {
    const NAME: &'static str = super::DRIVER;
    type Ready = Ready;

    fn prepare(&self, task: &Task) -> Result<Ready, DriverFault> {
        let memory = Mapping::new(Pages(self.pages).to_bytes(), Backing::Anonymous)
            .map_err(DriverFault::call("map the memory to touch"))?;
        let shuffled = match self.order {
            AccessOrder::Sequential => None,
            AccessOrder::Random => {
                let pages = u32::try_from(self.pages)
                    .map_err(|_| DriverFault::Refused("random order takes at most 16TiB".to_owned()))?;
                let mut order: Vec<u32> = (0..pages).collect();
                let seed = self.seed ^ u64::from(task.index()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
                Some(order)
            }
        };
        Ok(Ready { memory, shuffled })
    }

    fn work(&self, ready: Ready, task: &Task) -> Result<(), DriverFault> {
        let begin = Instant::now();
        let mut value = self.seed | 1;
        for _ in 0..self.passes {
            for step in 0..self.pages {
                let page = ready.shuffled.as_ref().map_or(step, |order| order[step as usize].into());
                let offset = page as usize * PAGE;
                for line in (0..PAGE).step_by(LINE) {
                    value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    ready.memory.store(offset + line, value);
                }
                task.add(1);
            }
        }
        task.set_result(TOUCH_NANOS, Nanos::from(begin.elapsed()).0);
        let begin = Instant::now();
        drop(ready.memory);
        task.set_result(FREE_NANOS, Nanos::from(begin.elapsed()).0);
        Ok(())
    }
}
