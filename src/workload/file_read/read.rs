//! One process of file_read.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::Advice;
use serde::Deserialize;
use serde::Serialize;

use crate::config::workload::AccessOrder;
use crate::workload::builtin::DriverFault;
use crate::workload::builtin::Task;
use crate::workload::builtin::Work;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadWork {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    pub(super) block: u64,
    pub(super) order: AccessOrder,
    pub(super) seed: u64,
}

impl Work for ReadWork {
    const NAME: &'static str = super::DRIVER;
    type Ready = File;

    fn prepare(&self, _: &Task) -> Result<File, DriverFault> {
        let file = File::open(&self.path).map_err(DriverFault::file("open", &self.path))?;
        if self.order == AccessOrder::Random {
            // As fio does: a random reader wants no read-ahead.
            rustix::fs::fadvise(&file, 0, None, Advice::Random)
                .map_err(DriverFault::call("advise on the file"))?;
        }
        Ok(file)
    }

    fn work(&self, file: File, task: &Task) -> Result<(), DriverFault> {
        let mut buffer = vec![0; self.block as usize];
        let blocks = self.size / self.block;
        let index = u64::from(task.index());
        let mut rng =
            Xoshiro256PlusPlus::seed_from_u64(self.seed ^ (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        // Sequential readers start apart, so that they do not read each other's pages.
        let mut next = blocks / u64::from(task.tasks()) * index;
        while !task.stopped() {
            let block = match self.order {
                AccessOrder::Random => rng.random_range(0..blocks),
                AccessOrder::Sequential => {
                    let block = next % blocks;
                    next += 1;
                    block
                }
            };
            file.read_exact_at(&mut buffer, block * self.block)
                .map_err(DriverFault::file("read", &self.path))?;
            task.add(1);
        }
        Ok(())
    }
}
