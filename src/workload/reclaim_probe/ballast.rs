//! Memory outside the cgroup that decides which page frames the population gets.
//!
//! Pages stand on an LRU list in the order in which they were added; frames come
//! from the free lists. To make list order differ from memory order, twice as many
//! frames as needed are taken in order, and every second one is given back in random
//! order: its neighbours stay taken, so no two of them can merge into a larger block,
//! and they are handed out again as they were given back. For memory order the same
//! memory is taken and kept, so that it eats the small blocks that lie around.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::config::workload::ListOrder;
use crate::host::syscall::Advice;
use crate::host::syscall::Backing;
use crate::host::syscall::Mapping;
use crate::units::PAGE_SIZE;
use crate::units::Pages;
use crate::workload::builtin::DriverFault;

const PAGE: usize = PAGE_SIZE as usize;

/// Takes the frames; the population must be built while this is kept.
pub(super) fn take(pages: Pages, order: ListOrder, seed: u64) -> Result<Mapping, DriverFault> {
    let taken = match order {
        ListOrder::Memory => pages,
        ListOrder::Shuffled => Pages(2 * pages.0),
    };
    let memory =
        Mapping::new(taken.to_bytes(), Backing::Anonymous).map_err(DriverFault::call("map the ballast"))?;
    memory
        .advise(0, memory.length(), Advice::NoHugePage)
        .map_err(DriverFault::call("keep the ballast in small pages"))?;
    for offset in (0..memory.length()).step_by(PAGE) {
        memory.store(offset, 1);
    }
    if order == ListOrder::Shuffled {
        let mut odd: Vec<usize> = (0..pages.0 as usize).map(|i| (2 * i + 1) * PAGE).collect();
        odd.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        for offset in odd {
            memory.advise(offset, PAGE, Advice::DontNeed).map_err(DriverFault::call("give a frame back"))?;
        }
    }
    Ok(memory)
}
